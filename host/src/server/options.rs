//! Where a server listens, and every limit with its default.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use super::token::Token;

/// Where a server listens and how much it takes. Everything is public: start from
/// [`Options::default`], which listens nowhere.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The path of a Unix socket. Who may write to it may call: the file is this user's alone.
    pub socket: Option<PathBuf>,
    /// An address for HTTP. Port 0 takes a free one, which [`Bound::places`](super::Bound::places) names.
    pub http: Option<SocketAddr>,
    /// What every request over HTTP has to bring; HTTP is refused without. Not asked for on the
    /// socket.
    pub token: Option<Token>,
    /// Whether `http` may be an address that other machines reach.
    pub allow_remote: bool,
    /// Names that requests over HTTP may call this host by, besides `localhost` and IP addresses;
    /// without port.
    pub hosts: Vec<String>,
    /// The file of the store, for the metrics of its size; absent for one in memory.
    pub store: Option<PathBuf>,
    /// How much it takes.
    pub limits: Limits,
}

/// How much a server takes. The longest request is the store's
/// ([`Builder::request_limit`](crate::Builder::request_limit)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of the head of a request, its first line and headers. Default 16 KiB.
    pub head_bytes: usize,
    /// How long a client may take for the head of a request, which is also how long a connection
    /// may idle; for its body; and to take anything of what is sent to it. Default 30 s.
    pub patience: Duration,
    /// How long a call may take before its client is told not to wait. Default 60 s.
    pub answer: Duration,
    /// Calls that run at once. Default 64.
    pub calls: usize,
    /// Connections at once, on the socket and over HTTP each. Default 256.
    pub connections: usize,
    /// Event streams at once, together. Default 64.
    pub streams: usize,
    /// Events that wait for the reader of one stream. Default 10,000.
    pub stream_events: usize,
    /// A stream on which nothing happens says so this often. Default 15 s.
    pub keep_alive: Duration,
    /// How long calls in flight may take once the server is told to stop. Default 10 s.
    pub shutdown: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            head_bytes: 16 << 10,
            patience: Duration::from_secs(30),
            answer: Duration::from_mins(1),
            calls: 64,
            connections: 256,
            streams: 64,
            stream_events: 10_000,
            keep_alive: Duration::from_secs(15),
            shutdown: Duration::from_secs(10),
        }
    }
}
