//! The surface without a store: what is refused, how it is worded, and what agents are offered.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod answers;
mod envelope;
mod failures;
mod params;
mod properties;
mod tools;

use serde_json::Value;

use super::{call, failed};
use crate::contract::{Failure, StorageFault};
use crate::ports::fake::Fake;

/// The response to a request over an empty store, and whether it keeps what it did.
fn respond(request: &str) -> (Value, bool) {
    let (response, kept) = match call(&mut Fake::default(), request) {
        Ok(response) => (response, true),
        Err(response) => (response, false),
    };
    let line = response.expect("a request with an id is answered");
    assert!(!line.contains(['\n', '\r']), "one line: {line}");
    (serde_json::from_str(&line).expect("a response is JSON"), kept)
}

/// A request of a method with these params.
fn request(method: &str, params: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{params}}}"#)
}

/// Asserts that a request is refused with this code, reason and field, untouched by any store.
fn refused(request: &str, code: i64, reason: &str, field: Option<&str>) {
    let shown: String = request.chars().take(300).collect();
    let mut ports = Fake::default();
    let line = call(&mut ports, request)
        .expect_err(&format!("must be refused: {shown}"))
        .expect("answered");
    let response: Value = serde_json::from_str(&line).expect("JSON");
    let error = &response["error"];
    assert_eq!(error["code"], code, "{shown}\n{line}");
    assert_eq!(error["data"]["reason"], reason, "{shown}\n{line}");
    assert_eq!(error["data"].get("field").and_then(Value::as_str), field, "{shown}\n{line}");
    let message = error["message"].as_str().expect("a message");
    assert!(message.len() < 600, "a short message: {message}");
    if let Some(field) = field {
        assert!(message.starts_with(field), "names the field {field}: {message}");
    }
    assert_eq!(ports.calls, 0, "storage is not touched: {shown}");
    // And so it is where the store was busy before the call, or the core had failed once.
    for failure in [Failure::Overloaded, Failure::Timeout(1), Failure::Trap(String::new())] {
        let mut none = Fake::broken(StorageFault::Failed);
        assert_eq!(failed(&mut none, request, failure), Some(line.clone()), "{shown}");
        assert!(none.logged.is_empty(), "nothing was lost: {shown}");
    }
}
