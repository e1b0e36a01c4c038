//! What a server says without being asked.

use serde::Serialize;

use crate::contract::{self, Level};

/// News for a gateway. Serialized it is its params alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged, rename_all_fields = "camelCase")]
pub enum Notification<'a> {
    /// A notice opened.
    Notice {
        /// Who is told.
        watcher: &'a str,
        /// Key of the session that changed.
        target: &'a str,
        /// Its agent.
        agent: &'a str,
        /// The version that the watcher knows.
        since: u64,
        /// The version that the notice reaches.
        up_to: u64,
        /// What the watcher's turn is told.
        text: &'a str,
    },
    /// A watcher should run.
    Wake {
        /// Who.
        watcher: &'a str,
    },
    /// Something for an operator.
    Log {
        /// `error` or `warn`.
        level: &'static str,
        /// One line.
        message: &'a str,
    },
}

impl<'a> Notification<'a> {
    /// A notice opened.
    #[must_use]
    pub fn notice(watcher: &'a str, notice: &'a contract::Notice) -> Self {
        Self::Notice {
            watcher,
            target: &notice.target.key,
            agent: &notice.target.agent,
            since: notice.since,
            up_to: notice.up_to,
            text: &notice.text,
        }
    }

    /// A watcher should run.
    #[must_use]
    pub fn wake(watcher: &'a str) -> Self {
        Self::Wake { watcher }
    }

    /// What was lost, or needs an operator. Anything less goes to the log alone.
    #[must_use]
    pub fn log(level: Level, message: &'a str) -> Option<Self> {
        let level = match level {
            Level::Error => "error",
            Level::Warn => "warn",
            Level::Info | Level::Debug => return None,
        };
        Some(Self::Log { level, message })
    }

    /// Its name on the wire.
    #[must_use]
    pub fn method(&self) -> &'static str {
        match self {
            Self::Notice { .. } => "notice",
            Self::Wake { .. } => "wake",
            Self::Log { .. } => "log",
        }
    }

    /// The whole message as JSON, on one line without its end.
    #[must_use]
    pub fn line(&self) -> String {
        let (method, params) = (self.method(), self.params());
        format!(r#"{{"jsonrpc":"2.0","method":"{method}","params":{params}}}"#)
    }

    /// Its params as JSON, on one line.
    #[must_use]
    pub fn params(&self) -> String {
        // Only texts and numbers: it cannot fail.
        serde_json::to_string(self).unwrap_or_default()
    }
}
