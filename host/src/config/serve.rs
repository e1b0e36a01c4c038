//! How requests are served, and where.

use std::path::PathBuf;
#[cfg(feature = "server")]
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::Bounds;
use crate::rpc::BATCH_LIMIT;
#[cfg(feature = "server")]
use crate::server::Limits;

/// Longest time of any of these, an hour, in ms.
const MOST_MS: u64 = 3_600_000;

/// How requests are served; times in ms. `host/headsup.example.toml` says more about each.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Serve {
    /// The longest request, in bytes.
    pub request_bytes: usize,
    /// The most requests in a batch.
    pub batch_requests: usize,
    /// The file that holds the token for HTTP.
    pub token_file: Option<PathBuf>,
    /// Whether HTTP may listen where other machines reach it.
    pub allow_remote: bool,
    /// Further names in the Host header.
    pub hosts: Vec<String>,
    /// The longest head of a request, in bytes.
    pub head_bytes: usize,
    /// How long a client may take for a head, a body, or to read.
    pub patience_ms: u64,
    /// How long a call may take.
    pub answer_ms: u64,
    /// Calls at once.
    pub calls: usize,
    /// Connections at once, on the socket and over HTTP each.
    pub connections: usize,
    /// Event streams at once.
    pub streams: usize,
    /// Events that wait for the reader of a stream.
    pub stream_events: usize,
    /// How often a quiet stream says that it lives.
    pub keep_alive_ms: u64,
    /// Time for calls in flight at the end.
    pub shutdown_ms: u64,
}

impl Default for Serve {
    fn default() -> Self {
        Self {
            request_bytes: 4 << 20,
            batch_requests: BATCH_LIMIT,
            token_file: None,
            allow_remote: false,
            hosts: Vec::new(),
            head_bytes: 16 << 10,
            patience_ms: 30_000,
            answer_ms: 60_000,
            calls: 64,
            connections: 256,
            streams: 64,
            stream_events: 10_000,
            keep_alive_ms: 15_000,
            shutdown_ms: 10_000,
        }
    }
}

impl Serve {
    /// The bounds of each key.
    pub(super) fn bounds(&self) -> [Bounds; 11] {
        [
            ("serve.request_bytes", self.request_bytes as u64, 1_024, 1 << 30),
            ("serve.batch_requests", self.batch_requests as u64, 1, 100_000),
            ("serve.head_bytes", self.head_bytes as u64, 1_024, 1 << 20),
            ("serve.patience_ms", self.patience_ms, 10, MOST_MS),
            ("serve.answer_ms", self.answer_ms, 10, MOST_MS),
            ("serve.calls", self.calls as u64, 1, 1_024),
            ("serve.connections", self.connections as u64, 1, 100_000),
            ("serve.streams", self.streams as u64, 1, 100_000),
            ("serve.stream_events", self.stream_events as u64, 1, 1_000_000),
            ("serve.keep_alive_ms", self.keep_alive_ms, 10, MOST_MS),
            ("serve.shutdown_ms", self.shutdown_ms, 0, MOST_MS),
        ]
    }

    /// The limits of a server.
    #[cfg(feature = "server")]
    #[must_use]
    pub fn limits(&self) -> Limits {
        Limits {
            head_bytes: self.head_bytes,
            patience: Duration::from_millis(self.patience_ms),
            answer: Duration::from_millis(self.answer_ms),
            calls: self.calls,
            connections: self.connections,
            streams: self.streams,
            stream_events: self.stream_events,
            keep_alive: Duration::from_millis(self.keep_alive_ms),
            shutdown: Duration::from_millis(self.shutdown_ms),
        }
    }
}

#[cfg(all(test, feature = "server"))]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_are_those_of_a_server() {
        assert_eq!(Serve::default().limits(), Limits::default());
    }
}
