//! Which bytes of an open file are read.

use std::fs::File;
use std::io;

use super::system;

/// Most bytes of one read: 64 MiB, and some before them to recognise the place by.
const MOST: u32 = (64 << 20) + 4_096;

/// What is read of either end of a file, in bytes.
const END: u32 = 1 << 20;

/// Bytes before the end in which a line feed is looked for.
pub(super) const FURTHEST: u64 = 64 << 20;

/// Bytes looked at in one step.
const STEP: u32 = 64 << 10;

/// What to read of a file.
#[derive(Clone, Copy, Debug)]
pub(super) enum Extent {
    /// From this byte on, so many at most.
    On { start: u64, at_most: u32 },
    /// Its beginning, and its end from where a line feed is in it.
    Ends,
}

/// What was read.
pub(super) struct Window {
    pub(super) head: Vec<u8>,
    /// Where `bytes` begin.
    pub(super) start: u64,
    pub(super) bytes: Vec<u8>,
}

impl Window {
    /// Reads a file that has this size; what has been added since is left to the next time.
    pub(super) fn read(file: &File, extent: Extent, size: u64) -> io::Result<Self> {
        match extent {
            Extent::On { start, at_most } => {
                Ok(Self { head: Vec::new(), start, bytes: read(file, start, at_most, size)? })
            }
            Extent::Ends => {
                let start = before_end(file, u64::from(END), size)?;
                let (head, bytes) = (read(file, 0, END, size)?, read(file, start, MOST, size)?);
                Ok(Self { head, start, bytes })
            }
        }
    }
}

/// So many bytes before the end, or twice as far and so on until a line feed follows.
pub(super) fn before_end(file: &File, bytes: u64, size: u64) -> io::Result<u64> {
    let mut back = bytes;
    let mut looked_at = size;
    loop {
        let start = size.saturating_sub(back);
        if start == 0 || back >= FURTHEST || has_line_feed(file, start, looked_at)? {
            return Ok(start);
        }
        looked_at = start;
        back = (back * 2).min(FURTHEST);
    }
}

fn has_line_feed(file: &File, mut start: u64, end: u64) -> io::Result<bool> {
    while start < end {
        if read(file, start, STEP, end)?.contains(&b'\n') {
            return Ok(true);
        }
        start += u64::from(STEP);
    }
    Ok(false)
}

/// So many bytes from there, up to this end; fewer if the file has become shorter.
pub(super) fn read(file: &File, start: u64, at_most: u32, end: u64) -> io::Result<Vec<u8>> {
    let asked = u64::from(at_most.min(MOST)).min(end.saturating_sub(start));
    let mut bytes = vec![0; usize::try_from(asked).unwrap_or(usize::MAX)];
    let mut filled = 0;
    while let Some(rest) = bytes.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        match system::read_at(file, rest, start + filled as u64) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    bytes.truncate(filled);
    Ok(bytes)
}
