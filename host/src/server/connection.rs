//! Accepting connections, and serving each until it ends.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::http::StatusCode;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
#[cfg(unix)]
use tokio::net::UnixListener;
use tokio::sync::{Semaphore, mpsc, watch};
use tokio::time::{sleep, timeout};

use super::guard::Way;
use super::metrics::{Connections, Metrics, Open};
use super::options::Limits;
use super::patience::{Duplex, Patient};
use super::refusal::refuse_and_close;

/// Those beyond the limit are told so, this many at once, and within this time.
const REFUSALS: usize = 32;
const REFUSAL_TIME: Duration = Duration::from_secs(1);

/// After a failure to accept, which is the system's (too many files), it is left alone for so long.
const REST: Duration = Duration::from_millis(50);

/// Something that accepts connections.
pub(super) enum Listener {
    #[cfg(unix)]
    Socket(UnixListener),
    Http(TcpListener),
}

impl Listener {
    pub(super) fn way(&self) -> Way {
        match self {
            #[cfg(unix)]
            Self::Socket(_) => Way::Socket,
            Self::Http(_) => Way::Http,
        }
    }

    async fn accept(&self) -> io::Result<Box<dyn Duplex>> {
        Ok(match self {
            #[cfg(unix)]
            Self::Socket(listener) => Box::new(listener.accept().await?.0),
            Self::Http(listener) => {
                let (stream, _) = listener.accept().await?;
                // Answers are whole: to wait for more would only delay them.
                stream.set_nodelay(true)?;
                Box::new(stream)
            }
        })
    }
}

/// What every connection needs.
#[derive(Clone)]
pub(super) struct Reception {
    pub(super) router: Router,
    pub(super) metrics: Arc<Metrics>,
    pub(super) limits: Limits,
    /// Becomes true when the server stops.
    pub(super) stop: watch::Receiver<bool>,
    /// Dropped by the last connection when it ends.
    pub(super) open: mpsc::Sender<()>,
}

impl Reception {
    /// Accepts until the server stops.
    pub(super) async fn receive(mut self, listener: &Listener) {
        let over: fn(&Metrics) -> &Connections = match listener.way() {
            Way::Socket => |metrics| &metrics.socket,
            Way::Http => |metrics| &metrics.http,
        };
        let places = Arc::new(Semaphore::new(self.limits.connections));
        let refusals = Arc::new(Semaphore::new(REFUSALS));
        loop {
            let accepted = tokio::select! {
                biased;
                () = told(&mut self.stop) => return,
                accepted = listener.accept() => accepted,
            };
            let stream = match accepted {
                Ok(stream) => Patient::new(stream, self.limits.patience),
                Err(error) => {
                    tracing::warn!("a connection could not be accepted: {error}");
                    sleep(REST).await;
                    continue;
                }
            };
            if let Ok(place) = Arc::clone(&places).try_acquire_owned() {
                let open = Open::new(Arc::clone(&self.metrics), over);
                let reception = self.clone();
                tokio::spawn(async move {
                    reception.serve(stream).await;
                    drop((open, place));
                });
                continue;
            }
            over(&self.metrics).refused();
            // Beyond, they are closed without a word.
            if let Ok(place) = Arc::clone(&refusals).try_acquire_owned() {
                let limits = self.limits;
                tokio::spawn(async move {
                    let _ = timeout(REFUSAL_TIME, turn_away(stream, limits)).await;
                    drop(place);
                });
            }
        }
    }

    /// Serves one connection to its end; once the server stops, to the end of the request at hand.
    async fn serve(mut self, stream: Patient) {
        let service = TowerToHyperService::new(self.router.clone());
        let connection = protocol(self.limits).serve_connection(TokioIo::new(stream), service);
        let mut connection = std::pin::pin!(connection);
        let ended = tokio::select! {
            ended = connection.as_mut() => ended,
            () = told(&mut self.stop) => {
                connection.as_mut().graceful_shutdown();
                connection.await
            }
        };
        if let Err(error) = ended {
            tracing::debug!("a connection ended: {error}");
        }
        drop(self.open);
    }
}

/// Waits until the server is told to stop, or is gone.
async fn told(stop: &mut watch::Receiver<bool>) {
    let _ = stop.wait_for(|stop| *stop).await;
}

fn protocol(limits: Limits) -> http1::Builder {
    let mut protocol = http1::Builder::new();
    protocol
        .timer(TokioTimer::new())
        .header_read_timeout(limits.patience)
        .max_header_size(limits.head_bytes);
    protocol
}

/// Answers one request of a connection for which there is no place.
async fn turn_away(stream: Patient, limits: Limits) {
    let refusal = Router::new().fallback(|| async {
        let words = "there are as many connections as serve.connections allows: keep one open and \
                     use it again";
        refuse_and_close(StatusCode::SERVICE_UNAVAILABLE, words)
    });
    let service = TowerToHyperService::new(refusal);
    let served = protocol(limits).keep_alive(false).serve_connection(TokioIo::new(stream), service);
    let _ = served.await;
}
