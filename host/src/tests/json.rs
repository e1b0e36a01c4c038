//! The JSON surface, as far as the host has a part in it.

use serde_json::Value;

use super::{CHILD, Heard, MAIN, builder, open};

fn request(method: &str, params: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{params}}}"#)
}

fn reason(response: &str) -> String {
    let response: Value = serde_json::from_str(response).unwrap();
    response["error"]["data"]["reason"].as_str().unwrap_or_default().to_owned()
}

#[test]
fn notices_and_wakes_come_before_the_response_that_caused_them() {
    let (awareness, heard) = open();
    let watch = request("watch", &format!(r#"{{"watcher":"{MAIN}","target":"{CHILD}"}}"#));
    awareness.call(&watch).unwrap();
    let record = format!(
        r#"{{"session":"{CHILD}","kind":"goal_changed","actor":{{"type":"human"}},"change":"updated"}}"#
    );
    let response = awareness.call(&request("record", &record)).unwrap();
    assert!(response.contains(r#""outcome":"recorded""#), "{response}");
    assert_eq!(heard.take(), [format!("notice {MAIN} 0..1"), format!("wake {MAIN}")]);
}

#[test]
fn a_request_that_is_too_long_or_no_text_gets_one_error() {
    let awareness = builder(":memory:").request_limit(100).open().unwrap();
    let long = request("take", &format!(r#"{{"watcher":"{}"}}"#, "x".repeat(100)));
    assert_eq!(reason(&awareness.call(&long).unwrap()), "too-long");
    assert_eq!(reason(&awareness.call_bytes(long.as_bytes()).unwrap()), "too-long");
    assert_eq!(reason(&awareness.too_long().unwrap()), "too-long");
    assert_eq!(reason(&awareness.call_bytes(b"{\"id\":\xff}").unwrap()), "not-utf8");
}

#[test]
fn garbage_of_every_kind_gets_one_error_and_ends_nothing() {
    let (awareness, _) = open();
    let nested = "[".repeat(5_000);
    for garbage in ["", "null", "[]", "{", "\u{0}", "{}", "1", r#"{"method":"nothing"}"#, &nested] {
        let response = awareness.call(garbage).unwrap();
        assert!(response.contains(r#""error""#), "{garbage}: {response}");
    }
    assert!(awareness.call(&request("pending", "{}")).is_some());
}

#[test]
fn the_clock_moves_by_its_method_only_where_it_is_manual() {
    let (awareness, _) = open();
    let response = awareness.call(&request("clock", r#"{"now":5}"#)).unwrap();
    assert!(response.contains(r#""result":{"now":5}"#), "{response}");
    assert_eq!(awareness.now(), 5);
    let refused = awareness.call(&request("clock", r#"{"now":-1}"#)).unwrap();
    assert!(refused.contains(r#""error""#), "{refused}");
    assert_eq!(awareness.now(), 5);

    let notification = r#"{"jsonrpc":"2.0","method":"clock","params":{"now":7}}"#;
    assert_eq!(awareness.call(notification), None);
    assert_eq!(awareness.now(), 7);

    let system = crate::Awareness::builder(":memory:").plugin(super::CORE.clone());
    let system = system.open().unwrap();
    let response = system.call(&request("clock", r#"{"now":5}"#)).unwrap();
    assert!(response.contains(r#""error""#), "{response}");
}

#[test]
fn a_recording_that_the_store_fails_is_an_outcome_and_a_log_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let heard = Heard::default();
    let awareness = builder(&path)
        .busy_timeout(std::time::Duration::from_millis(400))
        .listener(heard.clone())
        .open()
        .unwrap();
    let other = rusqlite::Connection::open(&path).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let created =
        format!(r#"{{"session":"{CHILD}","kind":"created","actor":{{"type":"system"}}}}"#);
    let response = awareness.call(&request("record", &created)).unwrap();
    assert!(response.contains(r#""outcome":"failed""#), "{response}");
    assert!(response.contains(r#""reason":"store-busy""#), "{response}");
    let heard = heard.take();
    assert_eq!(heard.len(), 1);
    assert!(
        heard[0].starts_with(&format!("log nothing was recorded on {CHILD} (store-busy): ")),
        "{heard:?}"
    );
    let drain = awareness.call(&request("drain", &format!(r#"{{"watcher":"{MAIN}"}}"#))).unwrap();
    assert_eq!(reason(&drain), "store-busy");
}

#[test]
fn bad_input_is_refused_also_where_the_store_is_busy_and_nothing_is_logged_as_lost() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let heard = Heard::default();
    let awareness = builder(&path)
        .busy_timeout(std::time::Duration::from_millis(100))
        .listener(heard.clone())
        .open()
        .unwrap();
    let other = rusqlite::Connection::open(&path).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    for method in ["record", "recordMany", "watch", "unwatch", "acknowledge", "reset", "delete"] {
        let refused = awareness.call(&request(method, "{}")).unwrap();
        assert_eq!(reason(&refused), "missing-field", "{method}");
    }
    let tool = format!(r#"{{"name":"sessions_watch","arguments":{{}},"caller":"{MAIN}"}}"#);
    let refused = awareness.call(&request("callTool", &tool)).unwrap();
    assert!(refused.contains(r#""isError":true"#), "{refused}");
    assert_eq!(heard.take(), [""; 0]);
}
