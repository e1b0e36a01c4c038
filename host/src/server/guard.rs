//! Who may ask: the token, and what keeps browsers out.
//!
//! Over HTTP a request needs the token, all but `/healthz`, which says one word. A page in a browser
//! cannot know the token; against one that tries all the same, requests with an `Origin` are refused
//! on every way in, and over HTTP those that call this host by a name that is not its own, which a
//! page can make lead here (DNS rebinding). An IP address is no such name.

use std::net::IpAddr;
use std::sync::Arc;

use axum::body::HttpBody as _;
use axum::extract::{Request, State};
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::Response;

use super::refusal::{closing, refuse};
use super::routes::Shared;

/// The way that a request came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// The Unix socket, which its file's permissions guard.
    Socket,
    /// HTTP over TCP.
    Http,
}

/// Lets a request through or refuses it, and counts the response.
pub(super) async fn guard(
    State(shared): State<Arc<Shared>>,
    request: Request,
    next: Next,
) -> Response {
    let has_body = !request.body().is_end_stream();
    let is_call = request.method() == Method::POST && request.uri().path() == "/rpc";
    let (response, is_read) = match admit(&shared, &request) {
        Ok(()) => (next.run(request).await, is_call),
        Err(refused) => (*refused, false),
    };
    // A body that nobody reads would stand before the next request.
    let response = if has_body && !is_read { closing(response) } else { response };
    shared.metrics.responded(response.status().as_u16());
    response
}

fn admit(shared: &Shared, request: &Request) -> Result<(), Box<Response>> {
    if request.headers().contains_key(header::ORIGIN) {
        return Err(Box::new(refuse(
            StatusCode::FORBIDDEN,
            "requests with an Origin come from a browser, which this is not for: send none",
        )));
    }
    // Whatever is not known to be the socket is not.
    if request.extensions().get() == Some(&Way::Socket) {
        return Ok(());
    }
    if !is_own_name(request, &shared.hosts) {
        return Err(Box::new(refuse(
            StatusCode::FORBIDDEN,
            "the Host header names another host: use localhost or an IP address, or add the name \
             to serve.hosts of the configuration",
        )));
    }
    if request.uri().path() == "/healthz" || bears_token(shared, request) {
        return Ok(());
    }
    let mut refused = refuse(
        StatusCode::UNAUTHORIZED,
        "send the header `Authorization: Bearer TOKEN` with the token of the server's token file",
    );
    let challenge = HeaderValue::from_static("Bearer realm=\"headsup\"");
    refused.headers_mut().insert(header::WWW_AUTHENTICATE, challenge);
    Err(Box::new(refused))
}

fn bears_token(shared: &Shared, request: &Request) -> bool {
    let mut given = request.headers().get_all(header::AUTHORIZATION).into_iter();
    let (Some(only), None) = (given.next(), given.next()) else {
        return false;
    };
    let Some((scheme, token)) = only.as_bytes().split_at_checked(7) else {
        return false;
    };
    scheme.eq_ignore_ascii_case(b"Bearer ")
        && shared.token.as_ref().is_some_and(|own| own.is(token.trim_ascii()))
}

/// Whether the one Host header, and the target if it is a whole URL, mean this host.
fn is_own_name(request: &Request, names: &[String]) -> bool {
    let mut given = request.headers().get_all(header::HOST).into_iter();
    let (Some(only), None) = (given.next(), given.next()) else {
        return false;
    };
    let meant = request.uri().host().is_none_or(|host| is_own(host, names));
    meant && only.to_str().is_ok_and(|host| is_own(without_port(host), names))
}

fn without_port(host: &str) -> &str {
    let end =
        if host.starts_with('[') { host.find(']').map(|end| end + 1) } else { host.find(':') };
    let (name, port) = host.split_at(end.unwrap_or(host.len()));
    let is_port = |digits: &str| digits.bytes().all(|digit| digit.is_ascii_digit());
    if port.strip_prefix(':').is_some_and(is_port) { name } else { host }
}

fn is_own(host: &str, names: &[String]) -> bool {
    let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    let is = |name: &str| name.eq_ignore_ascii_case(host);
    bare.parse::<IpAddr>().is_ok() || is("localhost") || names.iter().any(|name| is(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_a_page_could_make_lead_here_is_no_name_of_ours() {
        let own = |host: &str| is_own(without_port(host), &["gate.example".to_owned()]);
        for host in
            ["localhost", "LOCALHOST:1", "127.0.0.1:80", "[::1]:80", "[::1]", "Gate.Example:443"]
        {
            assert!(own(host), "{host}");
        }
        for host in [
            "",
            ":80",
            "evil.example",
            "localhost.evil.example",
            "127.0.0.1.evil.example",
            "localhost:x",
            "[::1",
            "[evil]:1",
            "user@localhost",
            "127.0.0.1:80:80",
            "1::evil",
        ] {
            assert!(!own(host), "{host}");
        }
    }
}
