//! Why a server does not start.

use std::io;
use std::net::SocketAddr;

/// Why a server cannot listen where it is told to. Each says what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BindError {
    /// Neither a socket nor an address was given.
    #[error("there is nowhere to listen: give a socket, an address for HTTP, or both")]
    Nowhere,
    /// HTTP without a token.
    #[error(
        "HTTP needs a token: put one into a file that only you can read \
         (`umask 077; openssl rand -hex 32 > token`) and give --token-file FILE, serve.token_file \
         or HEADSUP_TOKEN"
    )]
    NoToken,
    /// An address that other machines reach.
    #[error(
        "{0} can be reached from other machines, and what is sent there can be read on the way: \
         listen on 127.0.0.1 or [::1], with a proxy in front that speaks TLS; or set \
         serve.allow_remote = true in the configuration, in a network that you trust"
    )]
    Remote(SocketAddr),
    /// The address cannot be listened on.
    #[error("cannot listen on {address}: {error}")]
    Address {
        /// Which.
        address: SocketAddr,
        /// Why.
        error: io::Error,
    },
    /// The socket, or the lock beside it, cannot be made.
    #[error("the socket {path} cannot be made: {error}")]
    Socket {
        /// Its path.
        path: String,
        /// Why.
        error: io::Error,
    },
    /// Somebody listens there.
    #[error("{0} is in use by a process that runs: stop it, or give another path")]
    InUse(String),
    /// Something else has that name.
    #[error("{0} is there and is no socket: remove it, or give another path")]
    NoSocket(String),
    /// This system has none.
    #[error("this system has no Unix sockets that headsup can use: listen on HTTP")]
    NoSockets,
    /// The system gave no threads.
    #[error("no threads to serve with: {0}")]
    Runtime(io::Error),
}
