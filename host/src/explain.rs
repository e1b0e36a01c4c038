//! What each line of a transcript is taken for: a whole file, part by part, without a store.

use std::collections::VecDeque;
use std::io::{self, ErrorKind, Read};
use std::time::Duration;

use crate::awareness::Awareness;
use crate::contract::{ExplainedRow, Explanation};
use crate::error::Error;
use crate::plugin::Plugin;

/// Bytes of a part, unless a line is longer.
const PART: usize = 1 << 20;

/// The longest line that is classified, in bytes with its line feed; as in a check.
const LONGEST_LINE: usize = 64 << 20;

/// How long the core may take for a part.
const DEADLINE: Duration = Duration::from_secs(30);

/// What one line of a transcript was taken for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExplainedLine {
    /// Its number in the file, from 1. Blank lines count and are not explained.
    pub line: u64,
    /// What it was taken for; `start` is counted from the beginning of the file.
    pub row: ExplainedRow,
}

/// Why a transcript could not be explained to its end.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExplainError {
    /// It could not be read.
    #[error(transparent)]
    Read(#[from] io::Error),
    /// The core refused the kind of source, or failed.
    #[error(transparent)]
    Core(#[from] Error),
}

/// The lines of a transcript, one after the other; ends with the first error.
#[must_use = "an iterator reads nothing until it is used"]
pub struct Explained<R> {
    plugin: Plugin,
    kind: String,
    input: R,
    /// What was read and not yet explained; begins at a line's start.
    part: Vec<u8>,
    /// Where it begins in the file, in bytes, and the number of its first line.
    offset: u64,
    line: u64,
    /// How long it is made before the core is asked, and the most it ever is.
    window: usize,
    longest: usize,
    /// The core's words, for the next part.
    state: String,
    rows: VecDeque<ExplainedLine>,
    ended: bool,
}

impl Awareness {
    /// What each line of a transcript of this kind of source is taken for, and why: whether a check
    /// would count it as a turn that a person took. That a text was the gateway's own is not known
    /// here.
    ///
    /// ```
    /// # let awareness = headsup::Awareness::builder(":memory:").open()?;
    /// let transcript = br#"{"type":"user","message":{"role":"user","content":"hello"}}"#;
    /// let lines: Vec<_> = awareness.explain("claude-jsonl", &transcript[..]).collect::<Result<_, _>>()?;
    /// assert_eq!((lines[0].line, lines[0].row.human), (1, true));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn explain<R: Read>(&self, kind: impl Into<String>, input: R) -> Explained<R> {
        self.inner.plugin().explain(kind, input)
    }
}

impl Plugin {
    /// The same, by this core.
    pub fn explain<R: Read>(&self, kind: impl Into<String>, input: R) -> Explained<R> {
        Explained {
            plugin: self.clone(),
            kind: kind.into(),
            input,
            part: Vec::new(),
            offset: 0,
            line: 1,
            window: PART,
            longest: LONGEST_LINE,
            state: String::new(),
            rows: VecDeque::new(),
            ended: false,
        }
    }
}

impl<R: Read> Iterator for Explained<R> {
    type Item = Result<ExplainedLine, ExplainError>;

    fn next(&mut self) -> Option<Self::Item> {
        while self.rows.is_empty() && !self.ended {
            if let Err(error) = self.advance() {
                self.ended = true;
                return Some(Err(error));
            }
        }
        self.rows.pop_front().map(Ok)
    }
}

impl<R: Read> Explained<R> {
    /// Explains the next part.
    fn advance(&mut self) -> Result<(), ExplainError> {
        self.ended = !self.fill()?;
        let explanation = self.ask()?;
        let consumed = usize::try_from(explanation.consumed).unwrap_or(usize::MAX);
        let consumed = consumed.min(self.part.len());
        self.keep(explanation);
        self.consume(consumed);
        if consumed > 0 {
            self.window = PART;
        } else if self.window < self.longest {
            self.window = (self.window * 2).min(self.longest);
        } else if !self.ended {
            self.pass_over()?;
        }
        Ok(())
    }

    fn ask(&self) -> Result<Explanation, Error> {
        let Self { kind, state, part, ended, .. } = self;
        let explained = self.plugin.ask_within(DEADLINE, |core, guest| {
            core.headsup_awareness_upstreams().call_explain(guest, kind, state, part, *ended)
        })?;
        Ok(explained?)
    }

    fn keep(&mut self, explanation: Explanation) {
        let (mut line, mut counted) = (self.line, 0);
        for mut row in explanation.rows {
            let start = usize::try_from(row.start).unwrap_or(usize::MAX);
            line += lines(self.part.get(counted..start).unwrap_or_default());
            counted = start;
            row.start += self.offset;
            self.rows.push_back(ExplainedLine { line, row });
        }
        self.state = explanation.state;
    }

    fn consume(&mut self, bytes: usize) {
        self.line += lines(&self.part[..bytes]);
        self.offset += bytes as u64;
        self.part.drain(..bytes);
    }

    /// Reads until the window is full. Returns whether there may be more.
    fn fill(&mut self) -> io::Result<bool> {
        while self.part.len() < self.window {
            if !self.read((self.window - self.part.len()).min(PART))? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Leaves out a line that is too long, as a check does.
    fn pass_over(&mut self) -> io::Result<()> {
        let (start, line) = (self.offset, self.line);
        loop {
            match self.part.iter().position(|byte| *byte == b'\n') {
                Some(at) => {
                    self.consume(at + 1);
                    break;
                }
                None => self.consume(self.part.len()),
            }
            if !self.read(PART)? {
                self.ended = true;
                break;
            }
        }
        let row = ExplainedRow {
            start,
            bytes: u32::try_from(self.offset - start).unwrap_or(u32::MAX),
            human: false,
            shape: "too-long".into(),
            reason: "a line of over 64 MiB is passed over".into(),
            at: None,
        };
        self.rows.push_back(ExplainedLine { line, row });
        Ok(())
    }

    /// Reads at most so many bytes more. Returns false at the end of the input.
    fn read(&mut self, at_most: usize) -> io::Result<bool> {
        let before = self.part.len();
        self.part.resize(before + at_most, 0);
        let read = loop {
            match self.input.read(&mut self.part[before..]) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                read => break read,
            }
        };
        self.part.truncate(before + *read.as_ref().unwrap_or(&0));
        Ok(read? > 0)
    }
}

impl<R> std::fmt::Debug for Explained<R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { kind, line, .. } = self;
        f.debug_struct("Explained").field("kind", kind).field("line", line).finish_non_exhaustive()
    }
}

fn lines(bytes: &[u8]) -> u64 {
    bytes.split(|byte| *byte == b'\n').skip(1).count() as u64
}

#[cfg(test)]
mod tests;
