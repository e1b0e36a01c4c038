//! Standard output: styled text that loses its styles where nobody can see them, and JSON.

use std::fmt::Display;
use std::io::{self, BufWriter, Write};

use anstyle::{AnsiColor, Style};

use super::failure::Failure;

/// Text that matters.
pub const STRONG: Style = Style::new().bold();
/// Text that is beside the point.
pub const FAINT: Style = Style::new().dimmed();
/// What is as it should be.
pub const GOOD: Style = AnsiColor::Green.on_default();
/// What asks for attention.
pub const ALERT: Style = AnsiColor::Yellow.on_default();
/// What is wrong.
pub const BAD: Style = AnsiColor::Red.on_default().bold();
/// What runs because of it.
pub const WAKE: Style = AnsiColor::Magenta.on_default();

/// Standard output. Colours appear on a terminal only, or where the environment asks for them.
pub struct Output {
    stream: BufWriter<anstream::AutoStream<io::Stdout>>,
}

impl Output {
    /// The output of this process.
    pub fn new() -> Self {
        Self { stream: BufWriter::new(anstream::stdout()) }
    }

    /// Writes a line.
    pub fn line(&mut self, text: impl Display) -> Result<(), Failure> {
        Ok(writeln!(self.stream, "{text}")?)
    }

    /// Everything that was written reaches the reader.
    pub fn flush(&mut self) -> Result<(), Failure> {
        Ok(self.stream.flush()?)
    }
}

/// Text in a style.
pub fn styled(style: Style, text: impl Display) -> String {
    format!("{style}{text}{style:#}")
}
