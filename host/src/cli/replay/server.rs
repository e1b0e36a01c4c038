//! The server that a scenario talks to: a child process, as a gateway would have it.

use std::ffi::OsString;
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Context, bail};
use serde_json::Value;

/// How the server is started, each time.
pub struct Recipe {
    /// The options, but for the clock.
    pub options: Vec<OsString>,
    /// Where its clock starts, in ms; moves with it.
    pub clock: u64,
    /// The folder of the other tool, inside which transcripts may be read.
    pub tool: PathBuf,
}

/// A running server.
pub struct Server {
    child: Child,
    /// Absent once its input was closed.
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    marks: u64,
}

impl Server {
    /// Starts one, and returns it with what it said before anybody asked.
    pub fn start(recipe: &Recipe) -> anyhow::Result<(Self, Vec<String>)> {
        let program = std::env::current_exe().context("the program headsup cannot be found")?;
        let mut child = Command::new(program)
            .args(["serve", "--stdio"])
            .arg(format!("--manual-clock={}", recipe.clock))
            .args(&recipe.options)
            .env("CLAUDE_CONFIG_DIR", &recipe.tool)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("the server cannot be started")?;
        let (input, output) = (child.stdin.take(), child.stdout.take());
        let output = BufReader::new(output.context("the server has no output")?);
        let mut server = Self { child, input, output, marks: 0 };
        let before = server.until_quiet()?;
        Ok((server, before))
    }

    /// Sends a line, and returns everything that comes back because of it.
    pub fn send(&mut self, line: &str) -> anyhow::Result<Vec<String>> {
        self.write(line)?;
        self.until_quiet()
    }

    /// Kills it, as a loss of power to the process would.
    pub fn kill(&mut self) -> anyhow::Result<()> {
        self.child.kill().context("the server cannot be killed")?;
        self.child.wait().context("the server does not end")?;
        Ok(())
    }

    /// Ends its input, and returns what it still said.
    pub fn end(mut self) -> anyhow::Result<Vec<String>> {
        self.input = None;
        let mut rest = Vec::new();
        while let Some(line) = self.read()? {
            rest.push(line);
        }
        let status = self.child.wait().context("the server does not end")?;
        if !status.success() {
            bail!("the server ended with {status}");
        }
        Ok(rest)
    }

    /// Everything that comes before the answer to a request of our own. A line may bring any
    /// number of lines back, also none: only the answer to what is asked after it tells.
    fn until_quiet(&mut self) -> anyhow::Result<Vec<String>> {
        self.marks += 1;
        let mark = format!("headsup replay, mark {}", self.marks);
        self.write(&format!(
            r#"{{"jsonrpc":"2.0","id":"{mark}","method":"versions","params":{{"sessions":[]}}}}"#
        ))?;
        let mut lines = Vec::new();
        while let Some(line) = self.read()? {
            let value: Value = serde_json::from_str(&line).context("the server said no JSON")?;
            if value.get("id").and_then(Value::as_str) == Some(&mark) {
                return Ok(lines);
            }
            lines.push(line);
        }
        let status = self.child.wait().context("the server does not end")?;
        bail!("the server ended before its input did, with {status}; what it logged says why");
    }

    fn write(&mut self, line: &str) -> anyhow::Result<()> {
        let Some(input) = &mut self.input else { return Ok(()) };
        let written = input.write_all(format!("{line}\n").as_bytes());
        match written {
            // It has ended: reading finds out, and says with which status.
            Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
            written => written.context("the server does not read"),
        }
    }

    fn read(&mut self) -> anyhow::Result<Option<String>> {
        let mut line = String::new();
        let read = self.output.read_line(&mut line).context("the server cannot be read")?;
        line.truncate(line.trim_end_matches('\n').len());
        Ok((read > 0).then_some(line))
    }
}

impl Drop for Server {
    /// Whatever happened: no server outlives its story.
    fn drop(&mut self) {
        // It may have ended long ago.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
