use serde_json::{Value, json};

use super::{Fake, request};
use crate::contract::{Failure, StorageFailure, StorageFault};
use crate::wire::{call, failed};

const FAULTS: [(StorageFault, &str); 7] = [
    (StorageFault::Busy, "store-busy"),
    (StorageFault::Full, "store-full"),
    (StorageFault::Corrupt, "store-corrupt"),
    (StorageFault::ReadOnly, "store-read-only"),
    (StorageFault::TooNew, "store-too-new"),
    (StorageFault::ForeignSchema, "foreign-schema"),
    (StorageFault::Failed, "store-failed"),
];
const SIGNAL: &str = r#"{"session":"agent:a:x","kind":"created","actor":{"type":"system"}}"#;

fn storage(fault: StorageFault) -> Failure {
    Failure::Storage(StorageFailure { fault, message: "wait".to_string() })
}

/// What the host gives a core that words a failure.
fn no_transaction() -> Fake {
    Fake::broken(StorageFault::Failed)
}

/// Every failure with its code and word, and whether a recording answers it with an outcome.
fn failures() -> Vec<(Failure, i64, &'static str, bool)> {
    let mut all = vec![
        (Failure::Trap("unreachable in `record`".to_string()), -32000, "plugin-trap", true),
        (Failure::Timeout(250), -32000, "plugin-timeout", true),
        (Failure::Overloaded, -32000, "overloaded", true),
        (Failure::TooLong(1_048_576), -32600, "too-long", false),
        (Failure::TooMany(1_000), -32600, "too-many", false),
        (Failure::NotUtf8, -32700, "not-utf8", false),
        (Failure::Unavailable("needs --manual-clock".to_string()), -32601, "unavailable", false),
    ];
    all.extend(FAULTS.map(|(fault, word)| (storage(fault), -32000, word, true)));
    all
}

fn answer(request: &str, failure: Failure) -> Value {
    let response = failed(&mut no_transaction(), request, failure).expect("answered");
    serde_json::from_str(&response).expect("JSON")
}

#[test]
fn a_failure_is_worded_with_its_code_and_reason() {
    for (failure, code, reason, _) in failures() {
        let response = answer(&request("take", r#"{"watcher":"agent:a:main"}"#), failure);
        assert_eq!(response["id"], 1);
        assert_eq!(response["error"]["code"], code);
        assert_eq!(response["error"]["data"], json!({"reason": reason}));
    }
}

#[test]
fn a_failure_of_what_is_no_request_is_answered_with_a_null_id() {
    let deep = "[".repeat(5_000);
    for text in ["", "\0", "{", "[]", "1", r#"{"jsonrpc":"2.0"}"#, &deep] {
        let refused: Value = match call(&mut Fake::default(), text) {
            Err(Some(line)) => serde_json::from_str(&line).unwrap(),
            other => panic!("{text}: {other:?}"),
        };
        for (failure, code, reason, tried) in failures() {
            let response = answer(text, failure);
            assert_eq!(response["id"], Value::Null, "{text}");
            if tried {
                assert_eq!(response, refused, "{text}");
            } else {
                assert_eq!(response["error"]["code"], code);
                assert_eq!(response["error"]["data"]["reason"], reason);
            }
        }
    }
}

#[test]
fn a_call_that_needs_no_storage_failed_all_the_same() {
    for (method, params) in [
        ("tools", "{}"),
        ("clock", r#"{"now":1}"#),
        ("versions", r#"{"sessions":[]}"#),
        ("watch", r#"{"watcher":"agent:a:x","target":"agent:a:x"}"#),
        ("reset", r#"{"session":{"key":"global","agent":"a"}}"#),
    ] {
        let response = answer(&request(method, params), Failure::Overloaded);
        assert_eq!(response["error"]["data"]["reason"], "overloaded", "{method}");
    }
}

#[test]
fn what_an_agent_gets_wrong_is_a_result_whatever_else_failed() {
    let params = r#"{"name":"sessions_watch","arguments":{},"caller":"agent:a:main"}"#;
    let response = answer(&request("callTool", params), storage(StorageFault::Busy));
    assert_eq!(response["result"]["isError"], true);
    assert_eq!(response["result"]["structuredContent"]["error"]["field"], "sessionKey");
}

#[test]
fn a_request_that_was_not_even_tried_is_told_why_and_nothing_else() {
    for (failure, code, reason, tried) in failures() {
        if !tried {
            let response = answer(&request("clock", r#"{"now":-1}"#), failure);
            assert_eq!(response["error"]["code"], code);
            assert_eq!(response["error"]["data"]["reason"], reason);
        }
    }
}

#[test]
fn a_failure_of_a_request_without_an_id_is_not_answered() {
    let request = r#"{"jsonrpc":"2.0","method":"take","params":{"watcher":"agent:a:main"}}"#;
    for (failure, ..) in failures() {
        assert_eq!(failed(&mut no_transaction(), request, failure), None);
    }
}

#[test]
fn a_recording_that_the_store_or_the_core_failed_has_a_failed_outcome() {
    for (failure, _, reason, is_outcome) in failures() {
        let response = answer(&request("record", SIGNAL), failure);
        if is_outcome {
            let expected = json!({"outcome": "failed", "reason": reason});
            assert_eq!(response, json!({"jsonrpc": "2.0", "id": 1, "result": expected}));
        } else {
            assert_eq!(response["error"]["data"]["reason"], reason);
        }
    }
}

#[test]
fn a_failed_recording_of_many_has_one_failed_outcome_a_signal() {
    let params = format!(r#"{{"signals":[{SIGNAL},{SIGNAL}]}}"#);
    let response = answer(&request("recordMany", &params), Failure::Timeout(1));
    let one = json!({"outcome": "failed", "reason": "plugin-timeout"});
    assert_eq!(response["result"], json!({"outcomes": [one, one]}));
    let response = answer(&request("recordMany", r#"{"signals":[]}"#), Failure::Overloaded);
    assert_eq!(response["result"], json!({"outcomes": []}));
}

#[test]
fn bad_input_is_refused_whatever_else_failed() {
    for (method, params, field) in [
        ("acknowledge", "{}", "watcher"),
        ("callTool", "{}", "name"),
        ("clock", "{}", "now"),
        ("delete", "{}", "session"),
        ("drain", "{}", "watcher"),
        ("pending", r#"{"x":1}"#, "x"),
        ("recover", r#"{"x":1}"#, "x"),
        ("reset", "{}", "session"),
        ("status", "{}", "session"),
        ("take", r#"{"watcher":""}"#, "watcher"),
        ("tools", r#"{"x":1}"#, "x"),
        ("unwatch", "{}", "watcher"),
        ("versions", "{}", "sessions"),
        ("watch", "{}", "watcher"),
        ("watches", "{}", "watcher"),
        ("record", "{}", "kind"),
        ("recordMany", "{}", "signals"),
        ("recordMany", r#"{"signals":{}}"#, "signals"),
        ("recordMany", r#"{"signals":[1]}"#, "signals[0]"),
    ] {
        let response = answer(&request(method, params), storage(StorageFault::Busy));
        assert_eq!(response["error"]["code"], -32602, "{response}");
        assert_eq!(response["error"]["data"]["field"], field);
    }
}

#[test]
fn a_store_that_fails_a_recording_is_an_outcome_that_is_logged_and_rolled_back() {
    for (fault, word) in FAULTS {
        let mut ports = Fake::broken(fault);
        let line = call(&mut ports, &request("record", SIGNAL)).unwrap_err().unwrap();
        let response: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(response["result"], json!({"outcome": "failed", "reason": word}));
        let line = format!("nothing was recorded on agent:a:x ({word}): try again");
        assert_eq!(ports.logged, [line]);
    }
    let mut ports = Fake::broken(StorageFault::Full);
    let params = format!(r#"{{"signals":[{SIGNAL},{SIGNAL},{SIGNAL}]}}"#);
    let line = call(&mut ports, &request("recordMany", &params)).unwrap_err().unwrap();
    let response: Value = serde_json::from_str(&line).unwrap();
    assert_eq!(response["result"]["outcomes"].as_array().unwrap().len(), 3);
    assert_eq!(ports.logged.len(), 1);
    assert!(ports.logged[0].contains("agent:a:x and others (store-full)"), "{:?}", ports.logged);
}

#[test]
fn a_recording_that_failed_outside_the_core_is_logged_with_its_session_also_without_an_id() {
    for (failure, _, reason, is_outcome) in failures() {
        for envelope in [r#""id":1,"#, ""] {
            let mut ports = no_transaction();
            let request =
                format!(r#"{{"jsonrpc":"2.0",{envelope}"method":"record","params":{SIGNAL}}}"#);
            failed(&mut ports, &request, failure.clone());
            let expected = format!("nothing was recorded on agent:a:x ({reason}): ");
            assert_eq!(ports.logged.len(), usize::from(is_outcome));
            assert!(ports.logged.iter().all(|line| line.starts_with(&expected)));
        }
    }
    let mut ports = no_transaction();
    failed(&mut ports, &request("recordMany", r#"{"signals":[]}"#), Failure::Overloaded);
    assert!(ports.logged.is_empty(), "nothing was lost");
}

#[test]
fn a_store_that_fails_any_other_call_is_an_error() {
    let watcher = r#"{"watcher":"agent:a:main"}"#;
    let session = r#"{"session":"agent:a:x"}"#;
    for (method, params) in [
        ("watch", r#"{"watcher":"agent:a:main","target":"agent:a:x"}"#),
        ("unwatch", r#"{"watcher":"agent:a:main","target":"agent:a:x"}"#),
        ("watches", watcher),
        ("take", watcher),
        ("drain", watcher),
        ("pending", "{}"),
        ("status", session),
        ("status", r#"{"session":"agent:a:x","changesSince":0}"#),
        ("versions", r#"{"sessions":["agent:a:x"]}"#),
        ("reset", session),
        ("delete", session),
        ("recover", "{}"),
        ("callTool", r#"{"name":"sessions_list","caller":"agent:a:main"}"#),
    ] {
        let mut ports = Fake::broken(StorageFault::Busy);
        let line = call(&mut ports, &request(method, params)).expect_err(method).unwrap();
        let response: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(response["error"]["code"], -32000, "{method}");
        assert_eq!(response["error"]["data"]["reason"], "store-busy", "{method}");
    }
}
