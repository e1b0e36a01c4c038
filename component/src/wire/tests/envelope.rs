use serde_json::{Value, json};

use super::{Fake, refused, respond};
use crate::wire::call;

#[test]
fn malformed_json_is_refused_with_a_null_id() {
    let deep = |open: &str, close: &str| open.repeat(5_000) + &close.repeat(5_000);
    for text in [
        String::new(),
        " ".to_string(),
        "\u{feff}{}".to_string(),
        "{".to_string(),
        r#"{"jsonrpc":"2.0","id":1,"method":"pending""#.to_string(),
        r#"{"jsonrpc":"2.0","id":1,"method":"pending"} {}"#.to_string(),
        r#"{"jsonrpc":"2.0","id":1,"method":"pending",}"#.to_string(),
        r#"{'jsonrpc':"2.0"}"#.to_string(),
        r#"{"jsonrpc":"2.0","id":01,"method":"pending"}"#.to_string(),
        r#"{"jsonrpc":"2.0","id":NaN,"method":"pending"}"#.to_string(),
        "{\"jsonrpc\":\"2.0\",\"id\":\"a\nb\",\"method\":\"pending\"}".to_string(),
        r#"{"jsonrpc":"2.0","id":"\ud800","method":"pending"}"#.to_string(),
        r#"{"jsonrpc":"2.0","id":"\udc00\ud800","method":"pending"}"#.to_string(),
        r#"{"jsonrpc":"2.0","id":"\ud800\u0041","method":"pending"}"#.to_string(),
        r#"{"jsonrpc":"2.0","id":"\x41","method":"pending"}"#.to_string(),
        "\0".to_string(),
        deep("[", "]"),
        deep(r#"{"a":"#, "}"),
        "[".repeat(5_000),
        super::request("status", &format!(r#"{{"session":{}}}"#, deep("[", "]"))),
    ] {
        refused(&text, -32700, "malformed-json", None);
        assert_eq!(respond(&text).0["id"], Value::Null);
    }
}

#[test]
fn what_is_no_object_is_no_request() {
    for text in ["[]", "null", "1", "true", r#""record""#, "[[]]", "1e400"] {
        refused(text, -32600, "invalid-request", None);
    }
}

#[test]
fn the_envelope_is_checked_whole() {
    for (text, reason, field) in [
        (r#"{"id":1,"method":"pending"}"#, "missing-field", "jsonrpc"),
        (r#"{"jsonrpc":2.0,"id":1,"method":"pending"}"#, "wrong-type", "jsonrpc"),
        (r#"{"jsonrpc":"1.0","id":1,"method":"pending"}"#, "unknown-value", "jsonrpc"),
        (r#"{"jsonrpc":"2.0","id":1}"#, "missing-field", "method"),
        (r#"{"jsonrpc":"2.0","id":1,"method":null}"#, "wrong-type", "method"),
        (r#"{"jsonrpc":"2.0","id":1,"method":["pending"]}"#, "wrong-type", "method"),
        (r#"{"jsonrpc":"2.0","id":1,"method":"pending","more":1}"#, "unknown-field", "more"),
        (r#"{"jsonrpc":"2.0","id":1.5,"method":"pending"}"#, "wrong-type", "id"),
        (r#"{"jsonrpc":"2.0","id":1e400,"method":"pending"}"#, "wrong-type", "id"),
        (r#"{"jsonrpc":"2.0","id":true,"method":"pending"}"#, "wrong-type", "id"),
        (r#"{"jsonrpc":"2.0","id":{},"method":"pending"}"#, "wrong-type", "id"),
        (r#"{"jsonrpc":"2.0","id":[1],"method":"pending"}"#, "wrong-type", "id"),
    ] {
        refused(text, -32600, reason, Some(field));
    }
}

#[test]
fn an_invalid_request_is_answered_with_its_id_if_that_is_valid() {
    let id = |text: &str| respond(text).0["id"].clone();
    assert_eq!(id(r#"{"id":7,"method":"pending"}"#), json!(7));
    assert_eq!(id(r#"{"method":"pending"}"#), Value::Null);
    assert_eq!(id(r#"{"jsonrpc":"2.0","id":[7],"method":"pending"}"#), Value::Null);
}

#[test]
fn an_id_comes_back_as_it_was_written() {
    for id in [
        "null",
        "0",
        "-9223372036854775808",
        "18446744073709551615",
        "123456789012345678901234567890",
        r#""""#,
        r#""a\"\\\n\u0085\u2028\ud83d\ude00""#,
    ] {
        let request = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"pending"}}"#);
        let line = call(&mut Fake::default(), &request).unwrap().unwrap();
        let prefix = r#"{"jsonrpc":"2.0","id":"#;
        let rest = line.strip_prefix(prefix).unwrap();
        let (given, _) = rest.split_once(r#","result""#).unwrap();
        if id.starts_with('"') {
            let text = |json: &str| serde_json::from_str::<String>(json).unwrap();
            assert_eq!(text(given), text(id));
            assert!(!given.contains(['\u{85}', '\u{2028}']), "line separators are escaped");
        } else {
            assert_eq!(given, id);
        }
    }
}

#[test]
fn a_request_without_an_id_is_carried_out_and_not_answered() {
    let mut ports = Fake::default();
    let request = r#"{"jsonrpc":"2.0","method":"watch","params":{"watcher":"agent:a:main","target":"agent:b:main"}}"#;
    assert_eq!(call(&mut ports, request), Ok(None));
    assert!(ports.calls > 0);
    for failing in [
        r#"{"jsonrpc":"2.0","method":"nothing"}"#,
        r#"{"jsonrpc":"2.0","method":"watch","params":[]}"#,
        r#"{"jsonrpc":"2.0","method":"watch","params":{}}"#,
    ] {
        assert_eq!(call(&mut Fake::default(), failing), Err(None));
    }
}

#[test]
fn a_method_that_does_not_exist_is_unknown_whatever_its_params() {
    for method in ["", "Record", "record ", "Adopt", "upstreams", "rpc.discover"] {
        for params in ["{}", "[]", "null"] {
            refused(&super::request(method, params), -32601, "unknown-method", None);
        }
    }
    let long = "x".repeat(100_000);
    refused(&super::request(&long, "{}"), -32601, "unknown-method", None);
}

#[test]
fn params_are_an_object_or_absent() {
    for params in ["[]", "null", "1", r#""{}""#, "true"] {
        refused(&super::request("pending", params), -32602, "wrong-type", Some("params"));
    }
    let (response, kept) = respond(r#"{"jsonrpc":"2.0","id":1,"method":"pending"}"#);
    assert_eq!(response, json!({"jsonrpc": "2.0", "id": 1, "result": {"watchers": []}}));
    assert!(kept);
}

#[test]
fn of_duplicate_members_the_last_counts() {
    let request =
        r#"{"jsonrpc":"1.0","id":1,"id":2,"method":"x","jsonrpc":"2.0","method":"pending"}"#;
    let (response, _) = respond(request);
    assert_eq!(response["id"], 2);
    assert_eq!(response["result"], json!({"watchers": []}));
}
