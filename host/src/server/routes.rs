//! What is served: the same on every way in.

use std::path::PathBuf;
use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::{HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::from_fn_with_state;
use axum::response::Response;
use axum::routing::{MethodFilter, MethodRouter, on};
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use super::events::Events;
use super::filter::Keys;
use super::guard::guard;
use super::metrics::{Metrics, Readings};
use super::options::Limits;
use super::receive::receive;
use super::refusal::{closing, refuse, with_type};
use super::stream::Stream;
use super::token::Token;
use crate::rpc::Calls;

/// The description of all of this.
const OPENAPI: &str = include_str!("../../../docs/openapi.json");

/// Says which event is the newest when a call was answered: those that it caused are up to it.
const NEWEST_EVENT: HeaderName = HeaderName::from_static("headsup-event");

const JSON: &str = "application/json";

/// What all connections share.
pub(super) struct Shared {
    pub(super) calls: Calls,
    pub(super) events: Arc<Events>,
    pub(super) metrics: Arc<Metrics>,
    pub(super) limits: Limits,
    pub(super) token: Option<Token>,
    pub(super) hosts: Vec<String>,
    pub(super) store: Option<PathBuf>,
    pub(super) keys: Keys,
    /// One for each event stream that may be.
    pub(super) streams: Arc<Semaphore>,
}

/// Every path.
pub(super) fn router(shared: &Arc<Shared>) -> Router {
    let wrong = |allowed: &'static str| {
        move || async move {
            let mut refused = refuse(
                StatusCode::METHOD_NOT_ALLOWED,
                &format!(
                    "this path takes {allowed} alone; GET /openapi.json describes all of them"
                ),
            );
            refused.headers_mut().insert(header::ALLOW, HeaderValue::from_static(allowed));
            refused
        }
    };
    // A GET of axum's answers HEAD too; an event stream must not.
    let get =
        |handler: MethodRouter<Arc<Shared>>| handler.head(wrong("GET")).fallback(wrong("GET"));
    Router::new()
        .route("/rpc", on(MethodFilter::POST, rpc).fallback(wrong("POST")))
        .route("/events", get(on(MethodFilter::GET, events)))
        .route("/healthz", get(on(MethodFilter::GET, healthz)))
        .route("/metrics", get(on(MethodFilter::GET, metrics)))
        .route("/openapi.json", get(on(MethodFilter::GET, openapi)))
        .fallback(unknown)
        .layer(from_fn_with_state(Arc::clone(shared), guard))
        .with_state(Arc::clone(shared))
}

async fn unknown(method: Method) -> Response {
    let words = if method == Method::CONNECT {
        "this is no proxy"
    } else {
        "there is no such path: POST /rpc, GET /events, /healthz, /metrics or /openapi.json"
    };
    refuse(StatusCode::NOT_FOUND, words)
}

/// A call or a batch. Errors of JSON-RPC are answers like any other.
async fn rpc(State(shared): State<Arc<Shared>>, request: Request) -> Response {
    let body = match receive(&shared, request).await {
        Ok(body) => body,
        Err(refused) => return *refused,
    };
    let at_work = Arc::clone(&shared);
    let answer = spawn_blocking(move || answer(&at_work, &body));
    let mut response = match timeout(shared.limits.answer, answer).await {
        Ok(Ok(Some(answer))) => with_type(StatusCode::OK, JSON, answer),
        Ok(Ok(None)) => {
            let mut nothing = Response::default();
            *nothing.status_mut() = StatusCode::NO_CONTENT;
            nothing
        }
        Ok(Err(_)) => refuse(
            StatusCode::INTERNAL_SERVER_ERROR,
            "the call ended without an answer: see the log",
        ),
        Err(_) => closing(refuse(
            StatusCode::GATEWAY_TIMEOUT,
            "the call takes longer than serve.answer_ms and goes on; look what it did before you \
             repeat it",
        )),
    };
    if let Ok(newest) = HeaderValue::from_str(&shared.events.newest()) {
        response.headers_mut().insert(NEWEST_EVENT, newest);
    }
    response
}

fn answer(shared: &Shared, body: &[u8]) -> Option<String> {
    let answer = shared.calls.answer(body);
    // With a manual clock this prunes before the next call, as behind a line.
    shared.calls.awareness().tidy();
    answer
}

async fn events(State(shared): State<Arc<Shared>>, request: Request) -> Response {
    let query = request.uri().query().unwrap_or_default().to_owned();
    let seen = request.headers().get("last-event-id").and_then(|id| id.to_str().ok());
    let seen = seen.and_then(|id| shared.events.number(id)).unwrap_or(0);
    let Ok(slot) = Arc::clone(&shared.streams).try_acquire_owned() else {
        let words =
            "there are as many event streams as serve.streams allows: share one, or come back";
        return refuse(StatusCode::SERVICE_UNAVAILABLE, words);
    };
    let at_work = Arc::clone(&shared);
    let asked = spawn_blocking(move || at_work.keys.filter(at_work.calls.awareness(), &query));
    let filter = match asked.await {
        Ok(Ok(filter)) => filter,
        Ok(Err(words)) => return refuse(StatusCode::BAD_REQUEST, &words),
        Err(_) => return refuse(StatusCode::INTERNAL_SERVER_ERROR, "see the log"),
    };
    let subscription = shared.events.subscribe(filter.clone(), shared.limits.stream_events);
    let stream = Stream::new(
        shared.calls.awareness().clone(),
        Arc::clone(&shared.events),
        (subscription, filter),
        seen,
        shared.limits.keep_alive,
        slot,
    );
    let mut response = with_type(StatusCode::OK, "text/event-stream", stream.into_body());
    // A proxy that gathers what it passes on would hold events back.
    let name = HeaderName::from_static("x-accel-buffering");
    response.headers_mut().insert(name, HeaderValue::from_static("no"));
    response
}

/// Whether the store answers: one word, so that no token need be asked for.
async fn healthz(State(shared): State<Arc<Shared>>) -> Response {
    let awareness = shared.calls.awareness().clone();
    let read = spawn_blocking(move || awareness.policy().map_err(|error| error.reason()));
    match timeout(shared.limits.answer, read).await {
        Ok(Ok(Ok(_))) => refuse(StatusCode::OK, "ok"),
        Ok(Ok(Err(reason))) => refuse(StatusCode::SERVICE_UNAVAILABLE, reason),
        Ok(Err(_)) | Err(_) => refuse(StatusCode::SERVICE_UNAVAILABLE, "overloaded"),
    }
}

async fn metrics(State(shared): State<Arc<Shared>>) -> Response {
    let read = spawn_blocking(move || shared.metrics.render(&readings(&shared)));
    match read.await {
        Ok(text) => with_type(StatusCode::OK, "text/plain; version=0.0.4; charset=utf-8", text),
        Err(_) => refuse(StatusCode::INTERNAL_SERVER_ERROR, "see the log"),
    }
}

fn readings(shared: &Shared) -> Readings {
    let awareness = shared.calls.awareness();
    let pending = awareness.pending().ok().map(|watchers| {
        let notices = watchers.iter().map(|watcher| u64::from(watcher.notices)).sum();
        (notices, watchers.len() as u64)
    });
    let store = shared.store.as_ref().and_then(|file| {
        let bytes = std::fs::metadata(file).ok()?.len();
        let mut log = file.clone().into_os_string();
        log.push("-wal");
        Some((bytes, std::fs::metadata(log).map_or(0, |log| log.len())))
    });
    Readings {
        events: shared.events.counts(),
        streams: shared.limits.streams.saturating_sub(shared.streams.available_permits()),
        pending,
        store,
        core: awareness.metadata(),
    }
}

/// The description of what is served.
async fn openapi() -> Response {
    with_type(StatusCode::OK, JSON, OPENAPI)
}
