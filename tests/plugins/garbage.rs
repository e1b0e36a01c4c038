//! What `wire.call` returns is a response on one line, or the call counts as trapped.

use serde_json::json;

use crate::stage::{Stage, WATCHER, bad};

const GARBAGE: [&str; 7] = [
    "garbage-silence",
    "garbage-empty",
    "garbage-text",
    "garbage-half",
    "garbage-list",
    "garbage-lines",
    "garbage-huge",
];

#[test]
fn a_response_that_is_none_costs_its_call_a_trap_and_is_undone() {
    let stage = Stage::with(&crate::cores::hostile(), |builder| builder.memory_limit(256 << 20));
    let before = stage.rows();
    for word in GARBAGE {
        let signal = json!({"session": bad(word), "kind": "created", "actor": {"type": "human"}});
        let response = stage.call("record", &signal);
        let failed = json!({"outcome": "failed", "reason": "plugin-trap"});
        assert_eq!(response["result"], failed, "{word}");
        assert!(stage.heard.error(&["nothing was recorded", "plugin-trap"]), "{word}");
        stage.heard.forget();

        let response = stage.call("recordMany", &json!({"signals": [signal]}));
        assert_eq!(response["result"], json!({"outcomes": [failed]}), "{word}");

        let response = stage.call("watch", &json!({"watcher": WATCHER, "target": bad(word)}));
        assert_eq!(response["error"]["code"], -32000, "{word}");
        assert_eq!(response["error"]["data"]["reason"], "plugin-trap", "{word}");

        let response = stage.call("take", &json!({"watcher": bad(word)}));
        assert_eq!(response["error"]["data"]["reason"], "plugin-trap", "{word}");
        assert_eq!(stage.rows(), before, "{word}");
    }
    stage.works();
}

#[test]
fn a_response_may_have_64_mib_and_not_a_byte_more() {
    let stage = Stage::with(&crate::cores::hostile(), |builder| builder.memory_limit(256 << 20));
    let response = stage.call("take", &json!({"watcher": bad("long")}));
    assert!(response["result"].as_str().is_some_and(|result| result.len() > 60_000_000));
    let response = stage.call("take", &json!({"watcher": bad("garbage-huge")}));
    assert_eq!(response["error"]["data"]["reason"], "plugin-trap");
    stage.works();
}

#[test]
fn silence_is_the_right_answer_to_a_request_without_an_id() {
    let stage = Stage::new();
    let params = json!({"watcher": bad("garbage-silence")});
    let request = json!({"jsonrpc": "2.0", "method": "take", "params": params});
    assert_eq!(stage.awareness.call(&request.to_string()), None);
    assert!(stage.heard.lines.lock().unwrap().is_empty());
}

#[test]
fn a_core_that_also_fails_to_word_the_failure_is_worded_for() {
    let stage = Stage::hasty();
    let before = stage.rows();
    for (word, reason) in [("panic-twice", "plugin-trap"), ("loop-twice", "plugin-timeout")] {
        let response = stage.call("take", &json!({"watcher": bad(word)}));
        assert_eq!(response["error"]["data"]["reason"], reason);
        let signal = json!({"session": bad(word), "kind": "created", "actor": {"type": "human"}});
        let response = stage.call("record", &signal);
        assert_eq!(response["result"], json!({"outcome": "failed", "reason": reason}));
    }
    assert_eq!(stage.rows(), before);
    stage.works();
}

#[test]
fn a_core_that_fails_when_asked_what_a_request_needs_costs_that_request() {
    let stage = Stage::hasty();
    let before = stage.rows();
    for (word, reason) in
        [("panic-when-asked", "plugin-trap"), ("loop-when-asked", "plugin-timeout")]
    {
        let arguments = json!({"sessionKey": bad(word)});
        let params = json!({"name": "sessions_watch", "arguments": arguments, "caller": WATCHER});
        let response = stage.call("callTool", &params);
        assert_eq!(response["error"]["data"]["reason"], reason);
    }
    assert_eq!(stage.rows(), before);
    stage.works();
}
