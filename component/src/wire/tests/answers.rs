use serde_json::json;

use super::{Fake, request, respond};
use crate::contract::{
    Access, Acknowledgement, Actor, ActorType, Delta, Drained, Entry, Errand, ErrandDone, Event,
    Kind, Notice, Outcome, PendingCount, Provenance, Row, Session, Tally, WatchEntry,
};
use crate::refusal::MAX_INTEGER;
use crate::wire::methods::{METHODS, Name};
use crate::wire::{self, answers, call, errand, methods, writes};

fn session() -> Session {
    Session { key: "agent:a:x".to_string(), agent: "a".to_string() }
}

fn notice() -> Notice {
    Notice { target: session(), since: 3, up_to: 5, text: "Look \"here\"".to_string() }
}

#[test]
fn outcomes_have_their_members_in_order() {
    assert_eq!(
        answers::outcome(Outcome::Recorded(4)),
        r#"{"outcome":"recorded","stateVersion":4}"#
    );
    assert_eq!(
        answers::outcomes(&[Outcome::Duplicate(9_007_199_254_740_991), Outcome::Unwatched]),
        r#"{"outcomes":[{"outcome":"duplicate","stateVersion":9007199254740991},{"outcome":"unwatched"}]}"#
    );
}

#[test]
fn notices_have_their_members_in_order() {
    let one = r#"{"target":"agent:a:x","agent":"a","since":3,"upTo":5,"text":"Look \"here\""}"#;
    assert_eq!(answers::taken(&[notice(), notice()]), format!(r#"{{"notices":[{one},{one}]}}"#));
    let answer = Acknowledgement { acknowledged: 2, reopened: vec![notice()] };
    assert_eq!(
        answers::acknowledged(&answer),
        format!(r#"{{"acknowledged":2,"reopened":[{one}]}}"#)
    );
    let answer = Drained { notices: vec![notice()], reopened: Vec::new() };
    assert_eq!(answers::drained(&answer), format!(r#"{{"notices":[{one}],"reopened":[]}}"#));
    let counts = [PendingCount { watcher: "agent:a:main".to_string(), notices: 2 }];
    assert_eq!(
        answers::pending(&counts),
        r#"{"watchers":[{"watcher":"agent:a:main","notices":2}]}"#
    );
}

#[test]
fn watches_have_their_members_in_order() {
    let entry = WatchEntry {
        watcher: "agent:b:main".to_string(),
        target: session(),
        provenance: Provenance::Ambient,
        last_seen: 1,
        notified: 2,
        material: 3,
        pending: true,
        expires_at: 4,
        state_version: Some(3),
    };
    assert_eq!(
        answers::watches(std::slice::from_ref(&entry)),
        r#"{"watches":[{"watcher":"agent:b:main","target":"agent:a:x","agent":"a","provenance":"ambient","lastSeen":1,"notified":2,"material":3,"pending":true,"expiresAt":4}]}"#
    );
    assert_eq!(
        answers::sessions(&[entry]),
        r#"{"sessions":[{"sessionKey":"agent:a:x","agentId":"a","stateVersion":3,"lastSeen":1,"pending":true,"provenance":"ambient"}]}"#
    );
}

#[test]
fn changes_are_the_agent_facing_json_of_the_protocol() {
    let event = Event {
        sequence: 14,
        session: session(),
        kind: Kind::HumanDirectMessage,
        actor: Actor { type_: ActorType::Human, id: None },
        occurred_at: 1_790_000_000_000,
        summary: "human message via telegram".to_string(),
        session_id: Some("incarnation".to_string()),
        run_id: None,
        payload: Some(r#"{"channel":"telegram"}"#.to_string()),
    };
    let other = Event {
        sequence: 19,
        kind: Kind::RunFailed,
        actor: Actor { type_: ActorType::Agent, id: Some("agent:b:main".to_string()) },
        run_id: Some("r1".to_string()),
        payload: None,
        ..event.clone()
    };
    let delta = Delta {
        state_version: 19,
        events: vec![event, other],
        truncated: false,
        history_gap: true,
    };
    let first = r#"{"sequence":14,"kind":"human_direct_message","actorType":"human","occurredAt":1790000000000,"summary":"human message via telegram","payload":{"channel":"telegram"}}"#;
    let second = r#"{"sequence":19,"kind":"run_failed","actorType":"agent","actorId":"agent:b:main","occurredAt":1790000000000,"summary":"human message via telegram","runId":"r1"}"#;
    assert_eq!(
        answers::changes(&delta).unwrap(),
        format!(
            r#"{{"stateVersion":19,"stateChanges":{{"events":[{first},{second}],"truncated":false,"historyGap":true}}}}"#
        )
    );
}

#[test]
fn a_payload_that_is_no_object_on_one_line_is_corruption() {
    for payload in ["", "1", "[]", "{", "{} {}", "{\"a\":\n1}", "null"] {
        let entry = Entry {
            session: session(),
            kind: "created".to_string(),
            actor_type: "system".to_string(),
            actor_id: None,
            occurred_at: 1,
            summary: "session created".to_string(),
            session_id: None,
            run_id: None,
            payload: Some(payload.to_string()),
            dedupe_key: None,
        };
        let mut ports = Fake { rows: vec![Row { sequence: 7, entry }], ..Fake::default() };
        let given = request("status", r#"{"session":"agent:a:x","changesSince":0}"#);
        let line = call(&mut ports, &given).unwrap_err().unwrap();
        assert!(line.contains("store-corrupt") && line.contains("event 7"), "{line}");
    }
}

#[test]
fn a_session_without_history_has_version_0() {
    let result = |params: &str| respond(&request("status", params)).0["result"].clone();
    assert_eq!(result(r#"{"session":"agent:a:x"}"#), json!({"stateVersion": 0}));
    assert_eq!(
        result(r#"{"session":{"key":"global","agent":"a"},"changesSince":0,"limit":200}"#),
        json!({
            "stateVersion": 0,
            "stateChanges": {"events": [], "truncated": false, "historyGap": false},
        })
    );
    let (response, _) = respond(&request("versions", r#"{"sessions":["agent:a:x","agent:a:y"]}"#));
    assert_eq!(response["result"], json!({"versions": [null, null]}));
}

#[test]
fn who_cannot_watch_is_told_why() {
    for (watcher, target, result) in [
        ("agent:a:main", "agent:a:x", json!({"watched": true})),
        ("global", "agent:a:x", json!({"watched": false, "reason": "not-agent-qualified"})),
        ("agent:a:x", "agent:a:x", json!({"watched": false, "reason": "watcher-is-target"})),
    ] {
        let params = format!(r#"{{"watcher":"{watcher}","target":"{target}","ambient":false}}"#);
        assert_eq!(respond(&request("watch", &params)).0["result"], result);
    }
}

#[test]
fn what_the_host_does_first_is_checked_and_said_without_a_store() {
    for now in [0, MAX_INTEGER] {
        let request = request("clock", &format!(r#"{{"now":{now}}}"#));
        assert_eq!(errand(&request), Ok(Errand::MoveClock(now)));
        let mut ports = Fake::default();
        let line = wire::respond(&mut ports, &request, &ErrandDone::ClockMoved).unwrap();
        assert_eq!(
            line.unwrap(),
            format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"now":{now}}}}}"#)
        );
        assert_eq!(ports.calls, 0);
    }
    let source = r#"{"kind":"claude-jsonl","path":"/x.jsonl"}"#;
    let params = format!(r#"{{"session":"agent:main:w","source":{source},"catalog":"claude"}}"#);
    let path = Some("/x.jsonl".to_string());
    assert_eq!(errand(&request("adopt", &params)), Ok(Errand::ReadSource(path)));
    assert_eq!(errand(&request("checkUpstreams", "{}")), Ok(Errand::CheckUpstreams));
}

#[test]
fn a_method_of_which_the_host_did_nothing_or_something_else_is_unavailable() {
    let clock = request("clock", r#"{"now":1}"#);
    let tally = Tally { checked: 0, activity: 0, missing: 0, failed: 0 };
    for answer in [
        call(&mut Fake::default(), &clock),
        wire::respond(&mut Fake::default(), &clock, &ErrandDone::UpstreamsChecked(tally)),
        errand(&request("pending", "{}")).map(|_| None),
    ] {
        let line = answer.unwrap_err().unwrap();
        assert!(line.contains(r#""reason":"unavailable""#), "{line}");
    }
}

#[test]
fn methods_are_listed_by_name_and_each_is_found() {
    let names: Vec<String> = methods().into_iter().map(|method| method.name).collect();
    let mut sorted = names.clone();
    sorted.sort();
    assert_eq!(names, sorted);
    for (method, name, _) in METHODS {
        assert_eq!(Name::of(name), Some(method));
    }
    let access =
        |name: &str| methods().into_iter().find(|method| method.name == name).unwrap().access;
    assert_eq!(access("record"), Access::Writes);
    assert_eq!(access("status"), Access::Reads);
    assert_eq!(access("callTool"), Access::Depends);
    assert_eq!(access("clock"), Access::Host);
}

#[test]
fn whether_a_tool_writes_depends_on_the_tool() {
    for (name, expected) in [
        ("sessions_watch", true),
        ("sessions_unwatch", true),
        ("sessions_list", false),
        ("session_status", false),
        ("nothing", false),
    ] {
        assert_eq!(writes(&request("callTool", &format!(r#"{{"name":"{name}"}}"#))), expected);
    }
    for other in ["", "[]", "{}", &request("record", "{}"), &request("callTool", "[]")] {
        assert!(!writes(other));
    }
    assert!(!writes(&request("callTool", r#"{"name":1}"#)));
}
