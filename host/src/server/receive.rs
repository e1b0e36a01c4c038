//! The body of a request, whole and in time.

use axum::extract::Request;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::Response;
use http_body_util::BodyExt as _;
use hyper::body::Body as _;
use tokio::time::timeout;

use super::refusal::{closing, refuse_and_close, with_type};
use super::routes::Shared;

/// Of a body that is too long, so many times the limit are read and thrown away, so that its client
/// gets to read the answer.
const PATIENT: u64 = 4;

/// The body, without the end of its last line.
///
/// # Errors
/// The response that refuses it: it is too long, too slow, broken off, or encoded.
pub(super) async fn receive(shared: &Shared, request: Request) -> Result<Vec<u8>, Box<Response>> {
    if is_encoded(request.headers()) {
        let words = "send the body as it is, without a Content-Encoding";
        return Err(Box::new(refuse_and_close(StatusCode::UNSUPPORTED_MEDIA_TYPE, words)));
    }
    match timeout(shared.limits.patience, read(shared, request)).await {
        Ok(body) => body,
        Err(_) => Err(Box::new(refuse_and_close(
            StatusCode::REQUEST_TIMEOUT,
            "the body took longer to arrive than serve.patience_ms",
        ))),
    }
}

async fn read(shared: &Shared, request: Request) -> Result<Vec<u8>, Box<Response>> {
    let limit = shared.calls.awareness().request_limit();
    // The end of a line is no part of a request.
    let most = limit.saturating_add(2) as u64;
    let waits = request.headers().contains_key(header::EXPECT);
    let mut body = request.into_body();
    let announced = body.size_hint().lower();
    let mut read = 0;
    let mut whole = Vec::new();
    if waits && announced > most {
        // Its client has not sent it yet.
        return Err(Box::new(too_long(shared)));
    }
    while let Some(frame) = body.frame().await {
        let Ok(frame) = frame else {
            let words = "the body broke off";
            return Err(Box::new(refuse_and_close(StatusCode::BAD_REQUEST, words)));
        };
        let Some(data) = frame.data_ref() else { continue };
        read += data.len() as u64;
        if read <= most && announced <= most {
            whole.extend_from_slice(data);
        } else if read > most.saturating_mul(PATIENT) {
            break;
        } else {
            whole = Vec::new();
        }
    }
    if whole.last() == Some(&b'\n') {
        whole.pop();
        if whole.last() == Some(&b'\r') {
            whole.pop();
        }
    }
    if read > most || whole.len() > limit {
        return Err(Box::new(too_long(shared)));
    }
    Ok(whole)
}

/// The same error as a line that is too long gets, with a status that says so, too.
fn too_long(shared: &Shared) -> Response {
    let error = shared.calls.too_long().unwrap_or_default();
    closing(with_type(StatusCode::PAYLOAD_TOO_LARGE, "application/json", error))
}

fn is_encoded(headers: &HeaderMap) -> bool {
    headers.get_all(header::CONTENT_ENCODING).iter().any(|encoding| encoding != "identity")
}
