//! The JSON surface: JSON-RPC 2.0 requests as typed calls, and their answers as JSON.
//!
//! A request passes `request` (its envelope), `methods` (which call it is), `fields` and `signal`
//! (its params, strictly), the logic, and `answers` or `fault`. `failed` is what
//! becomes of recordings that failed, and `tools` is what agents see.
//!
//! Everything that comes in may be anything; nothing here panics over it.
#![allow(clippy::unnecessary_box_returns, reason = "a fault travels in its box: see `fault`")]

mod answers;
mod failed;
mod fault;
mod fields;
mod methods;
mod place;
mod reasons;
mod request;
mod signal;
#[cfg(test)]
mod tests;
mod tools;
mod upstreams;

use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use self::fault::{Code, Fault};
use self::methods::{METHODS, Name};
use self::request::Request;
use crate::contract::{Errand, ErrandDone, Failure, Level, Method};
use crate::ports::Ports;
use crate::text::joined;

/// Every method, by name. See `wire.methods` in the contract.
#[must_use]
pub fn methods() -> Vec<Method> {
    let mut methods = Vec::with_capacity(METHODS.len());
    for (_, name, access) in METHODS {
        methods.push(Method { name: name.to_string(), access });
    }
    methods
}

/// Whether a request of a method that says `depends` writes. See `wire.writes` in the contract.
#[must_use]
pub fn writes(request: &str) -> bool {
    let Ok(request) = Request::read(request) else {
        return false;
    };
    Name::of(&request.method) == Some(Name::CallTool) && tools::writes(&request.params)
}

/// Answers one request. See `wire.call` in the contract.
///
/// # Errors
/// The response of a request that keeps nothing: its transaction is rolled back.
pub fn call(ports: &mut impl Ports, request: &str) -> Result<Option<String>, Option<String>> {
    answer(ports, request, None, None)
}

/// What a host does before a request is answered. See `wire.errand-of` in the contract.
///
/// # Errors
/// The response of a request that is refused.
pub fn errand(request: &str) -> Result<Errand, Option<String>> {
    let request = Request::read(request)
        .map_err(|no_request| Some(request::error(&no_request.id, &no_request.fault)))?;
    let errand = named(&request).and_then(|method| methods::errand(method, &request.params));
    errand.map_err(|fault| request.error(&fault))
}

/// Answers one request once the host did its errand. See `wire.respond` in the contract.
///
/// # Errors
/// As [`call`].
pub fn respond(
    ports: &mut impl Ports,
    request: &str,
    done: &ErrandDone,
) -> Result<Option<String>, Option<String>> {
    answer(ports, request, Some(done), None)
}

/// Words the response to a request that failed outside the core. See `wire.failed` in the
/// contract. `request` may be anything.
///
/// Bad input is refused as always, whatever else failed: the request is answered up to where it
/// would need `ports`, of which every verb of storage and settings has to fail.
pub fn failed(ports: &mut impl Ports, request: &str, failure: Failure) -> Option<String> {
    let (Ok(response) | Err(response)) = answer(ports, request, None, Some(failure.into()));
    response
}

/// Answers a request, unless it already failed: then it is only found out whether it is bad.
fn answer(
    ports: &mut impl Ports,
    request: &str,
    done: Option<&ErrandDone>,
    failure: Option<Box<Fault>>,
) -> Result<Option<String>, Option<String>> {
    // What a host says of a request that it did not even try stands over what is wrong in it.
    let untried = failure.as_ref().filter(|failure| failure.code != Code::Failed);
    let request = Request::read(request).map_err(|no_request| {
        Some(request::error(&no_request.id, untried.unwrap_or(&no_request.fault)))
    })?;
    if let Some(untried) = untried {
        return Err(request.error(untried));
    }
    let method = named(&request).map_err(|fault| request.error(&fault))?;
    let fault = match (methods::call(ports, method, &request.params, done), failure) {
        (Ok(result), None) => return Ok(request.result(&result)),
        // The agent's bad input is a result. So is that a session cannot watch: true all the same.
        (Ok(result), Some(_)) if method == Name::CallTool => return Ok(request.result(&result)),
        (Err(refusal), _) if refusal.code != Code::Failed => return Err(request.error(&refusal)),
        (_, Some(failure)) | (Err(failure), None) => failure,
    };
    let Some(lost) = failed::recordings(method, &request.params, fault.reason) else {
        return Err(request.error(&fault));
    };
    if let Some(session) = lost.session {
        let Fault { reason, message, .. } = &*fault;
        let line = ["nothing was recorded on ", &session, " (", reason, "): ", message];
        ports.log(Level::Error, &joined(&line));
    }
    Err(request.result(&lost.result))
}

fn named(request: &Request<'_>) -> Result<Name, Box<Fault>> {
    Name::of(&request.method).ok_or_else(|| {
        let what = "method: there is no such method";
        Fault::new(Code::Method, "unknown-method", what)
    })
}
