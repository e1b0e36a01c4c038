//! Responses to requests that failed: in the core, or outside where only the host can know.

use alloc::string::String;

use super::answers;
use super::fault::{Code, Fault};
use super::fields::Read;
use super::methods::{Name, PARAMS};
use super::request::{self, Request};
use super::signal;
use crate::contract::Failure;

/// Words the response to a request that failed outside the core. `request` may be anything. The
/// host logs the failure: this call has no log.
pub fn failed(request: &str, failure: Failure) -> Option<String> {
    let fault = Fault::from(failure);
    match Request::read(request) {
        Ok(request) => respond(&request, &fault),
        Err(no_request) => Some(request::error(&no_request.id, &fault)),
    }
}

/// The response to a request that failed. A recording that the store or the core failed is
/// answered with a result, since it never fails the turn that caused it; unless the request was
/// bad anyway, which is then what the response says.
pub fn respond(request: &Request<'_>, fault: &Fault) -> Option<String> {
    let outcomes = if fault.code == Code::Failed { outcomes(request, fault.reason) } else { None };
    match outcomes {
        Some(Ok(result)) => request.result(&result),
        Some(Err(refusal)) => request.error(&refusal.into()),
        None => request.error(fault),
    }
}

/// The result of a recording that failed; `None` for every other method.
fn outcomes(request: &Request<'_>, reason: &str) -> Option<Read<String>> {
    let params = &request.params;
    match Name::of(&request.method)? {
        Name::Record => {
            Some(signal::read(params, &PARAMS).map(|_| answers::failed_outcome(reason)))
        }
        Name::RecordMany => Some(
            signal::read_many(params)
                .map(|signals| answers::failed_outcomes(signals.len(), reason)),
        ),
        _ => None,
    }
}
