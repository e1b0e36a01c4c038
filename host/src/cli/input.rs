//! Standard input that can be ended from within: nobody can make a read of it return.

use std::io::{self, BufRead, Read};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

/// Bytes read at once.
const PIECE: usize = 64 << 10;

/// The input, as far as a thread has read it. It ends where standard input does, cannot be read
/// any further, or was ended.
pub struct Input {
    pieces: Receiver<Vec<u8>>,
    piece: Vec<u8>,
    /// How much of the piece was used.
    used: usize,
    /// Nothing comes any more.
    ended: bool,
}

/// Ends an [`Input`].
pub struct InputEnd(SyncSender<Vec<u8>>);

impl Input {
    /// Starts to read standard input.
    ///
    /// # Errors
    /// The system gave no thread.
    pub fn of_process() -> io::Result<(Self, InputEnd)> {
        let (sender, pieces) = sync_channel(1);
        let end = InputEnd(sender.clone());
        thread::Builder::new().name("headsup-input".into()).spawn(move || {
            let mut stdin = io::stdin().lock();
            let mut buffer = vec![0; PIECE];
            loop {
                let read = match stdin.read(&mut buffer) {
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                    Err(error) => {
                        tracing::error!("standard input cannot be read: {error}");
                        0
                    }
                    Ok(read) => read,
                };
                if sender.send(buffer[..read].to_vec()).is_err() || read == 0 {
                    return;
                }
            }
        })?;
        Ok((Self { pieces, piece: Vec::new(), used: 0, ended: false }, end))
    }
}

impl InputEnd {
    /// Ends the input behind the line that is being answered. One that ended already stays so.
    pub fn end(&self) {
        let _ = self.0.send(Vec::new());
    }
}

impl Read for Input {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let available = self.fill_buf()?;
        let count = available.len().min(buffer.len());
        buffer[..count].copy_from_slice(&available[..count]);
        self.consume(count);
        Ok(count)
    }
}

impl BufRead for Input {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.used == self.piece.len() && !self.ended {
            // A piece that is empty is the end, and so is a reader that is gone.
            self.piece = self.pieces.recv().unwrap_or_default();
            self.used = 0;
            self.ended = self.piece.is_empty();
        }
        Ok(&self.piece[self.used..])
    }

    fn consume(&mut self, count: usize) {
        self.used += count;
    }
}
