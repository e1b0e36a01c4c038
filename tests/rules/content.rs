//! Message content stays out, whatever field somebody puts it into: each field of each method, one
//! after the other, holds a text that is found again wherever it went.

mod examples;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use harness::{Gateway, MAIN, MINUTE, NOON, News, WORKER};
use headsup::Awareness;
use rusqlite::Connection;
use serde_json::{Value, json};

use examples::examples;

/// What each method takes; see `every_field_of_every_method_has_its_turn`.
const DESCRIPTION: &str = include_str!("../../docs/openapi.json");

/// Ids are kept as they were given, if they are one word: to tell things apart is what they are for.
/// Who puts a message there has named something by it.
const IDS: [(&str, &str); 9] = [
    ("agent", "the agent of a bare key"),
    ("id", "who acted: an actor is not told of its own acts"),
    ("runId", "a run, which gateways look up"),
    ("sessionId", "an incarnation, which gateways look up"),
    ("dedupeKey", "compared with those of later signals"),
    ("operationId", "compared with those of later signals"),
    ("host", "a machine of a catalog, which gateways look up"),
    ("thread", "a thread of a source, which the gateway reads"),
    ("node", "a node of a source, which the gateway reads"),
];

/// Where a key of a session may stand: what tells it apart is kept, blanks included. An actor that is
/// an agent is named by its session's.
const KEYS: [&str; 8] =
    ["session", "target", "watcher", "watchers", "caller", "sessionKey", "key", "id"];

/// Names may have blanks, and are kept as ids are where they are short.
const NAMES: [(&str, &str); 3] = [
    ("key", "a session, which gateways and notices name by it"),
    ("channel", "where a message came from, which summaries say"),
    ("catalog", "where a session was adopted from, which summaries say"),
];

/// A text that nothing else has, by the number of its call.
fn mark(number: usize) -> String {
    format!("zq{number}qz")
}

/// The numbers of all marks in some bytes.
fn marks(bytes: &[u8]) -> BTreeSet<usize> {
    let mut found = BTreeSet::new();
    for at in 0..bytes.len().saturating_sub(1) {
        if !bytes[at..].starts_with(b"zq") {
            continue;
        }
        let digits = bytes[at + 2..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        let end = at + 2 + digits;
        if digits > 0 && bytes[end..].starts_with(b"qz") {
            found.insert(std::str::from_utf8(&bytes[at + 2..end]).unwrap().parse().unwrap());
        }
    }
    found
}

/// Every place in a value, the whole included.
fn places(value: &Value, place: &str, found: &mut Vec<String>) {
    found.push(place.to_owned());
    match value {
        Value::Object(fields) => {
            fields.iter().for_each(|(name, it)| places(it, &format!("{place}/{name}"), found));
        }
        Value::Array(all) => {
            all.iter().enumerate().for_each(|(at, it)| places(it, &format!("{place}/{at}"), found));
        }
        _ => {}
    }
}

/// The first three of [`SHAPES`].
const SENTENCE: usize = 0;
const WORD: usize = 1;
const KEY: usize = 2;

/// What is put into a place: a sentence, a word, a key, a long text, each kind of value that can hold one;
/// and beside what is in it already, as a field that nobody knows.
const SHAPES: [fn(&str, &Value) -> Option<Value>; 8] = [
    |mark, _| Some(json!(format!("{mark} says a person"))),
    |mark, _| Some(json!(mark)),
    |mark, _| Some(json!(format!("agent:main:{mark} says a person"))),
    |mark, _| Some(json!(format!("{mark} ").repeat(500))),
    |mark, _| Some(json!([format!("{mark} says a person")])),
    |mark, _| Some(json!({"text": format!("{mark} says"), format!("{mark} says"): 1})),
    |mark, old| {
        let mut fields = old.as_object()?.clone();
        fields.insert("text".into(), json!(format!("{mark} says a person")));
        Some(fields.into())
    },
    |mark, old| {
        let mut fields = old.as_object()?.clone();
        fields.insert(format!("{mark} says a person"), json!(1));
        Some(fields.into())
    },
];

/// What is fed is looked at only with the revision that holds now.
fn planned(gateway: &Gateway, params: &mut Value) {
    gateway.passes(MINUTE);
    let plans = gateway.answer("planUpstreams", &json!({}));
    let plan = plans["plans"].as_array().unwrap().iter().find(|it| it["session"]["key"] == WORKER);
    if let Some(plan) = plan {
        params["plan"]["revision"] = plan["revision"].clone();
    }
}

/// Where each mark stood: method, place, and in which of the shapes.
type Sent = BTreeMap<usize, (&'static str, String, usize)>;

/// Where marks were found, besides names that are kept.
#[derive(Default)]
struct Found {
    in_errors: BTreeSet<usize>,
    in_news: BTreeSet<usize>,
    calls_that_worked: usize,
    turns_that_were_fed: usize,
    log_lines: usize,
}

fn sweep(gateway: &Gateway) -> (Sent, Found) {
    let (mut sent, mut found) = (Sent::new(), Found::default());
    let mut number = 0;
    for which in 0..examples(0).len() {
        let (_, example) = &examples(0)[which];
        let mut all = Vec::new();
        places(example, "", &mut all);
        for place in all {
            for (shape, fill) in SHAPES.iter().enumerate() {
                number += 1;
                let (method, mut params) = examples(number).swap_remove(which);
                if method == "feedUpstream" {
                    planned(gateway, &mut params);
                }
                let spot = params.pointer_mut(&place).unwrap();
                let Some(filled) = fill(&mark(number), spot) else { continue };
                *spot = filled;
                sent.insert(number, (method, place.clone(), shape));
                let request =
                    json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
                let response = gateway.call(&request.to_string()).unwrap();
                let response: Value = serde_json::from_str(&response).unwrap();
                let error =
                    [response.get("error"), response.pointer("/result/structuredContent/error")];
                for error in error.into_iter().flatten() {
                    found.in_errors.extend(marks(error.to_string().as_bytes()));
                }
                let active = response.pointer("/result/finding") == Some(&json!("activity"));
                found.turns_that_were_fed += usize::from(active);
                found.calls_that_worked += usize::from(response.get("result").is_some());
                for news in gateway.news() {
                    let text = match &news {
                        News::Notice { watcher, notice } => format!("{watcher} {notice:?}"),
                        News::Wake(watcher) => watcher.clone(),
                        News::Log(_, line) => {
                            found.log_lines += 1;
                            line.clone()
                        }
                    };
                    found.in_news.extend(marks(text.as_bytes()));
                }
            }
        }
    }
    (sent, found)
}

/// Whether a mark may be kept: it stood alone in a field that is an id or a name, in a shape that is.
fn is_kept((_, place, shape): &(&str, String, usize)) -> bool {
    let of_a_list = |part: &&str| part.parse::<usize>().is_err();
    let field = place.rsplit('/').find(of_a_list).unwrap();
    let among = |fields: &[(&str, &str)]| fields.iter().any(|(name, _)| *name == field);
    match *shape {
        SENTENCE => among(&NAMES),
        KEY => among(&NAMES) || KEYS.contains(&field),
        WORD => among(&NAMES) || among(&IDS),
        _ => false,
    }
}

/// A file, its log and its shared memory.
fn bytes_of_store(path: &Path) -> Vec<u8> {
    let part = |end: &str| std::fs::read(format!("{}{end}", path.display())).unwrap_or_default();
    [part(""), part("-wal"), part("-shm")].concat()
}

fn gateway(path: &Path) -> Gateway {
    let gateway = Gateway::with(Awareness::builder(path).manual_clock(NOON));
    let node = json!({"kind": "claude-node", "node": "n1", "thread": "t1"});
    gateway.watches(MAIN, WORKER);
    let adoption = json!({"session": WORKER, "source": node, "catalog": "claude"});
    assert_eq!(gateway.answer("adopt", &adoption)["adopted"], true);
    gateway
}

#[test]
fn what_any_field_holds_is_in_no_error_log_notice_or_store_but_for_names() {
    let folder = tempfile::TempDir::new().unwrap();
    let path = folder.path().join("store.db");
    let gateway = gateway(&path);
    let (sent, found) = sweep(&gateway);
    assert!(
        found.calls_that_worked > 300 && found.turns_that_were_fed > 50,
        "hardly any call works"
    );
    assert_eq!(found.in_errors, BTreeSet::new(), "{:?}", shown(&sent, &found.in_errors));
    let mut kept = marks(&bytes_of_store(&path));
    drop(gateway);
    kept.extend(marks(&bytes_of_store(&path)));
    for (places, marks) in [("the store", &kept), ("a log or a notice", &found.in_news)] {
        let others: BTreeSet<usize> =
            marks.iter().copied().filter(|number| !is_kept(&sent[number])).collect();
        assert!(others.is_empty(), "in {places}: {:?}", shown(&sent, &others));
    }
    // What has to be found is: so the search finds it where it may not be.
    for (field, why) in IDS.iter().chain(&NAMES) {
        let ending = format!("/{field}");
        let in_field = |number: &usize| sent[number].1.ends_with(&ending);
        assert!(kept.iter().any(in_field), "{field} is not kept; is it {why}?");
    }
    assert!(!found.in_news.is_empty());
}

/// Where these marks stood.
fn shown<'a>(sent: &'a Sent, marks: &BTreeSet<usize>) -> Vec<&'a (&'static str, String, usize)> {
    marks.iter().map(|number| &sent[number]).collect()
}

#[test]
fn what_any_field_holds_is_in_no_log_where_the_store_fails() {
    let folder = tempfile::TempDir::new().unwrap();
    let path = folder.path().join("store.db");
    let gateway = gateway(&path);
    for table in ["session_state_events", "session_watch_cursors"] {
        let sql = format!(
            "CREATE TRIGGER broken_{table} BEFORE INSERT ON {table}
             BEGIN SELECT RAISE(ABORT, 'broken'); END"
        );
        Connection::open(&path).unwrap().execute_batch(&sql).unwrap();
    }
    let (sent, found) = sweep(&gateway);
    assert_eq!(found.in_errors, BTreeSet::new(), "{:?}", shown(&sent, &found.in_errors));
    let others: BTreeSet<usize> =
        found.in_news.iter().copied().filter(|number| !is_kept(&sent[number])).collect();
    assert!(others.is_empty(), "{:?}", shown(&sent, &others));
    assert!(found.log_lines > 100, "the store hardly failed");
}

/// A method or a field that is new is missing here until it is swept, too.
#[test]
fn every_field_of_every_method_has_its_turn() {
    let description: Value = serde_json::from_str(DESCRIPTION).unwrap();
    let schemas = description["components"]["schemas"].as_object().unwrap();
    let mut swept: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for (method, params) in examples(0) {
        let mut all = Vec::new();
        places(&params, "", &mut all);
        let fields = all.iter().filter_map(|place| place.rsplit('/').next());
        swept.entry(method).or_default().extend(fields.map(str::to_owned));
    }
    for (name, schema) in schemas {
        let Some(method) = name.strip_suffix(".params") else { continue };
        let mut fields = BTreeSet::new();
        properties(schemas, schema, &mut fields);
        let swept = swept.get(method).unwrap_or_else(|| panic!("{method} is not swept"));
        let missing: Vec<&String> = fields.difference(swept).collect();
        assert!(missing.is_empty(), "{method} has fields that are not swept: {missing:?}");
    }
    let gateway = Gateway::open();
    for tool in gateway.answer("tools", &json!({}))["tools"].as_array().unwrap() {
        let mut fields = BTreeSet::new();
        properties(schemas, &tool["inputSchema"], &mut fields);
        let missing: Vec<&String> = fields.difference(&swept["callTool"]).collect();
        assert!(missing.is_empty(), "{} has fields that are not swept: {missing:?}", tool["name"]);
    }
}

/// The names of all fields that a schema lists, at any depth.
fn properties(
    schemas: &serde_json::Map<String, Value>,
    schema: &Value,
    found: &mut BTreeSet<String>,
) {
    match schema {
        Value::Object(fields) => {
            for (name, value) in fields {
                match (name.as_str(), value) {
                    ("$ref", Value::String(target)) => {
                        let target = target.rsplit('/').next().unwrap();
                        properties(schemas, &schemas[target], found);
                    }
                    ("properties", Value::Object(listed)) => {
                        found.extend(listed.keys().cloned());
                        listed.values().for_each(|it| properties(schemas, it, found));
                    }
                    ("description", _) => {}
                    _ => properties(schemas, value, found),
                }
            }
        }
        Value::Array(all) => all.iter().for_each(|it| properties(schemas, it, found)),
        _ => {}
    }
}
