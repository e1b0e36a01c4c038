//! `serve --stdio`: framing, order, batches, and what ends it.

use std::fmt::Write as _;
use std::fs;
use std::io::Read as _;

use serde_json::{Value, json};
use tempfile::tempdir;

use crate::binary::{Running, headsup, request, run_on, serve, text};

/// Serves an input on a scratch store.
fn answers(input: impl AsRef<[u8]> + Send) -> Vec<Value> {
    let ended = run_on(&mut headsup(["serve", "--stdio", "--db", ":memory:"]), input);
    assert_eq!((ended.status, ended.stderr.as_str()), (0, ""));
    ended.lines()
}

fn reason(response: &Value) -> &str {
    response["error"]["data"]["reason"].as_str().unwrap_or("no error")
}

fn watch(id: u64) -> Value {
    let params = json!({"watcher": "agent:main:main", "target": "agent:main:w"});
    request(id, "watch", &params)
}

fn goal(id: u64) -> Value {
    let params = json!({
        "session": "agent:main:w", "kind": "goal_changed", "change": "updated",
        "actor": {"type": "human"}, "watchers": ["agent:main:main"],
    });
    request(id, "record", &params)
}

/// The methods of notifications and the ids of responses, in order.
fn order(lines: &[Value]) -> Vec<String> {
    let name = |line: &Value| match line["method"].as_str() {
        Some(method) => method.to_owned(),
        None => line["id"].to_string(),
    };
    lines.iter().map(name).collect()
}

#[test]
fn responses_come_in_order_and_notifications_before_the_one_that_caused_them() {
    let input = format!("{}\n{}\n{}\n", watch(1), goal(2), request(3, "pending", &json!({})));
    assert_eq!(order(&answers(input)), ["1", "notice", "wake", "2", "3"]);
}

#[test]
fn a_request_without_an_id_is_done_and_not_answered() {
    let mut quiet = goal(0);
    quiet.as_object_mut().unwrap().remove("id");
    let input = format!("{}\n{quiet}\n{}\n", watch(1), request(2, "pending", &json!({})));
    let lines = answers(input);
    assert_eq!(order(&lines), ["1", "notice", "wake", "2"]);
    assert_eq!(lines[3]["result"]["watchers"][0]["notices"], 1);
}

#[test]
fn lines_may_end_with_a_carriage_return_be_blank_and_lack_the_last_end() {
    let pending = |id| request(id, "pending", &json!({}));
    let input = format!("\n\r\n  \t\n{}\r\n\n{}", pending(1), pending(2));
    assert_eq!(order(&answers(input)), ["1", "2"]);
    assert_eq!(answers(""), Vec::<Value>::new());
}

#[test]
fn no_input_however_bad_ends_it_or_gets_more_than_one_answer() {
    let deep = format!("{}{}", "[".repeat(5_000), "]".repeat(5_000));
    let long_name = json!({"session": "agent:main:w", "kind": "upstream_missing", "actor": {"type": "human"}, "catalog": "x".repeat(100_000)});
    let deep_params = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"take","params":{}1{}}}"#,
        "[".repeat(5_000),
        "]".repeat(5_000)
    );
    let bad: Vec<(Vec<u8>, &str)> = vec![
        (b"{".to_vec(), "malformed-json"),
        (b"}".to_vec(), "malformed-json"),
        (b"[".to_vec(), "malformed-json"),
        (b"[1,]".to_vec(), "malformed-json"),
        (b"nonsense".to_vec(), "malformed-json"),
        (b"\xff\xfe{}".to_vec(), "not-utf8"),
        (b"[\xff]".to_vec(), "not-utf8"),
        (vec![0; 100], "malformed-json"),
        (b"null".to_vec(), "invalid-request"),
        (b"7".to_vec(), "invalid-request"),
        (b"[]".to_vec(), "invalid-request"),
        (b"{}".to_vec(), "missing-field"),
        (deep_params.into_bytes(), "malformed-json"),
        (vec![b'x'; 5 << 20], "too-long"),
        (vec![b'['; 5 << 20], "too-long"),
        (request(1, "explode", &json!({})).to_string().into_bytes(), "unknown-method"),
        (request(1, "take", &json!([])).to_string().into_bytes(), "wrong-type"),
        (request(1, "take", &json!({"watcher": 1})).to_string().into_bytes(), "wrong-type"),
        (
            request(1, "take", &json!({"watcher": "x".repeat(100_000)})).to_string().into_bytes(),
            "too-long",
        ),
        (request(1, "record", &long_name).to_string().into_bytes(), "too-long"),
    ];
    let mut input = Vec::new();
    for (line, _) in &bad {
        input.extend_from_slice(line);
        input.push(b'\n');
    }
    input.extend_from_slice(deep.as_bytes());
    input.push(b'\n');
    input.extend_from_slice(format!("{}\n", request(99, "pending", &json!({}))).as_bytes());
    let lines = answers(input);
    assert_eq!(lines.len(), bad.len() + 2);
    for ((line, expected), response) in bad.iter().zip(&lines) {
        let line = String::from_utf8_lossy(&line[..line.len().min(60)]).into_owned();
        assert_eq!(reason(response), *expected, "{line}: {response}");
        assert!(
            response["error"]["message"].as_str().is_some_and(|text| !text.is_empty()),
            "{line}"
        );
    }
    // A list of one element that is no request.
    assert_eq!(lines[bad.len()].as_array().map(Vec::len), Some(1));
    assert_eq!(lines[bad.len() + 1]["result"], json!({"watchers": []}));
}

#[test]
fn a_batch_is_answered_in_order_as_one_list_on_one_line() {
    let batch = json!([watch(1), 7, goal(2), request(3, "pending", &json!({}))]);
    let lines = answers(format!("{batch}\n"));
    assert_eq!(order(&lines[..2]), ["notice", "wake"]);
    let responses = lines[2].as_array().unwrap();
    assert_eq!(order(responses), ["1", "null", "2", "3"]);
    assert_eq!(reason(&responses[1]), "invalid-request");
    assert_eq!(lines.len(), 3);
}

#[test]
fn each_element_of_a_batch_is_a_transaction_of_its_own() {
    let refused = request(2, "record", &json!({"session": "agent:main:w"}));
    let batch = json!([goal(1), refused, goal(3)]);
    let lines = answers(format!("{batch}\n"));
    let responses = lines.last().unwrap().as_array().unwrap();
    assert_eq!(responses[0]["result"]["stateVersion"], 1);
    assert_eq!(reason(&responses[1]), "missing-field");
    assert_eq!(responses[2]["result"]["stateVersion"], 2);
}

#[test]
fn a_batch_of_notifications_alone_is_not_answered() {
    let quiet = json!({"jsonrpc": "2.0", "method": "pending"});
    let lines =
        answers(format!("{}\n{}\n", json!([quiet, quiet]), request(1, "pending", &json!({}))));
    assert_eq!(order(&lines), ["1"]);
}

#[test]
fn a_batch_has_at_most_a_thousand_elements() {
    let pending = request(1, "pending", &json!({}));
    let batch = |count| Value::from(vec![pending.clone(); count]);
    let lines = answers(format!("{}\n{}\n", batch(1_000), batch(1_001)));
    assert_eq!(lines[0].as_array().map(Vec::len), Some(1_000));
    assert_eq!((reason(&lines[1]), lines.len()), ("too-many", 2));
}

#[test]
fn a_reader_that_has_gone_ends_it_quietly() {
    let mut running = Running::start(&mut headsup(["serve", "--stdio", "--db", ":memory:"]));
    running.send(&request(1, "pending", &json!({})));
    running.next();
    running.stdout = None;
    running.send(&request(2, "pending", &json!({})));
    let status = running.child.wait().unwrap();
    let mut said = String::new();
    running.child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert_eq!((status.code(), said.as_str()), (Some(0), ""));
}

#[test]
fn a_server_that_was_killed_recovers_and_tells_before_anybody_asks() {
    let folder = tempdir().unwrap();
    let db = folder.path().join("store.db");
    let serving = || headsup(["serve", "--stdio", "--db", text(&db)]);
    let mut first = Running::start(&mut serving());
    first.send(&watch(1));
    first.send(&goal(2));
    let told: Vec<Value> = (0..4).map(|_| first.next()).collect();
    first.child.kill().unwrap();
    first.child.wait().unwrap();
    let mut second = Running::start(&mut serving());
    assert_eq!(second.next(), told[1], "the same notice, word for word");
    assert_eq!(second.next()["method"], "wake");
}

#[test]
fn a_notice_that_stays_pending_wakes_again_without_being_asked() {
    let folder = tempdir().unwrap();
    let config = folder.path().join("headsup.toml");
    fs::write(&config, "[wakes]\nwindow_ms = 1\nrepeat_ms = 1000\n").unwrap();
    let arguments = ["serve", "--stdio", "--db", ":memory:", "--config", text(&config)];
    let mut running = Running::start(&mut headsup(arguments));
    running.send(&watch(1));
    running.send(&goal(2));
    let told: Vec<Value> = (0..4).map(|_| running.next()).collect();
    assert_eq!(order(&told), ["1", "notice", "wake", "2"]);
    assert_eq!(running.next(), told[2]);
}

#[test]
fn only_json_is_on_standard_output_and_the_log_on_standard_error() {
    let mut command = headsup(["serve", "--stdio", "--db", ":memory:", "--log", "trace"]);
    let ended = run_on(&mut command, format!("{}\n{}\n", watch(1), goal(2)));
    assert_eq!(ended.status, 0);
    assert_eq!(ended.lines().len(), 4);
}

#[test]
fn the_clock_stands_and_moves_only_if_it_is_manual() {
    let clock = |now: u64| request(now, "clock", &json!({ "now": now }));
    let input = format!("{}\n", clock(5));
    let lines = answers(&input);
    assert_eq!(reason(&lines[0]), "unavailable");
    let arguments = ["serve", "--stdio", "--db", ":memory:", "--manual-clock=1000"];
    let recorded = request(1, "status", &json!({"session": "agent:main:w", "changesSince": 0}));
    let input = format!("{}\n{recorded}\n{}\n{}\n{recorded}\n", goal(0), clock(9), goal(2));
    let lines = run_on(&mut headsup(arguments), input).lines();
    let times = |line: &Value| -> Vec<Value> {
        let events = line["result"]["stateChanges"]["events"].as_array().unwrap();
        events.iter().map(|event| event["occurredAt"].clone()).collect()
    };
    let status: Vec<&Value> =
        lines.iter().filter(|line| line["result"]["stateChanges"].is_object()).collect();
    assert_eq!(times(status[0]), [1000]);
    assert_eq!(times(status[1]), [1000, 9]);
}

#[test]
fn two_processes_share_a_store() {
    let folder = tempdir().unwrap();
    let db = folder.path().join("store.db");
    let mut one = Running::start(&mut headsup(["serve", "--stdio", "--db", text(&db)]));
    one.send(&watch(1));
    one.next();
    assert_eq!(order(&serve(&db, &[goal(2)])), ["notice", "wake", "2"]);
    one.send(&request(3, "take", &json!({"watcher": "agent:main:main"})));
    assert_eq!(one.next()["result"]["notices"][0]["upTo"], 1);
}

#[test]
fn many_lines_at_once_are_all_answered() {
    let mut input = String::new();
    for id in 0..2_000 {
        writeln!(input, "{}", goal(id)).unwrap();
    }
    let ids: Vec<String> =
        order(&answers(input)).into_iter().filter(|name| name.parse::<u64>().is_ok()).collect();
    assert_eq!(ids, (0..2_000).map(|id| id.to_string()).collect::<Vec<_>>());
}

#[test]
fn every_line_gets_exactly_one_response_whichever_of_its_bytes_is_changed() {
    let good = goal(1).to_string();
    let mut input = Vec::new();
    let mut sent = 0;
    for position in 0..good.len() {
        // A line end would make two lines of it.
        for byte in [0, b'"', b'[', b'{', b'9', 0x80, 0xff] {
            let mut line = good.clone().into_bytes();
            line[position] = byte;
            input.extend_from_slice(&line);
            input.push(b'\n');
            sent += 1;
        }
    }
    let lines = answers(input);
    let responses = lines.iter().filter(|line| line.get("method").is_none()).count();
    assert_eq!(responses, sent);
}
