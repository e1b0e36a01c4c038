//! What a core does wrong inside a call costs that call, and leaves the store as it was.

use headsup::{Error, Level, Recording};
use serde_json::json;

use crate::stage::{GOOD, HASTE, Stage, WATCHER, bad, reason, signal};

/// Recording fails with this reason, alone and in a list, typed and as JSON; nothing of it stays,
/// the log says so, and the next call works.
fn costs_its_own_call(word: &str, expected: &str) {
    let stage = if expected == "plugin-timeout" { Stage::hasty() } else { Stage::new() };
    let before = stage.rows();

    assert_eq!(reason(&stage.record(&bad(word))), expected);
    assert!(stage.heard.error(&["nothing was recorded", expected]), "{:?}", stage.heard.lines);
    assert_eq!(stage.rows(), before);
    stage.heard.forget();

    let both = stage.awareness.record_many(vec![signal(GOOD), signal(&bad(word))]).unwrap();
    assert_eq!(both.iter().map(reason).collect::<Vec<_>>(), [expected, expected]);
    assert!(stage.heard.error(&["nothing was recorded", expected]));
    assert_eq!(stage.rows(), before);
    stage.heard.forget();

    let params = json!({"session": bad(word), "kind": "goal_changed", "change": "updated", "actor": {"type": "human"}});
    let response = stage.call("record", &params);
    assert_eq!(response["result"], json!({"outcome": "failed", "reason": expected}));
    assert!(stage.heard.error(&["nothing was recorded", expected]));
    let response = stage.call("recordMany", &json!({"signals": [params, params]}));
    let failed = json!({"outcome": "failed", "reason": expected});
    assert_eq!(response["result"], json!({"outcomes": [failed, failed]}));
    assert_eq!(stage.rows(), before);

    assert!(stage.heard.notices.lock().unwrap().is_empty(), "a rolled-back call notifies nobody");
    stage.works();
}

/// A call that reads fails with this error; the next one works.
fn costs_its_own_read(word: &str, expected: &str) {
    let stage = if expected == "plugin-timeout" { Stage::hasty() } else { Stage::new() };
    let before = stage.rows();
    let error = stage.awareness.changes_since(bad(word), 0, None).unwrap_err();
    assert_eq!(error.reason(), expected, "{error}");
    let error = stage.awareness.take(&bad(word)).unwrap_err();
    assert_eq!(error.reason(), expected, "{error}");
    let response = stage.call("take", &json!({"watcher": bad(word)}));
    assert_eq!(response["error"]["code"], -32000);
    assert_eq!(response["error"]["data"]["reason"], expected);
    assert_eq!(stage.rows(), before);
    stage.works();
}

#[test]
fn a_core_that_panics_costs_its_call_a_trap() {
    costs_its_own_call("panic", "plugin-trap");
    costs_its_own_read("panic", "plugin-trap");
}

#[test]
fn a_core_that_loops_for_ever_costs_its_call_a_timeout() {
    costs_its_own_call("loop", "plugin-timeout");
    costs_its_own_read("loop", "plugin-timeout");
}

#[test]
fn a_core_that_calls_storage_for_ever_costs_its_call_a_timeout() {
    costs_its_own_call("store-loop", "plugin-timeout");
    costs_its_own_read("store-loop", "plugin-timeout");
}

#[test]
fn a_core_that_recurses_for_ever_costs_its_call_a_trap() {
    costs_its_own_call("recurse", "plugin-trap");
    costs_its_own_read("recurse", "plugin-trap");
}

#[test]
fn a_core_that_fills_its_own_stack_costs_its_call_a_trap() {
    costs_its_own_call("stack", "plugin-trap");
    costs_its_own_read("stack", "plugin-trap");
}

#[test]
fn a_core_that_eats_memory_costs_its_call_a_trap() {
    costs_its_own_call("memory-bomb", "plugin-trap");
    costs_its_own_read("memory-bomb", "plugin-trap");
}

#[test]
fn text_that_is_not_utf_8_costs_its_call_a_trap() {
    costs_its_own_call("abi-utf-eight", "plugin-trap");
    costs_its_own_read("abi-utf-eight", "plugin-trap");
}

#[test]
fn a_pointer_beyond_memory_costs_its_call_a_trap() {
    costs_its_own_call("abi-pointer", "plugin-trap");
    costs_its_own_read("abi-pointer", "plugin-trap");
}

#[test]
fn text_longer_than_memory_costs_its_call_a_trap() {
    costs_its_own_call("abi-length", "plugin-trap");
    costs_its_own_read("abi-length", "plugin-trap");
}

#[test]
fn a_list_larger_than_an_answer_may_be_costs_its_call_a_trap() {
    let stage = Stage::with(&crate::cores::hostile(), |builder| builder.memory_limit(256 << 20));
    let error = stage.awareness.take(&bad("abi-list")).unwrap_err();
    assert!(matches!(error, Error::Trap(_)), "{error:?}");
    stage.works();
}

#[test]
fn a_panic_is_told_with_its_message_and_its_function() {
    let stage = Stage::new();
    stage.record(&bad("panic"));
    assert!(stage.heard.error(&["nothing was recorded", "explode", "asked to panic, and did"]));

    let error = stage.awareness.take(&bad("panic")).unwrap_err().to_string();
    assert!(error.contains("explode") && error.contains("asked to panic, and did"), "{error}");

    let response = stage.call("take", &json!({"watcher": bad("panic")}));
    let message = response["error"]["message"].as_str().unwrap();
    assert!(
        message.contains("explode") && message.contains("asked to panic, and did"),
        "{message}"
    );
}

#[test]
fn the_deadline_is_named_in_words() {
    let stage = Stage::hasty();
    stage.record(&bad("loop"));
    assert!(stage.heard.error(&["nothing was recorded", "plugin-timeout", "500 ms"]));
    let error = stage.awareness.take(&bad("loop")).unwrap_err();
    assert!(matches!(error, Error::Timeout(500)), "{error:?}");
}

/// Deleting takes as long as the log is, and has a time of its own.
#[test]
fn what_takes_as_long_as_the_store_is_large_has_the_long_deadline_and_no_more() {
    let long = HASTE * 2;
    let stage = Stage::with(&crate::cores::hostile(), |it| it.deadline(HASTE).long_deadline(long));
    let before = stage.rows();
    let error = stage.awareness.delete(bad("loop")).unwrap_err();
    assert!(matches!(error, Error::Timeout(1_000)), "{error:?}");
    let response = stage.call("delete", &json!({"session": bad("loop")}));
    assert_eq!(response["error"]["data"]["reason"], "plugin-timeout");
    assert!(response["error"]["message"].as_str().unwrap().contains("1000 ms"), "{response}");
    let error = stage.awareness.take(&bad("loop")).unwrap_err();
    assert!(matches!(error, Error::Timeout(500)), "{error:?}");
    assert_eq!(stage.rows(), before);
    stage.works();
}

#[test]
fn other_calls_that_write_fail_and_are_undone_alike() {
    let stage = Stage::hasty();
    let before = stage.rows();
    let failures = [
        stage.awareness.watch(WATCHER, bad("panic"), false).unwrap_err(),
        stage.awareness.delete(bad("loop")).unwrap_err(),
        stage.awareness.drain(&bad("recurse")).unwrap_err(),
    ];
    let reasons = failures.map(|error| error.reason());
    assert_eq!(reasons, ["plugin-trap", "plugin-timeout", "plugin-trap"]);
    let params = json!({"watcher": WATCHER, "target": bad("panic")});
    let response = stage.call("watch", &params);
    assert_eq!(response["error"]["data"]["reason"], "plugin-trap");
    assert_eq!(stage.rows(), before);
    stage.works();
}

#[test]
fn a_cursor_that_breaks_the_protocol_is_refused_by_the_store_and_undoes_the_call() {
    for lie in ["lie-cursor", "lie-number"] {
        let stage = Stage::new();
        let before = stage.rows();
        // The core ignores the refusal and says that it recorded.
        assert_eq!(reason(&stage.record(&bad(lie))), "store-failed", "{lie}");
        assert!(stage.heard.error(&["nothing was recorded", "store-failed"]), "{lie}");
        assert_eq!(stage.rows(), before, "{lie}");
        stage.works();
    }
}

/// What a core answers is its own; what is stored is what it stored.
#[test]
fn a_core_that_lies_about_numbers_is_passed_on_and_harms_no_data() {
    let stage = Stage::new();
    for (at, (lie, told)) in [
        ("lie-recorded", Recording::Recorded(999_999)),
        ("lie-again", Recording::Recorded(1)),
        ("lie-duplicate", Recording::Duplicate(999_999)),
        ("lie-unwatched", Recording::Unwatched),
    ]
    .into_iter()
    .enumerate()
    {
        assert_eq!(stage.record(&bad(lie)), told);
        let number = 2 + 2 * u64::try_from(at).unwrap();
        assert_eq!(stage.awareness.versions([bad(lie)]).unwrap(), [Some(number)], "{lie}");
        let delta = stage.awareness.changes_since(bad(lie), 0, None).unwrap();
        let numbers: Vec<u64> = delta.events.iter().map(|event| event.sequence).collect();
        assert_eq!((numbers, delta.history_gap), (vec![number], false), "{lie}");
        stage.works();
    }
    stage.record(&bad("lie-back"));
    let before = stage.rows();
    for (lie, told) in [("lie-back", 0), ("lie-ahead", u64::MAX)] {
        assert_eq!(stage.awareness.versions([bad(lie)]).unwrap(), [Some(told)]);
        let delta = stage.awareness.changes_since(bad(lie), 0, None).unwrap();
        assert_eq!(delta.state_version, told);
        assert_eq!(stage.rows(), before, "{lie}");
    }
    stage.works();
    drop(stage.awareness);
    assert_eq!(harness::doctor(&stage.path).unwrap(), [""; 0]);
}

#[test]
fn a_core_that_writes_in_a_call_that_only_reads_writes_nothing() {
    let stage = Stage::new();
    let before = stage.rows();
    let error = stage.awareness.take(&bad("write")).unwrap_err();
    assert_eq!(error.reason(), "store-failed");
    let response = stage.call("take", &json!({"watcher": bad("write")}));
    assert_eq!(response["error"]["data"]["reason"], "store-failed");
    assert_eq!(stage.rows(), before);
    stage.works();
}

#[test]
fn the_same_holds_for_a_store_in_memory() {
    use crate::stage::{open, record};
    let memory = std::path::Path::new(":memory:");
    let hasty = |builder: headsup::Builder| builder.deadline(HASTE);
    let (awareness, heard) = open(memory, &crate::cores::hostile(), hasty);
    for (word, expected) in [("panic", "plugin-trap"), ("loop", "plugin-timeout")] {
        assert_eq!(reason(&record(&awareness, &bad(word))), expected);
        assert_eq!(awareness.take(&bad(word)).unwrap_err().reason(), expected);
        assert_eq!(awareness.versions([bad(word)]).unwrap(), [None]);
    }
    assert_eq!(record(&awareness, GOOD), Recording::Recorded(1));
    assert_eq!(heard.notices.lock().unwrap().len(), 1);
}

#[test]
fn what_a_core_logs_before_it_traps_reaches_the_log() {
    let stage = Stage::new();
    stage.record(&bad("panic"));
    let lines = stage.heard.lines.lock().unwrap();
    let said = |line: &&(Level, String)| line.1.starts_with("panicked at");
    assert_eq!(lines.iter().filter(said).count(), 1, "{lines:?}");
}
