//! The JSON surface: JSON-RPC 2.0 requests as typed calls, and their answers as JSON.
//!
//! A request passes `request` (its envelope), `methods` (which call it is), `fields` and `signal`
//! (its params, strictly), the logic, and `answers` or `fault`. `failed` words what went wrong, and
//! `tools` is what agents see.
//!
//! Everything that comes in may be anything; nothing here panics over it.

mod answers;
mod failed;
mod fault;
mod fields;
mod methods;
mod place;
mod request;
mod signal;
#[cfg(test)]
mod tests;
mod tools;

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use self::fault::{Code, Fault};
use self::methods::{METHODS, Name};
use self::request::Request;
use crate::contract::{Failure, Level, Method};
use crate::ports::Ports;

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
    let request = Request::read(request)
        .map_err(|no_request| Some(request::error(&no_request.id, &no_request.fault)))?;
    let Some(method) = Name::of(&request.method) else {
        return Err(request.error(&Fault::new(
            Code::Method,
            "unknown-method",
            "method: there is no such method",
        )));
    };
    match methods::call(ports, method, &request.params) {
        Ok(result) => Ok(request.result(&result)),
        Err(fault) => {
            if fault.code == Code::Failed && matches!(method, Name::Record | Name::RecordMany) {
                let Fault { reason, message, .. } = &fault;
                ports.log(Level::Error, &format!("nothing was recorded: {reason}: {message}"));
            }
            Err(failed::respond(&request, &fault))
        }
    }
}

/// Words the response to a request that failed outside the core. See `wire.failed` in the
/// contract. `request` may be anything.
#[must_use]
pub fn failed(request: &str, failure: Failure) -> Option<String> {
    failed::failed(request, failure)
}
