//! What became of a signal, as the caller that must not fail sees it.

use crate::contract::{Level, Outcome};
use crate::error::Error;
use crate::inner::Inner;

/// What became of a recorded signal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Recording {
    /// It was recorded; the session's new state version.
    Recorded(u64),
    /// An event with its dedupe key exists; its state version. Nothing was written.
    Duplicate(u64),
    /// A human direct message on a session nobody watches. Nothing was written.
    Unwatched,
    /// The store or the core failed; nothing was written, and the listener's log says so.
    Failed {
        /// The stable kebab-case word for the failure.
        reason: &'static str,
        /// What happened and what to do, for people.
        message: String,
    },
}

pub(crate) fn outcome(outcome: Outcome) -> Recording {
    match outcome {
        Outcome::Recorded(version) => Recording::Recorded(version),
        Outcome::Duplicate(version) => Recording::Duplicate(version),
        Outcome::Unwatched => Recording::Unwatched,
    }
}

impl Inner {
    /// Logs that recording failed, and makes it an outcome.
    pub(crate) fn unrecorded(&self, what: &str, error: &Error) -> Recording {
        let reason = error.reason();
        // A key that was never checked may be long and hold anything.
        let what: String = what.chars().take(200).collect();
        let what = what.escape_debug();
        let line = format!("nothing was recorded on {what} ({reason}): {error}");
        self.courier.log(Level::Error, &line);
        Recording::Failed { reason, message: error.to_string() }
    }
}
