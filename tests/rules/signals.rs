//! Section 3: what notifies, times, dedupe keys, and what is recorded although nobody watches.

use harness::{CHILD, DAY, Gateway, MAIN, NOON, OPS, bare};
use headsup::{Actor, ActorType, Event, Kind, Recording, RunOutcome, Signal};
use serde_json::json;

use crate::{compaction, goal, human, spawn};

/// The newest event of the child.
pub fn newest(gateway: &Gateway) -> Event {
    gateway.changes_since(CHILD, 0, None).unwrap().events.pop().unwrap()
}

#[test]
fn only_the_first_three_kinds_notify() {
    let gateway = Gateway::open();
    gateway.watches(OPS, CHILD);
    let system = Actor::system;
    for signal in [
        Signal::child_spawned(CHILD, "r1", system()),
        Signal::run_completed(CHILD, "r1", system()),
        Signal::run_failed(CHILD, "r2", RunOutcome::Error, system()),
        compaction(CHILD, "op1"),
        Signal::adopted(CHILD, "claude", system()),
        Signal::created(CHILD, system()),
    ] {
        gateway.records(signal);
        gateway.hears([]);
        assert_eq!(gateway.cursor(OPS, CHILD), "explicit 0 0 0");
    }
    let gone = headsup::Happening::UpstreamMissing("codex".into());
    for signal in [human(CHILD), Signal::new(CHILD, gone, system()), goal(CHILD, "u1")] {
        let version = gateway.records(signal);
        assert_eq!(gateway.drain(OPS).unwrap().notices[0].up_to, version);
    }
    assert_eq!(gateway.news().iter().filter(|it| it.to_string().starts_with("notice")).count(), 3);
}

#[test]
fn an_event_says_what_the_producer_said() {
    let gateway = Gateway::open();
    let signal = goal(CHILD, "u7").session_id("incarnation-3").run_id("r9");
    gateway.records(signal);
    assert_eq!(
        newest(&gateway),
        Event {
            sequence: 1,
            session: harness::session(CHILD, "main"),
            kind: Kind::GoalChanged,
            actor: Actor { type_: ActorType::Agent, id: Some("u7".into()) },
            occurred_at: NOON,
            summary: "goal updated".into(),
            session_id: Some("incarnation-3".into()),
            run_id: Some("r9".into()),
            payload: None,
        }
    );
}

#[test]
fn there_is_no_field_for_message_content() {
    let gateway = Gateway::open();
    for field in ["text", "content", "message", "summary", "payload"] {
        let mut params = json!({
            "session": CHILD, "kind": "human_direct_message", "actor": {"type": "human"},
        });
        params[field] = json!("secret");
        assert_eq!(gateway.refusal("record", &params), ("unknown-field".into(), field.into()));
    }
}

#[test]
fn occurred_at_is_clamped_into_the_last_day_and_missing_means_now() {
    let gateway = Gateway::open();
    let now = i64::try_from(NOON).unwrap();
    let day = i64::try_from(DAY).unwrap();
    for (given, kept) in [
        (None, now),
        (Some(now), now),
        (Some(now + 1), now),
        (Some(i64::MAX), now),
        (Some(now - day), now - day),
        (Some(now - day - 1), now - day),
        (Some(-5), now - day),
        (Some(i64::MIN), now - day),
    ] {
        let mut signal = goal(CHILD, "u1");
        signal.occurred_at = given;
        gateway.records(signal);
        assert_eq!(newest(&gateway).occurred_at, u64::try_from(kept).unwrap(), "{given:?}");
    }
}

#[test]
fn occurred_at_is_never_below_0() {
    let gateway = Gateway::on(":memory:", 5);
    gateway.records(goal(CHILD, "u1").occurred_at(-3));
    assert_eq!(newest(&gateway).occurred_at, 0);
}

#[test]
fn every_other_time_is_the_local_clock() {
    let gateway = Gateway::open();
    gateway.watches(OPS, CHILD);
    gateway.records(goal(CHILD, "u1").occurred_at(0));
    let entry = gateway.entry(OPS, CHILD).unwrap();
    assert_eq!(entry.expires_at, NOON + 30 * DAY);
    let _ = gateway.news();
}

#[test]
fn a_second_record_with_a_dedupe_key_answers_the_first_version_and_changes_nothing() {
    let gateway = Gateway::open();
    gateway.watches(OPS, CHILD);
    let first = goal(CHILD, "u1").dedupe_key("k");
    assert_eq!(gateway.records(first.clone()), 1);
    gateway.drain(OPS).unwrap();
    let _ = gateway.news();
    let again = human(CHILD).dedupe_key("k").watcher(MAIN);
    for signal in [first, again] {
        assert_eq!(gateway.record(signal).unwrap(), Recording::Duplicate(1));
    }
    gateway.hears([]);
    assert_eq!(gateway.cursor(OPS, CHILD), "explicit 1 1 1");
    assert_eq!(gateway.cursor(MAIN, CHILD), "none");
    assert_eq!(gateway.records(goal(OPS, "u1")), 2, "no number was used up");
}

#[test]
fn a_dedupe_key_is_scoped_to_its_session() {
    let gateway = Gateway::open();
    assert_eq!(gateway.records(goal(CHILD, "u1").dedupe_key("k")), 1);
    assert_eq!(gateway.records(goal(OPS, "u1").dedupe_key("k")), 2);
}

#[test]
fn a_dedupe_key_holds_while_its_event_is_kept() {
    let gateway = Gateway::open();
    gateway.records(goal(CHILD, "u1").dedupe_key("k"));
    gateway.delete(CHILD).unwrap();
    assert_eq!(gateway.records(goal(CHILD, "u1").dedupe_key("k")), 2);
}

#[test]
fn a_runs_spawn_is_recorded_once() {
    let gateway = Gateway::open();
    assert_eq!(gateway.records(spawn(CHILD, MAIN)), 1);
    assert_eq!(gateway.record(spawn(CHILD, OPS)).unwrap(), Recording::Duplicate(1));
    assert_eq!(gateway.cursor(OPS, CHILD), "none");
    let second = Signal::child_spawned(CHILD, "r2", Actor::agent(MAIN));
    assert_eq!(gateway.records(second), 2);
}

#[test]
fn a_runs_first_ending_wins() {
    let gateway = Gateway::open();
    let system = Actor::system;
    let timeout = Signal::run_failed(CHILD, "r1", RunOutcome::Timeout, system());
    assert_eq!(gateway.records(timeout), 1);
    let completed = Signal::run_completed(CHILD, "r1", system());
    assert_eq!(gateway.record(completed).unwrap(), Recording::Duplicate(1));
    assert_eq!(newest(&gateway).summary, "child run timed out");
}

#[test]
fn an_operation_compacts_once_and_an_incarnation_is_created_once() {
    let gateway = Gateway::open();
    assert_eq!(gateway.records(compaction(CHILD, "op1")), 1);
    assert_eq!(gateway.record(compaction(CHILD, "op1")).unwrap(), Recording::Duplicate(1));
    let created = || Signal::created(CHILD, Actor::system());
    assert_eq!(gateway.records(created().session_id("s1")), 2);
    assert_eq!(gateway.record(created().session_id("s1")).unwrap(), Recording::Duplicate(2));
    assert_eq!(gateway.records(created().session_id("s2")), 3);
    assert_eq!(gateway.records(created()), 4);
    assert_eq!(gateway.records(created()), 5, "without an incarnation there is no default key");
}

#[test]
fn an_explicit_dedupe_key_replaces_the_default_one() {
    let gateway = Gateway::open();
    let system = Actor::system;
    let ended = || Signal::run_completed(CHILD, "r1", system());
    assert_eq!(gateway.records(ended().dedupe_key("mine")), 1);
    assert_eq!(gateway.records(ended()), 2);
    let same_words = goal(CHILD, "u1").dedupe_key("run-terminal:r1");
    assert_eq!(gateway.record(same_words).unwrap(), Recording::Duplicate(2));
}

#[test]
fn kinds_without_a_default_key_are_recorded_each_time() {
    let gateway = Gateway::open();
    let gone = || headsup::Happening::UpstreamMissing("codex".into());
    for expected in [1, 3] {
        assert_eq!(gateway.records(Signal::adopted(CHILD, "c", Actor::system())), expected);
        let missing = Signal::new(CHILD, gone(), Actor::system());
        assert_eq!(gateway.records(missing), expected + 1);
    }
}

#[test]
fn a_duplicate_is_answered_before_unwatched() {
    let gateway = Gateway::open();
    gateway.watches(OPS, CHILD);
    let message = || human(CHILD).dedupe_key("k");
    assert_eq!(gateway.records(message()), 1);
    let _ = gateway.news();
    gateway.unwatch(OPS, CHILD).unwrap();
    assert_eq!(gateway.record(message()).unwrap(), Recording::Duplicate(1));
    assert_eq!(gateway.record(human(CHILD)).unwrap(), Recording::Unwatched);
}

#[test]
fn a_human_direct_message_on_an_unwatched_session_writes_nothing() {
    let gateway = Gateway::open();
    assert_eq!(gateway.record(human(CHILD)).unwrap(), Recording::Unwatched);
    assert_eq!(gateway.versions([CHILD]).unwrap(), [None]);
    assert_eq!(gateway.records(goal(CHILD, "u1")), 1, "no number was used up");
}

#[test]
fn a_human_direct_message_is_recorded_if_the_producer_names_any_watcher() {
    let gateway = Gateway::open();
    for (version, watcher) in [(1, "global"), (2, CHILD), (3, "subagent:x")] {
        assert_eq!(gateway.records(human(CHILD).watcher(watcher)), version);
    }
    assert_eq!(gateway.watchers_of(CHILD).unwrap(), []);
}

#[test]
fn a_mark_is_no_cursor_for_a_human_direct_message() {
    let gateway = Gateway::open();
    gateway.unwatch(OPS, CHILD).unwrap();
    assert_eq!(gateway.record(human(CHILD)).unwrap(), Recording::Unwatched);
    assert_eq!(gateway.records(human(CHILD).watcher(OPS)), 1);
    assert_eq!(gateway.cursor(OPS, CHILD), "none");
}

#[test]
fn every_other_kind_is_recorded_whether_or_not_anybody_watches() {
    let gateway = Gateway::open();
    let system = Actor::system;
    let gone = headsup::Happening::UpstreamMissing("codex".into());
    let signals = [
        Signal::new(CHILD, gone, system()),
        goal(CHILD, "u1"),
        Signal::child_spawned(CHILD, "r1", system()),
        Signal::run_completed(CHILD, "r1", system()),
        Signal::run_failed(CHILD, "r2", RunOutcome::Error, system()),
        compaction(CHILD, "op1"),
        Signal::adopted(CHILD, "claude", system()),
        Signal::created(CHILD, system()),
    ];
    for (signal, version) in signals.into_iter().zip(1..) {
        assert_eq!(gateway.records(signal), version);
    }
}

#[test]
fn another_agents_watcher_of_the_same_bare_key_is_no_watcher() {
    let gateway = Gateway::open();
    gateway.watches(OPS, bare("global", "ops"));
    assert_eq!(gateway.record(human(bare("global", "main"))).unwrap(), Recording::Unwatched);
}
