//! That the runner can fail: a story that the component tells rightly is changed in one place at a
//! time, and each change must be reported, at its line and with its rule.

use headsup::Plugin;
use headsup::conformance::{self, ConformanceError, Difference, Report};
use serde_json::{Value, json};

use crate::built_in;

/// One step of each kind: the rule, what is sent, and what must come back.
fn story() -> Vec<Value> {
    let error = |id: Value, code: i64, data: Value| json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "data": data}});
    let text = r#"Session "agent:main:a" was changed by someone else. Catch up before acting: session_status {"sessionKey":"agent:main:a","changesSince":0}"#;
    let notice = json!({"jsonrpc": "2.0", "method": "notice", "params": {
        "watcher": "agent:main:main", "target": "agent:main:a", "agent": "main", "since": 0, "upTo": 1, "text": text,
    }});
    let goal = json!({"session": "agent:main:a", "kind": "goal_changed", "change": "updated", "actor": {"type": "human"}});
    vec![
        json!({"name": "a result",
            "send": {"jsonrpc": "2.0", "id": 1, "method": "watch", "params": {"watcher": "agent:main:main", "target": "agent:main:a"}},
            "expect": [{"jsonrpc": "2.0", "id": 1, "result": {"watched": true}}]}),
        json!({"name": "notifications before a result",
            "send": {"jsonrpc": "2.0", "id": "two", "method": "record", "params": goal},
            "expect": [notice, {"jsonrpc": "2.0", "method": "wake", "params": {"watcher": "agent:main:main"}},
                {"jsonrpc": "2.0", "id": "two", "result": {"outcome": "recorded", "stateVersion": 1}}]}),
        json!({"name": "an error",
            "send": {"jsonrpc": "2.0", "id": null, "method": "status", "params": {"session": "agent:main:a", "changesSince": -1}},
            "expect": [error(Value::Null, -32602, json!({"reason": "invalid-version", "field": "changesSince"}))]}),
        json!({"name": "a text that is not JSON", "send": "{",
            "expect": [error(Value::Null, -32700, json!({"reason": "malformed-json"}))]}),
        json!({"name": "a batch",
            "send": [{"jsonrpc": "2.0", "id": 5, "method": "versions", "params": {"sessions": ["agent:main:a", "agent:main:b"]}}, 7],
            "expect": [[{"jsonrpc": "2.0", "id": 5, "result": {"versions": [1, null]}}, error(Value::Null, -32600, json!({"reason": "invalid-request"}))]]}),
        json!({"name": "no answer", "send": {"jsonrpc": "2.0", "method": "pending"}, "expect": []}),
        json!({"name": "a timer", "send": {"jsonrpc": "2.0", "id": 7, "method": "clock", "params": {"now": 900_000}},
            "expect": [{"jsonrpc": "2.0", "method": "wake", "params": {"watcher": "agent:main:main"}}, {"jsonrpc": "2.0", "id": 7, "result": {"now": 900_000}}]}),
    ]
}

/// Runs a story, which begins at line 2.
fn run(plugin: &Plugin, story: &[Value]) -> Report {
    let mut text = String::from("# A comment, then a step a line\n");
    for step in story {
        text.push_str(&step.to_string());
        text.push('\n');
    }
    let mut report = Report::default();
    conformance::check_file(plugin, "story.jsonl", &text, &mut report).unwrap();
    report
}

/// Runs the story with one step changed: the change must be all that is reported.
fn reported(plugin: &Plugin, index: usize, change: impl FnOnce(&mut Value)) -> Difference {
    let mut changed = story();
    change(&mut changed[index]);
    let report = run(plugin, &changed);
    let step = &changed[index];
    let [difference] = &report.differences[..] else { panic!("not noticed: {step}") };
    assert_eq!(difference.line, index + 2, "{difference} for {step}");
    assert_eq!(difference.rule, step["name"], "{difference} for {step}");
    assert_eq!(report.passed, index, "{difference} for {step}");
    assert!(!report.conforms());
    difference.clone()
}

#[test]
fn the_story_is_told_rightly_before_it_is_changed() {
    let report = run(&built_in(), &story());
    assert!(report.conforms(), "{:?}", report.differences);
    assert_eq!((report.files, report.passed), (1, story().len()));
}

#[test]
fn every_single_value_that_is_wrong_is_reported() {
    let plugin = built_in();
    for (index, step) in story().iter().enumerate() {
        for pointer in leaves(&step["expect"], "/expect") {
            let difference = reported(&plugin, index, |step| {
                let value = step.pointer_mut(&pointer).expect("a leaf of this step");
                *value = another(value);
            });
            let name = pointer.rsplit('/').next().unwrap_or_default();
            let named = difference.detail.contains(name) || name.parse::<usize>().is_ok();
            assert!(named, "{pointer}: {difference}");
        }
    }
}

#[test]
fn every_member_that_is_missing_or_too_much_is_reported() {
    let plugin = built_in();
    for (index, step) in story().iter().enumerate() {
        for pointer in leaves(&step["expect"], "/expect") {
            let (above, name) = pointer.rsplit_once('/').expect("it begins with a slash");
            if name.parse::<usize>().is_ok() {
                continue;
            }
            reported(&plugin, index, |step| {
                let members = step.pointer_mut(above).and_then(Value::as_object_mut);
                members.expect("an object has this member").remove(name);
            });
            reported(&plugin, index, |step| {
                step.pointer_mut(above).expect("an object")["surplus"] = json!(1);
            });
        }
    }
}

#[test]
fn every_line_that_is_missing_too_much_or_out_of_order_is_reported() {
    let plugin = built_in();
    for (index, step) in story().iter().enumerate() {
        let lines = step["expect"].as_array().expect("a list").len();
        for line in 0..lines {
            reported(&plugin, index, |step| {
                list(step, "/expect").remove(line);
            });
        }
        reported(&plugin, index, |step| list(step, "/expect").push(json!({})));
        if lines > 1 {
            reported(&plugin, index, |step| list(step, "/expect").reverse());
        }
    }
    let batch = story().iter().position(|step| step["name"] == "a batch").expect("there is one");
    reported(&plugin, batch, |step| list(step, "/expect/0").reverse());
    reported(&plugin, batch, |step| list(step, "/expect/0").truncate(1));
    reported(&plugin, batch, |step| {
        let elements = step["expect"][0].clone();
        step["expect"] = elements;
    });
}

#[test]
fn the_message_of_an_error_may_be_left_out_and_is_compared_where_it_is_not() {
    let plugin = built_in();
    let index = story().iter().position(|step| step["name"] == "an error").expect("there is one");
    let mut given = story();
    given[index]["expect"][0]["error"]["message"] =
        json!("changesSince: a version is a JSON integer from 0 to 9007199254740991");
    assert!(run(&plugin, &given).conforms());
    reported(&plugin, index, |step| step["expect"][0]["error"]["message"] = json!("another"));
}

#[test]
fn a_step_that_is_sent_wrongly_is_reported() {
    let plugin = built_in();
    reported(&plugin, 0, |step| step["send"]["params"]["watcher"] = json!("global"));
    reported(&plugin, 1, |step| step["send"]["params"]["kind"] = json!("created"));
    reported(&plugin, 5, |step| step["send"]["id"] = json!(6));
}

#[test]
fn what_is_no_vector_is_an_error_that_names_its_line() {
    let mut report = Report::default();
    let text = "\n# fine\n{\"send\": 1}\n";
    let error = conformance::check_file(&built_in(), "f.jsonl", text, &mut report).unwrap_err();
    assert!(matches!(&error, ConformanceError::Vector { line: 3, .. }), "{error}");
}

/// Pointers to everything that is neither an object nor a list.
fn leaves(value: &Value, pointer: &str) -> Vec<String> {
    match value {
        Value::Object(members) => members
            .iter()
            .flat_map(|(name, value)| leaves(value, &format!("{pointer}/{name}")))
            .collect(),
        Value::Array(elements) => elements
            .iter()
            .enumerate()
            .flat_map(|(index, value)| leaves(value, &format!("{pointer}/{index}")))
            .collect(),
        _ => vec![pointer.to_owned()],
    }
}

/// A value of the same kind that is not the same; for null, one of another kind.
fn another(value: &Value) -> Value {
    match value {
        Value::Bool(flag) => json!(!flag),
        Value::Number(number) => json!(number.as_i64().expect("an integer") + 1),
        Value::String(text) => json!(format!("{text}.")),
        _ => json!(0),
    }
}

fn list<'a>(step: &'a mut Value, pointer: &str) -> &'a mut Vec<Value> {
    step.pointer_mut(pointer).and_then(Value::as_array_mut).expect("a list")
}
