//! How a command ends, and with which exit status.

use std::io::{self, ErrorKind};
use std::process::ExitCode;

use anstyle::{AnsiColor, Style};
use headsup::conformance::ConformanceError;
use headsup::{Error, OpenError, PluginError, StorageFailure};

/// How a command ended that did its work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Exit status 0.
    Fine,
    /// It said what is not as it should be: exit status 1.
    Found,
}

/// Why a command could not do its work.
#[derive(Debug)]
pub enum Failure {
    /// It was asked for something that makes no sense: exit status 2.
    Usage(String),
    /// Anything else: exit status 1.
    Failed(anyhow::Error),
    /// The reader of standard output has gone, and seen all it wanted: exit status 0.
    NobodyReads,
}

impl Failure {
    /// Says what happened on standard error, and gives the exit status.
    pub fn report(&self) -> ExitCode {
        let (words, status) = match self {
            Self::Usage(words) => (words.clone(), 2),
            Self::Failed(error) => (format!("{error:#}"), 1),
            Self::NobodyReads => return ExitCode::SUCCESS,
        };
        let red = Style::new().bold().fg_color(Some(AnsiColor::Red.into()));
        anstream::eprintln!("{red}error:{red:#} {words}");
        ExitCode::from(status)
    }
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Self {
        Self::Failed(error)
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            ErrorKind::BrokenPipe => Self::NobodyReads,
            _ => Self::Failed(error.into()),
        }
    }
}

impl From<OpenError> for Failure {
    fn from(error: OpenError) -> Self {
        let reason = error.reason();
        Self::Failed(anyhow::anyhow!("{error} ({reason})"))
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let reason = error.reason();
        Self::Failed(anyhow::anyhow!("{error} ({reason})"))
    }
}

impl From<StorageFailure> for Failure {
    fn from(failure: StorageFailure) -> Self {
        Error::Storage(failure).into()
    }
}

// The words of these hold those of their causes: a chain would say them twice.

impl From<PluginError> for Failure {
    fn from(error: PluginError) -> Self {
        Self::Failed(anyhow::anyhow!("{error}"))
    }
}

impl From<ConformanceError> for Failure {
    fn from(error: ConformanceError) -> Self {
        Self::Failed(anyhow::anyhow!("{error}"))
    }
}
