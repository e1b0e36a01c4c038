//! Why a call or an opening failed, in types for programs and in words for people.

use self::reasons::{invalid_word, storage_word};
use crate::contract::{self, Failure, InvalidInput, StorageFailure};
use crate::plugin::PluginError;

/// The component's own file: the words of typed errors are those of the JSON surface.
#[path = "../../component/src/wire/reasons.rs"]
mod reasons;

/// Why a call failed. Whatever it is, the call changed nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The input was refused: which field, why, and what to do.
    #[error("{}", .0.message)]
    Invalid(InvalidInput),
    /// The store did not do what was asked.
    #[error("{}", .0.message)]
    Storage(StorageFailure),
    /// The core trapped, or returned something that is no answer; in words.
    #[error("the core trapped: {0}")]
    Trap(String),
    /// The core did not return within this time, in ms.
    #[error(
        "the core did not return within {0} ms; if that happens again, ask for less in one call \
         (fewer signals or watchers; take, and acknowledge in parts, rather than drain) or raise \
         the deadline"
    )]
    Timeout(u32),
    /// Too many calls are waiting for the writer already: try again later.
    #[error("too many calls are waiting to write; try again later")]
    Overloaded,
    /// This host is not set up for the call; why.
    #[error("{0}")]
    Unavailable(String),
}

impl Error {
    /// The stable kebab-case word for the failure, as in the JSON surface.
    #[must_use]
    pub fn reason(&self) -> &'static str {
        match self {
            Self::Invalid(input) => invalid_word(input.reason),
            Self::Storage(failure) => storage_word(failure.fault),
            Self::Trap(_) => "plugin-trap",
            Self::Timeout(_) => "plugin-timeout",
            Self::Overloaded => "overloaded",
            Self::Unavailable(_) => "unavailable",
        }
    }
}

impl From<contract::Error> for Error {
    fn from(error: contract::Error) -> Self {
        match error {
            contract::Error::Invalid(input) => Self::Invalid(input),
            contract::Error::Storage(failure) => Self::Storage(failure),
        }
    }
}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Storage(failure) => Self::Storage(failure),
            Failure::Trap(words) => Self::Trap(words),
            Failure::Timeout(ms) => Self::Timeout(ms),
            Failure::Overloaded => Self::Overloaded,
            Failure::TooLong(limit) => {
                Self::Unavailable(format!("the request has more than {limit} bytes"))
            }
            Failure::TooMany(limit) => {
                Self::Unavailable(format!("the batch has more than {limit} requests"))
            }
            Failure::NotUtf8 => Self::Unavailable("the request is not UTF-8".into()),
            Failure::Unavailable(why) => Self::Unavailable(why),
        }
    }
}

/// A failure outside the core, in words.
pub(crate) fn words(failure: &Failure) -> String {
    Error::from(failure.clone()).to_string()
}

/// Why an [`Awareness`](crate::Awareness) could not be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The store cannot be opened; which and what to do.
    #[error("{}", .0.message)]
    Storage(StorageFailure),
    /// The core cannot be loaded.
    #[error(transparent)]
    Plugin(#[from] PluginError),
    /// The core refused a setting, or failed to apply it.
    #[error("the settings cannot be applied: {0}")]
    Settings(Error),
    /// The system gave no thread for timers.
    #[error("no thread for timers: {0}")]
    Thread(std::io::Error),
}

impl OpenError {
    /// The stable kebab-case word for the failure.
    #[must_use]
    pub fn reason(&self) -> &'static str {
        match self {
            Self::Storage(failure) => storage_word(failure.fault),
            Self::Plugin(_) => "plugin-refused",
            Self::Settings(error) => error.reason(),
            Self::Thread(_) => "unavailable",
        }
    }
}

impl From<StorageFailure> for OpenError {
    fn from(failure: StorageFailure) -> Self {
        Self::Storage(failure)
    }
}
