//! JSON-RPC over a Unix socket and over HTTP: one protocol on both, HTTP/1.1.
//!
//! | path | is |
//! | --- | --- |
//! | `POST /rpc` | a request or a batch; its answer is what a line would get, byte for byte; 204 if it has none |
//! | `GET /events` | notices, wakes and log lines as server-sent events; `?watcher=KEY` for some watchers |
//! | `GET /healthz` | whether the store answers |
//! | `GET /metrics` | counts, in the text format of Prometheus |
//! | `GET /openapi.json` | the description |
//!
//! What is guaranteed: an event is in the queue of every stream before the call that caused it is
//! answered, and never before its commit; streams get events in one order; a stream begins with
//! everything that is pending, so that whoever connects again has lost none. `docs/embedding/sidecar.md`
//! says more.
//!
//! ```no_run
//! use std::sync::Arc;
//!
//! use headsup::Awareness;
//! use headsup::rpc::{BATCH_LIMIT, Calls};
//! use headsup::server::{self, Events, Options};
//!
//! let options = Options { socket: Some("headsup.sock".into()), ..Options::default() };
//! let bound = server::bind(options)?;
//! let events = Arc::new(Events::new());
//! let awareness = Awareness::builder("headsup.db").listener(Arc::clone(&events)).open()?;
//! bound.serve(Calls::new(awareness, BATCH_LIMIT), &events, server::told_to_stop());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod error;
mod events;
mod filter;
mod guard;
mod options;
mod refusal;
mod routes;
mod token;

mod connection;
mod metrics;
mod patience;
mod receive;
#[cfg(unix)]
mod socket;
mod stream;

use std::fmt;
use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;

use axum::Extension;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio::sync::{Semaphore, mpsc, watch};
use tokio::time::timeout;

pub use self::error::BindError;
pub use self::events::Events;
pub use self::options::{Limits, Options};
pub use self::token::{LEAST_TOKEN, Token, TokenError};

use self::connection::{Listener, Reception};
use self::filter::Keys;
use self::metrics::Metrics;
use self::routes::{Shared, router};
use crate::rpc::{Calls, Observer};

/// Threads that move bytes; calls have others.
const THREADS: usize = 2;

/// A server that listens and does not serve yet.
///
/// A store is opened between the two, so that nothing is recovered for a server that cannot listen.
pub struct Bound {
    runtime: Runtime,
    listeners: Vec<Listener>,
    places: Vec<Place>,
    #[cfg(unix)]
    socket: Option<socket::SocketFile>,
    options: Options,
    metrics: Arc<Metrics>,
}

/// Where a server listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// A Unix socket at this path.
    Socket(std::path::PathBuf),
    /// HTTP at this address.
    Http(SocketAddr),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Socket(path) => write!(f, "unix:{}", path.display()),
            Self::Http(address) => write!(f, "http://{address}"),
        }
    }
}

/// Listens where the options say.
///
/// # Errors
/// It may not, or cannot; [`BindError`] says which and what to do.
pub fn bind(options: Options) -> Result<Bound, BindError> {
    if options.socket.is_none() && options.http.is_none() {
        return Err(BindError::Nowhere);
    }
    if let Some(address) = options.http {
        if !address.ip().is_loopback() && !options.allow_remote {
            return Err(BindError::Remote(address));
        }
        if options.token.is_none() {
            return Err(BindError::NoToken);
        }
    }
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(THREADS)
        .max_blocking_threads(options.limits.calls.max(1))
        .thread_name("headsup-server")
        .enable_all()
        .build()
        .map_err(BindError::Runtime)?;
    let mut bound = Bound {
        runtime,
        listeners: Vec::new(),
        places: Vec::new(),
        #[cfg(unix)]
        socket: None,
        options,
        metrics: Arc::default(),
    };
    bound.listen_on_socket()?;
    bound.listen_on_http()?;
    Ok(bound)
}

impl Bound {
    /// Where it listens, with the port that was given.
    #[must_use]
    pub fn places(&self) -> &[Place] {
        &self.places
    }

    /// Counts calls that are answered elsewhere, on standard input say, with those that are
    /// answered here.
    #[must_use]
    pub fn observer(&self) -> Arc<dyn Observer> {
        Arc::clone(&self.metrics) as Arc<dyn Observer>
    }

    /// Serves until told to stop. Then it accepts nothing more, ends event streams, gives calls in
    /// flight the time of [`Limits::shutdown`], and closes the store, if nobody else has a clone.
    ///
    /// `events` has to be a listener of the store that `calls` answer from.
    pub fn serve(self, calls: Calls, events: &Arc<Events>, stop: impl Future<Output = ()>) {
        let Self { runtime, listeners, options, metrics, .. } = self;
        #[cfg(unix)]
        let socket = self.socket;
        let limits = options.limits;
        let observer = Arc::clone(&metrics) as Arc<dyn Observer>;
        let shared = Arc::new(Shared {
            calls: calls.observed(observer),
            events: Arc::clone(events),
            metrics: Arc::clone(&metrics),
            limits,
            token: options.token,
            hosts: options.hosts,
            store: options.store,
            keys: Keys::default(),
            streams: Arc::new(Semaphore::new(limits.streams)),
        });
        let (stopped, stopping) = watch::channel(false);
        let (open, mut ended) = mpsc::channel(1);
        let mut accepting = Vec::new();
        for listener in listeners {
            let router = router(&shared).layer(Extension(listener.way()));
            let (metrics, stop) = (Arc::clone(&metrics), stopping.clone());
            let reception = Reception { router, metrics, limits, stop, open: open.clone() };
            accepting.push(runtime.spawn(async move { reception.receive(&listener).await }));
        }
        drop((open, stopping, shared));
        runtime.block_on(stop);
        let told = Instant::now();
        // Its receivers are the listeners and connections, if there still are any.
        let _ = stopped.send(true);
        runtime.block_on(async {
            for listener in accepting {
                let _ = listener.await;
            }
        });
        // Nobody finds a server here from now on, and another one may start.
        #[cfg(unix)]
        drop(socket);
        events.close();
        let in_time = runtime.block_on(async { timeout(limits.shutdown, ended.recv()).await });
        if in_time.is_err() {
            tracing::warn!("connections were cut that did not end within serve.shutdown_ms");
        }
        runtime.shutdown_timeout(limits.shutdown.saturating_sub(told.elapsed()));
    }

    fn listen_on_http(&mut self) -> Result<(), BindError> {
        let Some(address) = self.options.http else { return Ok(()) };
        let failed = |error| BindError::Address { address, error };
        let listener = self.runtime.block_on(TcpListener::bind(address)).map_err(failed)?;
        self.places.push(Place::Http(listener.local_addr().map_err(failed)?));
        self.listeners.push(Listener::Http(listener));
        Ok(())
    }

    #[cfg(unix)]
    fn listen_on_socket(&mut self) -> Result<(), BindError> {
        let Some(path) = &self.options.socket else { return Ok(()) };
        let _inside = self.runtime.enter();
        let (listener, file) = socket::listen(path)?;
        self.places.push(Place::Socket(path.clone()));
        self.listeners.push(Listener::Socket(listener));
        self.socket = Some(file);
        Ok(())
    }

    #[cfg(not(unix))]
    fn listen_on_socket(&mut self) -> Result<(), BindError> {
        if self.options.socket.is_some() { Err(BindError::NoSockets) } else { Ok(()) }
    }
}

impl fmt::Debug for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bound").field("places", &self.places).finish_non_exhaustive()
    }
}

/// Ends when the process is told to: by SIGTERM or SIGINT, or Ctrl-C where there are no signals.
#[cfg(unix)]
pub async fn told_to_stop() {
    use tokio::signal::unix::{SignalKind, signal};
    let hear = |kind| signal(kind).inspect_err(|error| tracing::error!("no signals: {error}"));
    let (Ok(mut terminate), Ok(mut interrupt)) =
        (hear(SignalKind::terminate()), hear(SignalKind::interrupt()))
    else {
        // The system's own way with signals stays: the process is killed.
        return std::future::pending().await;
    };
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
}

/// Ends when the process is told to: by SIGTERM or SIGINT, or Ctrl-C where there are no signals.
#[cfg(not(unix))]
pub async fn told_to_stop() {
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
}
