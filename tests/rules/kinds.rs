//! Section 3: what each of the nine kinds needs, and what the core writes about it.

use harness::{CHILD, Gateway, MAIN, OPS};
use headsup::{Actor, GoalChange, InvalidReason, Kind, RunOutcome, Signal};
use serde_json::json;

use crate::signals::newest;
use crate::{compaction, human, spawn};

/// Kind, summary and payload of a recorded signal.
fn logged(gateway: &Gateway, signal: Signal) -> (Kind, String, Option<String>) {
    gateway.records(signal);
    let event = newest(gateway);
    let _ = gateway.news();
    (event.kind, event.summary, event.payload)
}

/// Why a signal is refused, and which field.
fn why(gateway: &Gateway, signal: Signal) -> (String, InvalidReason) {
    match gateway.record(signal) {
        Err(headsup::Error::Invalid(refused)) => (refused.field, refused.reason),
        other => panic!("not refused: {other:?}"),
    }
}

#[test]
fn a_human_direct_message_names_its_channel_and_its_turns_if_more_than_one() {
    let gateway = Gateway::open();
    gateway.watches(OPS, CHILD);
    let said = |signal| logged(&gateway, signal);
    let message = |via: &str, payload: Option<&str>| {
        (Kind::HumanDirectMessage, format!("human message via {via}"), payload.map(Into::into))
    };
    assert_eq!(said(human(CHILD)), message("unknown", None));
    assert_eq!(said(human(CHILD).turns(1)), message("unknown", None));
    assert_eq!(said(human(CHILD).turns(2)), message("unknown", Some(r#"{"turns":2}"#)));
    assert_eq!(
        said(human(CHILD).channel("cli").turns(3)),
        message("cli", Some(r#"{"channel":"cli","turns":3}"#))
    );
}

#[test]
fn a_human_direct_message_stands_for_at_least_one_turn() {
    let gateway = Gateway::open();
    let refused = why(&gateway, human(CHILD).turns(0));
    assert_eq!(refused, ("turns".into(), InvalidReason::OutOfRange));
}

#[test]
fn a_human_direct_message_needs_a_human() {
    let gateway = Gateway::open();
    for actor in [Actor::system(), Actor::agent(MAIN)] {
        let refused = why(&gateway, Signal::human_direct_message(CHILD, actor));
        assert_eq!(refused, ("actor.type".into(), InvalidReason::WrongActor));
    }
}

#[test]
fn a_missing_upstream_names_its_catalog_as_channel() {
    let gateway = Gateway::open();
    let gone =
        Signal::new(CHILD, headsup::Happening::UpstreamMissing(" codex ".into()), Actor::system());
    assert_eq!(
        logged(&gateway, gone),
        (
            Kind::UpstreamMissing,
            "upstream missing via codex".into(),
            Some(r#"{"channel":"codex"}"#.into())
        )
    );
}

#[test]
fn a_goal_was_created_updated_or_cleared() {
    let gateway = Gateway::open();
    for (change, summary) in [
        (GoalChange::Created, "goal created"),
        (GoalChange::Updated, "goal updated"),
        (GoalChange::Cleared, "goal cleared"),
    ] {
        let signal = Signal::goal_changed(CHILD, change, Actor::human());
        assert_eq!(logged(&gateway, signal), (Kind::GoalChanged, summary.into(), None));
    }
}

#[test]
fn a_child_was_spawned_by_a_run() {
    let gateway = Gateway::open();
    let (kind, summary, payload) = logged(&gateway, spawn(CHILD, MAIN));
    assert_eq!(
        (kind, summary.as_str(), payload),
        (Kind::ChildSpawned, "child session spawned", None)
    );
    assert_eq!(newest(&gateway).run_id.as_deref(), Some("r1"));
}

#[test]
fn a_child_run_completed() {
    let gateway = Gateway::open();
    let signal = Signal::run_completed(CHILD, "r1", Actor::system());
    assert_eq!(logged(&gateway, signal), (Kind::RunCompleted, "child run completed".into(), None));
}

#[test]
fn a_child_run_failed_timed_out_or_was_cancelled() {
    let gateway = Gateway::open();
    for (run, outcome, summary, word) in [
        ("r1", RunOutcome::Error, "child run failed", "error"),
        ("r2", RunOutcome::Timeout, "child run timed out", "timeout"),
        ("r3", RunOutcome::Cancelled, "child run cancelled", "cancelled"),
    ] {
        let payload = Some(format!(r#"{{"outcome":"{word}"}}"#));
        let signal = Signal::run_failed(CHILD, run, outcome, Actor::system());
        assert_eq!(logged(&gateway, signal), (Kind::RunFailed, summary.into(), payload));
    }
}

#[test]
fn a_history_was_compacted() {
    let gateway = Gateway::open();
    let compacted = (Kind::Compacted, "session compacted".into(), None);
    assert_eq!(logged(&gateway, compaction(CHILD, "op1")), compacted);
}

#[test]
fn an_adopted_session_names_its_catalog_and_host() {
    let gateway = Gateway::open();
    let adopted = |payload: &str| {
        (Kind::Adopted, "session adopted from claude".to_owned(), Some(payload.to_owned()))
    };
    let signal = Signal::adopted(CHILD, "claude", Actor::human());
    assert_eq!(logged(&gateway, signal.clone()), adopted(r#"{"channel":"claude"}"#));
    assert_eq!(
        logged(&gateway, signal.host("laptop")),
        adopted(r#"{"channel":"claude","host":"laptop"}"#)
    );
}

#[test]
fn a_session_was_created() {
    let gateway = Gateway::open();
    let signal = Signal::created(CHILD, Actor::human());
    assert_eq!(logged(&gateway, signal), (Kind::Created, "session created".into(), None));
}

#[test]
fn spawns_and_endings_of_runs_need_their_run() {
    let gateway = Gateway::open();
    let system = Actor::system;
    for mut signal in [
        spawn(CHILD, MAIN),
        Signal::run_completed(CHILD, "r1", system()),
        Signal::run_failed(CHILD, "r1", RunOutcome::Error, system()),
    ] {
        signal.run_id = None;
        assert_eq!(why(&gateway, signal), ("runId".into(), InvalidReason::MissingField));
    }
}

#[test]
fn each_kind_needs_its_own_fields_and_has_no_others() {
    let gateway = Gateway::open();
    let record = |kind: &str, field: &str| {
        let mut params = json!({"session": CHILD, "kind": kind, "actor": {"type": "system"}});
        params[field] = json!("x");
        gateway.refusal("record", &params)
    };
    for (kind, needed) in [
        ("upstream_missing", "catalog"),
        ("goal_changed", "change"),
        ("run_failed", "outcome"),
        ("compacted", "operationId"),
        ("adopted", "catalog"),
    ] {
        assert_eq!(record(kind, "runId"), ("missing-field".into(), needed.into()), "{kind}");
        assert_eq!(record(kind, "channel"), ("unknown-field".into(), "channel".into()), "{kind}");
    }
    assert_eq!(record("created", "catalog"), ("unknown-field".into(), "catalog".into()));
    assert_eq!(record("renamed", "runId"), ("unknown-kind".into(), "kind".into()));
}
