//! JSON-RPC over lines: framing, batches and order. What a request means is the component's
//! business; here it is only found out where one ends.
//!
//! - A line ends with `\n`, before which a `\r` is dropped; blank lines are skipped; what stands
//!   before the end of the input without a `\n` is a line too.
//! - A line that is longer than [`Awareness::request_limit`] is read to its end, never kept, and
//!   answered once.
//! - A line that starts with `[` is a batch: each element is a call and a transaction of its own,
//!   and the responses come as one array on one line, in order. Notifications that the calls cause
//!   are lines of their own before it.
//! - Each response or notification is one line, written whole and flushed, whichever thread it
//!   comes from.

mod calls;
mod lines;
mod notification;

use std::io::{self, BufRead, ErrorKind, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

pub use self::calls::{Calls, Observer};
use self::lines::{Line, Lines};
pub use self::notification::Notification;
use crate::awareness::Awareness;
use crate::contract::{Level, Notice};
use crate::queue::Listener;

/// Most requests in a batch, unless a server is told otherwise.
pub const BATCH_LIMIT: usize = 1_000;

/// Where lines go: responses, and what a [`Listener`] hears as JSON-RPC notifications.
///
/// Give it to [`Builder::listener`](crate::Builder::listener), so that what a call causes is
/// written before its response.
#[derive(Debug)]
pub struct Output<W> {
    state: Mutex<State<W>>,
}

#[derive(Debug)]
struct State<W> {
    writer: W,
    /// Why nothing more can be written.
    failed: Option<io::Error>,
}

impl<W: Write + Send> Output<W> {
    /// Writes to this.
    pub fn new(writer: W) -> Self {
        let state = State { writer, failed: None };
        Self { state: Mutex::new(state) }
    }

    /// Writes one line and flushes it. After the first failure nothing more is written; a server
    /// ends then.
    pub fn line(&self, line: &str) {
        let mut state = self.lock();
        if state.failed.is_some() {
            return;
        }
        let mut bytes = Vec::with_capacity(line.len() + 1);
        bytes.extend_from_slice(line.as_bytes());
        bytes.push(b'\n');
        let written = state.writer.write_all(&bytes).and_then(|()| state.writer.flush());
        state.failed = written.err();
    }

    /// Whether lines still arrive: false once the reader has gone.
    ///
    /// # Errors
    /// Any failure to write but that one.
    pub fn is_open(&self) -> io::Result<bool> {
        match &self.lock().failed {
            None => Ok(true),
            Some(error) if error.kind() == ErrorKind::BrokenPipe => Ok(false),
            Some(error) => Err(io::Error::new(error.kind(), error.to_string())),
        }
    }

    /// Uses what is written to: a buffer can be emptied.
    pub fn with_writer<T>(&self, act: impl FnOnce(&mut W) -> T) -> T {
        act(&mut self.lock().writer)
    }

    fn notify(&self, notification: &Notification<'_>) {
        self.line(&notification.line());
    }

    fn lock(&self) -> MutexGuard<'_, State<W>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<W: Write + Send> Listener for Arc<Output<W>> {
    fn notice(&self, watcher: &str, notice: &Notice) {
        self.notify(&Notification::notice(watcher, notice));
    }

    fn wake(&self, watcher: &str) {
        self.notify(&Notification::wake(watcher));
    }

    /// Everything goes to the log; what was lost or needs an operator also to the other side.
    fn log(&self, level: Level, message: &str) {
        crate::queue::TracingListener.log(level, message);
        if let Some(notification) = Notification::log(level, message) {
            self.notify(&notification);
        }
    }
}

/// Answers lines.
///
/// ```
/// use std::sync::Arc;
///
/// use headsup::Awareness;
/// use headsup::rpc::{BATCH_LIMIT, Output, Server};
///
/// let output = Arc::new(Output::new(Vec::new()));
/// let awareness = Awareness::builder(":memory:").listener(Arc::clone(&output)).open()?;
/// let server = Server::new(awareness, Arc::clone(&output), BATCH_LIMIT);
///
/// server.serve(&br#"{"jsonrpc":"2.0","id":1,"method":"pending"}"#[..])?;
/// let lines = output.with_writer(std::mem::take);
/// assert_eq!(lines, b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"watchers\":[]}}\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Server<W> {
    calls: Calls,
    output: Arc<Output<W>>,
}

impl<W: Write + Send> Server<W> {
    /// A server that writes its responses where the notifications of this store go, and accepts so
    /// many requests in a batch.
    pub fn new(awareness: Awareness, output: Arc<Output<W>>, batch_limit: usize) -> Self {
        Self::answering(Calls::new(awareness, batch_limit), output)
    }

    /// The same, with answers that are given elsewhere too.
    pub fn answering(calls: Calls, output: Arc<Output<W>>) -> Self {
        Self { calls, output }
    }

    /// Answers line by line until the input ends or nobody reads the answers any more. Nothing
    /// else ends it.
    ///
    /// # Errors
    /// The input cannot be read, or the output not written for another reason than a reader that
    /// has gone.
    pub fn serve(&self, input: impl BufRead) -> io::Result<()> {
        let mut lines = Lines::new(input, self.calls.awareness().request_limit());
        while self.output.is_open()? {
            match lines.next_line()? {
                Some(Line::Whole(line)) => self.answer(line),
                Some(Line::TooLong) => self.respond(self.calls.too_long()),
                None => break,
            }
        }
        Ok(())
    }

    /// Answers one line, without its end; a blank one is none.
    pub fn answer(&self, line: &[u8]) {
        self.respond(self.calls.answer(line));
        // Only once the response is out: nobody waits for pruning.
        self.calls.awareness().tidy();
    }

    fn respond(&self, response: Option<String>) {
        if let Some(response) = response {
            self.output.line(&response);
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn lines_of_several_threads_are_written_whole() {
        let output = Output::new(Vec::new());
        let long = "x".repeat(10_000);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..50).for_each(|_| output.line(&long)));
            }
        });
        let written = output.with_writer(std::mem::take);
        let lines = String::from_utf8(written).unwrap();
        assert!(lines.lines().all(|line| line == long));
        assert_eq!(lines.lines().count(), 200);
    }

    /// Fails with this at every write.
    struct Failing(ErrorKind);

    impl Write for Failing {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(self.0.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_reader_that_has_gone_is_no_failure_and_a_full_disk_is_one() {
        let gone = Output::new(Failing(ErrorKind::BrokenPipe));
        assert!(gone.is_open().unwrap());
        gone.line("x");
        assert!(!gone.is_open().unwrap());
        let full = Output::new(Failing(ErrorKind::StorageFull));
        full.line("x");
        assert_eq!(full.is_open().unwrap_err().kind(), ErrorKind::StorageFull);
    }

    #[test]
    fn a_notice_is_a_notification_with_the_fields_of_the_surface() {
        let output = Arc::new(Output::new(Vec::new()));
        let notice = Notice {
            target: crate::contract::Session { key: "global".into(), agent: "main".into() },
            since: 3,
            up_to: 7,
            text: "one \"line\"".into(),
        };
        output.notice("agent:main:main", &notice);
        output.wake("agent:main:main");
        output.log(Level::Debug, "not for the other side");
        output.log(Level::Error, "lost");
        let written = String::from_utf8(output.with_writer(std::mem::take)).unwrap();
        let lines: Vec<serde_json::Value> =
            written.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(
            lines,
            [
                json!({"jsonrpc": "2.0", "method": "notice", "params": {
                    "watcher": "agent:main:main", "target": "global", "agent": "main",
                    "since": 3, "upTo": 7, "text": "one \"line\"",
                }}),
                json!({"jsonrpc": "2.0", "method": "wake", "params": {"watcher": "agent:main:main"}}),
                json!({"jsonrpc": "2.0", "method": "log", "params": {"level": "error", "message": "lost"}}),
            ]
        );
    }
}
