//! That the vectors leave nothing out: every method, outcome, notification, reason and word that the
//! component can say occurs in one of them. What there is comes from the component and the contract
//! themselves, so that a new word without a vector fails here.

use std::collections::BTreeSet;
use std::rc::Rc;

use headsup_component::contract::Kind;
use headsup_component::wire;
use serde_json::Value;

use crate::vectors::{Step, response, steps};

/// The contract, in which reasons and outcomes are enumerated.
const TYPES: &str = include_str!("../../wit/types.wit");
const WATCHES: &str = include_str!("../../wit/watches.wit");
const UPSTREAMS: &str = include_str!("../../wit/upstreams.wit");

/// The sources of the surface, in which errors that only JSON can have get their reasons.
const SURFACE: &[&str] = &[
    include_str!("../../component/src/wire/mod.rs"),
    include_str!("../../component/src/wire/fault.rs"),
    include_str!("../../component/src/wire/request.rs"),
    include_str!("../../component/src/wire/methods.rs"),
    include_str!("../../component/src/wire/tools.rs"),
];
const WORDS: &str = include_str!("../../component/src/wire/reasons.rs");

/// Where the notifications are named.
const TRANSPORT: &str = include_str!("../../host/src/rpc.rs");

/// Reasons that no request over a sound store and with a sound core can bring about, and why.
const BEYOND_VECTORS: &[(&str, &str)] = &[
    ("store-busy", "another process holds the store"),
    ("store-full", "a full disk"),
    ("store-corrupt", "a damaged store"),
    ("store-read-only", "a store that may not be written"),
    ("store-too-new", "a store that a newer headsup made"),
    ("foreign-schema", "a store with tables of somebody else"),
    ("store-failed", "any other failure of the store"),
    ("plugin-trap", "a core that fails"),
    ("plugin-timeout", "a core that hangs"),
    ("overloaded", "more calls than may wait"),
    ("not-utf8", "a line that is not UTF-8, which a vector, being JSON, cannot hold"),
    ("unavailable", "`clock` where the clock is the machine's; vectors have a manual one"),
    ("source-missing", "a file inside the folders that a host may read, which are its own affair"),
    ("source-unavailable", "a file that cannot be read"),
    ("invalid-template", "a notice template, which no method of the surface takes"),
];

/// Outcomes that only a failing store or core can bring about.
const FAILED_OUTCOME: &str = "failed";

/// The notification that only a failing store or core can bring about.
const LOG: &str = "log";

#[test]
fn every_method_is_answered_with_a_result_and_with_an_error() {
    for method in wire::methods() {
        let outcome = |member: &str| {
            requests().any(|(step, request)| {
                request["method"] == method.name
                    && response(&step, &request["id"]).is_some_and(|it| it.get(member).is_some())
            })
        };
        assert!(outcome("result"), "no vector has a result of `{}`", method.name);
        assert!(outcome("error"), "no vector has an error of `{}`", method.name);
    }
}

#[test]
fn methods_of_every_access_are_sent_without_an_id() {
    for method in ["record", "callTool", "clock"] {
        let silent = requests()
            .any(|(_, request)| request["method"] == method && request.get("id").is_none());
        assert!(silent, "no vector sends `{method}` without an id");
    }
}

#[test]
fn every_outcome_of_a_recording_occurs() {
    let mut outcomes = cases(TYPES, "variant outcome");
    assert_eq!(outcomes.len(), 3, "{outcomes:?}");
    let found = texts_of("outcome");
    assert!(!found.contains(FAILED_OUTCOME), "a sound store and core do not fail");
    outcomes.retain(|outcome| !found.contains(outcome));
    assert!(outcomes.is_empty(), "no vector has these outcomes: {outcomes:?}");
}

#[test]
fn every_notification_occurs() {
    let mut names: BTreeSet<String> = TRANSPORT
        .split("Notification::")
        .skip(1)
        .map(|rest| rest.chars().take_while(char::is_ascii_alphabetic).collect::<String>())
        .map(|name| name.to_lowercase())
        .collect();
    assert_eq!(names.len(), 3, "{names:?}");
    let found: BTreeSet<String> = answers()
        .filter(|answer| answer.get("id").is_none())
        .filter_map(|answer| Some(answer["method"].as_str()?.to_owned()))
        .collect();
    assert!(names.remove(LOG), "`{LOG}` is no notification any more");
    assert_eq!(found, names, "a sound store and core have nothing to report with `{LOG}`");
}

#[test]
fn every_reason_of_an_error_occurs_but_those_of_a_broken_store_or_core() {
    let reasons = reasons_of_errors();
    for known in [
        "invalid-key",
        "malformed-json",
        "unknown-method",
        "unknown-tool",
        "store-busy",
        "plugin-trap",
    ] {
        assert!(reasons.contains(known), "`{known}` is no reason any more, or no longer found");
    }
    let found = texts_of("reason");
    for (reason, cause) in BEYOND_VECTORS {
        assert!(reasons.contains(*reason), "`{reason}` ({cause}) is no reason any more");
        assert!(
            !found.contains(*reason),
            "`{reason}` ({cause}) has a vector: it is not beyond them"
        );
    }
    let missing: Vec<&String> = reasons
        .iter()
        .filter(|reason| !BEYOND_VECTORS.iter().any(|(beyond, _)| beyond == reason))
        .filter(|reason| !found.contains(*reason))
        .collect();
    assert!(missing.is_empty(), "no vector has these reasons: {missing:?}");
}

#[test]
fn no_vector_expects_a_reason_that_does_not_exist() {
    let mut reasons = reasons_of_errors();
    reasons.extend(cases(WATCHES, "enum unwatchable"));
    let unknown: Vec<String> =
        texts_of("reason").into_iter().filter(|reason| !reasons.contains(reason)).collect();
    assert!(unknown.is_empty(), "{unknown:?}");
}

#[test]
fn every_code_of_an_error_occurs_but_that_of_a_broken_store_or_core() {
    let codes: BTreeSet<i64> =
        answers().filter_map(|answer| answer.pointer("/error/code")?.as_i64()).collect();
    assert_eq!(codes, BTreeSet::from([-32700, -32602, -32601, -32600]));
}

#[test]
fn every_finding_of_a_check_occurs_but_that_of_a_file_that_was_replaced() {
    let mut findings = cases(UPSTREAMS, "enum finding");
    let found = texts_of("finding");
    findings.retain(|finding| !found.contains(finding));
    assert_eq!(findings, ["again"]);
}

#[test]
fn every_reason_for_not_watching_occurs() {
    let mut reasons = cases(WATCHES, "enum unwatchable");
    assert_eq!(reasons.len(), 2, "{reasons:?}");
    let found = texts_of("reason");
    reasons.retain(|reason| !found.contains(reason));
    assert!(reasons.is_empty(), "no vector has these reasons: {reasons:?}");
}

#[test]
fn every_kind_actor_and_provenance_occurs_in_an_answer() {
    let kinds = texts_of("kind");
    for (_, word) in Kind::WORDS {
        assert!(kinds.contains(word), "no vector shows an event of kind `{word}`");
    }
    assert_eq!(texts_of("actorType"), texts(&["agent", "human", "system"]));
    let provenances: BTreeSet<String> = cases(TYPES, "enum provenance").into_iter().collect();
    assert_eq!(texts_of("provenance"), provenances);
}

#[test]
fn every_tool_is_called_rightly_and_wrongly() {
    let tools: BTreeSet<String> = answers()
        .filter_map(|answer| answer.pointer("/result/tools")?.as_array().cloned())
        .flatten()
        .filter_map(|tool| Some(tool["name"].as_str()?.to_owned()))
        .collect();
    assert_eq!(tools.len(), 4, "{tools:?}");
    let called = |is_error: bool| -> BTreeSet<String> {
        requests()
            .filter(|(step, request)| {
                response(step, &request["id"]).is_some_and(|it| it["result"]["isError"] == is_error)
            })
            .filter_map(|(_, request)| Some(request.pointer("/params/name")?.as_str()?.to_owned()))
            .collect()
    };
    assert_eq!(called(false), tools);
    assert_eq!(called(true), tools);
}

/// Every word that `data.reason` can be.
fn reasons_of_errors() -> BTreeSet<String> {
    let mut reasons: BTreeSet<String> = cases(TYPES, "enum invalid-reason").into_iter().collect();
    reasons.extend(literals_after(WORDS, |before| {
        before.ends_with("=>")
            && before.lines().last().is_some_and(|line| line.contains("StorageFault::"))
    }));
    for source in SURFACE {
        reasons.extend(literals_after(source, |before| {
            before.ends_with("reason:") || is_code(before)
        }));
    }
    reasons
}

/// Whether this source ends with `Code::…,`: the reason follows.
fn is_code(source: &str) -> bool {
    let Some(source) = source.strip_suffix(',') else {
        return false;
    };
    source.trim_end_matches(|c: char| c.is_ascii_alphabetic()).ends_with("Code::")
}

/// The texts in a source that stand right behind what `follows` accepts, white space apart.
fn literals_after(source: &str, follows: impl Fn(&str) -> bool) -> Vec<String> {
    let quotes: Vec<usize> = source.match_indices('"').map(|(at, _)| at).collect();
    let mut literals = Vec::new();
    for pair in quotes.windows(2) {
        let (before, text) = (&source[..pair[0]], &source[pair[0] + 1..pair[1]]);
        if follows(before.trim_end()) {
            literals.push(text.to_owned());
        }
    }
    literals
}

/// The cases of an enum or variant of the contract.
fn cases(wit: &str, name: &str) -> Vec<String> {
    let (_, body) = wit.split_once(&format!("{name} {{")).expect("it is in the contract");
    body.lines()
        .map(str::trim)
        .take_while(|line| *line != "}")
        .filter(|line| !line.is_empty() && !line.starts_with("//"))
        .map(|line| line.split(['(', ',']).next().unwrap_or_default().to_owned())
        .collect()
}

/// Every request with the step it belongs to.
fn requests() -> impl Iterator<Item = (Rc<Step>, Value)> {
    steps().flat_map(|mut step| {
        let requests = std::mem::take(&mut step.requests);
        let step = Rc::new(step);
        requests.into_iter().map(move |request| (Rc::clone(&step), request))
    })
}

fn answers() -> impl Iterator<Item = Value> {
    steps().flat_map(|step| step.answers)
}

/// Every text that a member of this name has anywhere in what must come back.
fn texts_of(name: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for answer in answers() {
        collect(&answer, name, &mut found);
    }
    found
}

fn collect(value: &Value, name: &str, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(members) => {
            for (member, value) in members {
                if let (true, Value::String(text)) = (member == name, value) {
                    found.insert(text.clone());
                }
                collect(value, name, found);
            }
        }
        Value::Array(elements) => elements.iter().for_each(|element| collect(element, name, found)),
        _ => {}
    }
}

fn texts(words: &[&str]) -> BTreeSet<String> {
    words.iter().map(ToString::to_string).collect()
}
