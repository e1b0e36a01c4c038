//! Responses to requests that failed outside the core: a commit, a trap, a time-out.

use alloc::string::String;

use super::answers;
use super::fault::Fault;
use super::fields::Read;
use super::methods::{Name, PARAMS};
use super::request::{self, Request};
use super::signal;
use crate::contract::Failure;

/// Words the response to a request that failed. `request` may be anything.
///
/// A recording that the store or the core failed is answered as a result, since it never fails
/// the turn that caused it; if the request was bad anyway, that is what the response says. The
/// host logs the failure: this call has no log.
pub fn failed(request: &str, failure: Failure) -> Option<String> {
    let is_outcome = matches!(
        failure,
        Failure::Storage(_) | Failure::Trap(_) | Failure::Timeout(_) | Failure::Overloaded
    );
    let fault = Fault::from(failure);
    let request = match Request::read(request) {
        Ok(request) => request,
        Err(no_request) => return Some(request::error(&no_request.id, &fault)),
    };
    match is_outcome.then(|| outcomes(&request, fault.reason)).flatten() {
        Some(Ok(result)) => request.result(&result),
        Some(Err(refusal)) => request.error(&Fault::params(refusal)),
        None => request.error(&fault),
    }
}

/// The result of a recording that failed; `None` for every other method.
fn outcomes(request: &Request, reason: &str) -> Option<Read<String>> {
    match Name::of(&request.method)? {
        Name::Record => {
            Some(signal::read(&request.params, &PARAMS).map(|_| answers::failed_outcome(reason)))
        }
        Name::RecordMany => Some(
            signal::read_many(&request.params)
                .map(|signals| answers::failed_outcomes(signals.len(), reason)),
        ),
        _ => None,
    }
}
