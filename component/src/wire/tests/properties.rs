use proptest::prelude::*;
use serde_json::{Map, Value};

use super::Fake;
use crate::contract::{
    Errand, ErrandDone, Failure, FileFound, Found, StorageFailure, StorageFault, Tally,
};
use crate::wire::methods::METHODS;
use crate::wire::{call, errand, failed, respond, writes};

/// Any JSON, with the words of the surface among its names and texts.
fn any_json() -> impl Strategy<Value = Value> {
    let words = prop::sample::select(vec![
        "agent:a:x",
        "agent:b:main",
        "global",
        "created",
        "goal_changed",
        "run_failed",
        "human",
        "sessions_watch",
        "session_status",
        "2.0",
        "cleared",
        "timeout",
    ]);
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        (0_u64..5).prop_map(Value::from),
        words.prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec((any_name(), inner), 0..7)
                .prop_map(|members| Value::Object(members.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

fn any_name() -> impl Strategy<Value = String> {
    let names = vec![
        "session",
        "kind",
        "actor",
        "type",
        "id",
        "key",
        "agent",
        "watcher",
        "target",
        "watchers",
        "signals",
        "sessions",
        "notices",
        "since",
        "upTo",
        "changesSince",
        "limit",
        "name",
        "arguments",
        "caller",
        "sessionKey",
        "runId",
        "change",
        "outcome",
        "now",
        "ambient",
    ];
    prop_oneof![
        9 => prop::sample::select(names).prop_map(ToString::to_string),
        1 => any::<String>(),
    ]
}

fn any_request() -> impl Strategy<Value = String> {
    let method = prop::sample::select(METHODS.map(|(_, name, _)| name).to_vec());
    prop_oneof![
        1 => any::<String>(),
        1 => any_json().prop_map(|json| json.to_string()),
        8 => (method, any_json()).prop_map(|(method, params)| {
            serde_json::json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params})
                .to_string()
        }),
    ]
}

/// Answers a request as a host does: what it has to do first goes well, and finds an empty file.
fn asked_by_a_host(ports: &mut Fake, request: &str) -> Result<Option<String>, Option<String>> {
    let done = match errand(request) {
        Ok(Errand::MoveClock(_)) => ErrandDone::ClockMoved,
        Ok(Errand::ReadSource(path)) => {
            ErrandDone::SourceRead(path.map(|_| Found::File(an_empty_file())))
        }
        Ok(Errand::CheckUpstreams) => {
            let none = Tally { checked: 0, activity: 0, missing: 0, failed: 0 };
            ErrandDone::UpstreamsChecked(none)
        }
        Err(_) => return call(ports, request),
    };
    respond(ports, request, &done)
}

fn an_empty_file() -> FileFound {
    FileFound {
        identity: String::new(),
        stamp: None,
        size: 0,
        modified_at: 0,
        head: Vec::new(),
        start: 0,
        bytes: Vec::new(),
    }
}

/// Asserts that a line is one response of JSON-RPC 2.0.
fn is_response(line: &str) -> Result<(), TestCaseError> {
    prop_assert!(!line.contains(['\n', '\r', '\u{85}', '\u{2028}', '\u{2029}']), "{line}");
    let response: Value = serde_json::from_str(line).expect("JSON");
    let members = response.as_object().expect("an object");
    prop_assert_eq!(&response["jsonrpc"], "2.0");
    prop_assert!(members.contains_key("id"));
    prop_assert_eq!(members.len(), 3);
    if let Some(error) = members.get("error") {
        prop_assert!(error["code"].as_i64().is_some_and(|code| code < 0));
        prop_assert!(error["message"].as_str().is_some_and(|text| !text.is_empty()));
        prop_assert!(error["data"]["reason"].is_string());
    } else {
        prop_assert!(members["result"].is_object());
    }
    Ok(())
}

proptest! {
    #[test]
    fn any_request_has_exactly_one_response(request in any_request()) {
        for mut ports in [Fake::default(), Fake::broken(StorageFault::Failed)] {
            let line = match asked_by_a_host(&mut ports, &request) {
                Ok(line) | Err(line) => line,
            };
            is_response(&line.expect("these requests have an id or are none"))?;
        }
        let _ = writes(&request);
    }

    #[test]
    fn any_failure_of_any_request_has_exactly_one_response(
        request in any_request(),
        why in any::<String>(),
        limit in any::<u64>(),
    ) {
        for failure in [
            Failure::Trap(why.clone()),
            Failure::Unavailable(why),
            Failure::TooLong(limit),
            Failure::TooMany(1_000),
            Failure::NotUtf8,
            Failure::Overloaded,
        ] {
            let mut none = Fake::broken(StorageFault::Failed);
            is_response(&failed(&mut none, &request, failure).expect("answered"))?;
        }
    }

    #[test]
    fn a_store_that_fails_before_the_call_is_answered_as_one_that_fails_in_it(
        request in any_request(),
    ) {
        let fault = StorageFault::Busy;
        let Err(inside) = asked_by_a_host(&mut Fake::broken(fault), &request) else {
            return Ok(());
        };
        let failure = StorageFailure { fault, message: "try again".to_string() };
        let mut none = Fake::broken(StorageFault::Failed);
        prop_assert_eq!(failed(&mut none, &request, Failure::Storage(failure)), inside);
    }

    #[test]
    fn a_cut_or_spoilt_request_is_still_answered(
        at in 0_usize..200,
        byte in any::<char>(),
    ) {
        let request = super::request(
            "record",
            r#"{"session":"agent:a:x","kind":"goal_changed","actor":{"type":"human","id":"ü"},"change":"created"}"#,
        );
        let cut: String = request.chars().take(at).collect();
        let spoilt: String =
            request.chars().enumerate().map(|(i, c)| if i == at { byte } else { c }).collect();
        for text in [cut, spoilt] {
            if let Ok(Some(line)) | Err(Some(line)) = call(&mut Fake::default(), &text) {
                is_response(&line)?;
            }
        }
    }
}
