//! Responses that are not about a call: plain text that says what to do.

use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;

/// A response of one line.
pub(super) fn refuse(status: StatusCode, words: &str) -> Response {
    let mut response = with_type(status, "text/plain; charset=utf-8", format!("{words}\n"));
    if status == StatusCode::SERVICE_UNAVAILABLE {
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
    }
    response
}

/// The same, and the connection is closed, because its client may still be sending.
pub(super) fn refuse_and_close(status: StatusCode, words: &str) -> Response {
    closing(refuse(status, words))
}

/// Has the connection closed after this response.
pub(super) fn closing(mut response: Response) -> Response {
    response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    response
}

/// A response with a body of this type.
pub(super) fn with_type(
    status: StatusCode,
    content_type: &'static str,
    body: impl Into<Body>,
) -> Response {
    let mut response = Response::new(body.into());
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}
