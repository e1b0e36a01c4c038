//! A server as a process of its own, with the two ends of it apart: one thread talks to it, another
//! kills it.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use harness::command::request;
use serde_json::Value;

/// The process.
pub struct Server {
    child: Child,
    stderr: PathBuf,
}

/// The pipes to it.
pub struct Line {
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    sent: u64,
}

impl Server {
    /// Starts a command; what it logs goes to a file in the folder.
    pub fn start(command: &mut Command, folder: &Path) -> (Self, Line) {
        let stderr = tempfile::NamedTempFile::new_in(folder).unwrap().into_temp_path();
        let stderr = stderr.keep().unwrap();
        let log = File::create(&stderr).unwrap();
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(log);
        let mut child = command.spawn().unwrap();
        let stdin = child.stdin.take().unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        (Self { child, stderr }, Line { stdin, stdout, sent: 0 })
    }

    /// Kills it, as nothing can prepare for, and waits until it is gone.
    pub fn kill(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        self.child.wait().unwrap();
    }

    /// Waits for the end of a server whose input was closed; it ends well.
    pub fn ends(mut self) {
        let status = self.child.wait().unwrap();
        assert!(status.success(), "{status}: {}", std::fs::read_to_string(&self.stderr).unwrap());
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
        let log = std::fs::read_to_string(&self.stderr).unwrap();
        if !std::thread::panicking() {
            assert!(!log.contains("panicked"), "{log}");
        }
    }
}

impl Line {
    /// Sends a request. False if nobody is there to read it any more.
    pub fn send(&mut self, method: &str, params: &Value) -> bool {
        self.sent += 1;
        let line = format!("{}\n", request(self.sent, method, params));
        self.stdin.write_all(line.as_bytes()).is_ok()
    }

    /// The next response; `None` if the server died before the whole of it had arrived.
    pub fn response(&mut self) -> Option<Value> {
        loop {
            let mut line = Vec::new();
            let read = self.stdout.read_until(b'\n', &mut line).ok()?;
            if read == 0 || line.pop() != Some(b'\n') {
                return None;
            }
            let message: Value = serde_json::from_slice(&line).expect("each whole line is JSON");
            if message.get("id").is_some() {
                return Some(message);
            }
        }
    }

    /// A request and the result of it; `None` if the server died meanwhile.
    pub fn call(&mut self, method: &str, params: &Value) -> Option<Value> {
        if !self.send(method, params) {
            return None;
        }
        let response = self.response()?;
        Some(response.get("result").unwrap_or_else(|| panic!("{method}: {response}")).clone())
    }
}
