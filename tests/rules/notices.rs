//! Section 6: one notice, not many; taking, acknowledging, draining, recovering.

use harness::{CHILD, DAY, GROUP, Gateway, MAIN, NOON, OPS, WORKER};
use headsup::{Actor, Awareness, PendingCount, Receipt, Signal};
use tempfile::TempDir;

use crate::{compaction, goal, human, spawn};

/// The default text about `CHILD` since version 1.
pub const TEXT_SINCE_1: &str = r#"Session "agent:main:subagent:child" was changed by someone else. Catch up before acting: session_status {"sessionKey":"agent:main:subagent:child","changesSince":1}"#;

/// A gateway where `MAIN` has spawned `CHILD`, at version 1, and nothing is pending.
pub fn parent_and_child() -> Gateway {
    let gateway = Gateway::open();
    gateway.records(spawn(CHILD, MAIN));
    gateway
}

fn receipt(since: u64, up_to: u64) -> Receipt {
    Receipt { target: CHILD.into(), since, up_to }
}

/// Hears whatever came out: it is not what the test is about.
pub fn past(gateway: &Gateway) {
    drop(gateway.news());
}

#[test]
fn a_notifying_event_makes_every_watcher_but_the_actor_stale() {
    let gateway = Gateway::open();
    for watcher in [MAIN, OPS, WORKER] {
        gateway.watches(watcher, CHILD);
    }
    gateway.records(goal(CHILD, OPS));
    gateway.hears([
        "notice agent:main:main: agent:main:subagent:child 0..1",
        "wake agent:main:main",
        "notice agent:main:telegram:worker: agent:main:subagent:child 0..1",
        "wake agent:main:telegram:worker",
    ]);
    assert_eq!(gateway.cursor(MAIN, CHILD), "explicit 0 1 1");
    assert_eq!(gateway.cursor(OPS, CHILD), "explicit 0 0 0");
}

#[test]
fn twenty_changes_are_one_line() {
    let gateway = parent_and_child();
    gateway.records(human(CHILD));
    gateway
        .hears(["notice agent:main:main: agent:main:subagent:child 1..2", "wake agent:main:main"]);
    let first = gateway.take(MAIN).unwrap();
    for _ in 0..19 {
        gateway.records(human(CHILD));
    }
    gateway.hears([]);
    assert_eq!(gateway.take(MAIN).unwrap(), first, "byte-identical while pending");
    assert_eq!(gateway.cursor(MAIN, CHILD), "spawn 1 2 21");
}

#[test]
fn actors_compare_by_id_whatever_their_type() {
    let gateway = parent_and_child();
    for actor in [Actor::agent(MAIN), Actor::human().id(MAIN), Actor::system().id(MAIN)] {
        gateway.records(Signal::goal_changed(CHILD, headsup::GoalChange::Updated, actor));
    }
    gateway.hears([]);
    assert_eq!(gateway.cursor(MAIN, CHILD), "spawn 1 1 1");
}

#[test]
fn an_actor_without_an_id_is_nobodys_own() {
    let gateway = parent_and_child();
    gateway.records(Signal::goal_changed(CHILD, headsup::GoalChange::Updated, Actor::system()));
    assert_eq!(gateway.cursor(MAIN, CHILD), "spawn 1 2 2");
    past(&gateway);
}

#[test]
fn ones_own_act_on_top_of_others_leaves_material_at_theirs() {
    let gateway = parent_and_child();
    gateway.records(human(CHILD));
    gateway.records(goal(CHILD, MAIN));
    gateway.records(goal(CHILD, MAIN));
    assert_eq!(gateway.cursor(MAIN, CHILD), "spawn 1 2 2");
    gateway.records(goal(CHILD, "u1"));
    gateway.records(goal(CHILD, MAIN));
    assert_eq!(gateway.cursor(MAIN, CHILD), "spawn 1 2 5");
    past(&gateway);
}

#[test]
fn two_coordinators_are_not_told_of_their_own_acts() {
    let gateway = Gateway::open();
    gateway.watches(MAIN, OPS);
    gateway.watches(OPS, MAIN);
    gateway.records(goal(OPS, MAIN));
    gateway.hears([]);
    gateway.records(goal(MAIN, OPS));
    gateway.hears([]);
    gateway.records(goal(MAIN, MAIN));
    gateway.hears(["notice agent:ops:main: agent:main:main 0..3", "wake agent:ops:main"]);
}

#[test]
fn log_only_kinds_open_move_and_reopen_nothing() {
    let gateway = parent_and_child();
    gateway.records(human(CHILD));
    gateway.records(compaction(CHILD, "op1"));
    past(&gateway);
    assert_eq!(gateway.cursor(MAIN, CHILD), "spawn 1 2 2");
    assert_eq!(gateway.drain(MAIN).unwrap().reopened, []);
    gateway.records(compaction(CHILD, "op2"));
    assert_eq!(gateway.cursor(MAIN, CHILD), "spawn 2 2 2");
    gateway.hears([]);
}

#[test]
fn acknowledging_moves_last_seen_to_what_the_notice_stood_for() {
    let gateway = parent_and_child();
    gateway.records(human(CHILD));
    let taken = gateway.take(MAIN).unwrap();
    let answer = gateway.acknowledge(MAIN, &taken).unwrap();
    assert_eq!((answer.acknowledged, answer.reopened), (1, vec![]));
    assert_eq!(gateway.cursor(MAIN, CHILD), "spawn 2 2 2");
    assert_eq!(gateway.take(MAIN).unwrap(), []);
    past(&gateway);
}

#[test]
fn taking_changes_nothing() {
    let gateway = parent_and_child();
    gateway.records(human(CHILD));
    past(&gateway);
    assert_eq!(gateway.take(MAIN).unwrap(), gateway.take(MAIN).unwrap());
    assert_eq!(gateway.cursor(MAIN, CHILD), "spawn 1 2 2");
}

#[test]
fn what_changed_after_the_notice_was_taken_opens_exactly_one_new_notice() {
    let gateway = parent_and_child();
    gateway.records(human(CHILD));
    let taken = gateway.take(MAIN).unwrap();
    gateway.records(goal(CHILD, "u1"));
    gateway.records(goal(CHILD, "u2"));
    past(&gateway);
    let answer = gateway.acknowledge(MAIN, &taken).unwrap();
    gateway.hears(["notice agent:main:main: agent:main:subagent:child 2..4"]);
    assert_eq!(answer.acknowledged, 1);
    assert_eq!(answer.reopened, gateway.take(MAIN).unwrap());
    assert_eq!(answer.reopened[0].text, TEXT_SINCE_1.replace(":1}", ":2}"));
    assert_eq!(gateway.cursor(MAIN, CHILD), "spawn 2 4 4");
}

#[test]
fn what_one_did_oneself_after_the_notice_reopens_nothing() {
    let gateway = parent_and_child();
    gateway.records(human(CHILD));
    let taken = gateway.take(MAIN).unwrap();
    gateway.records(goal(CHILD, MAIN));
    past(&gateway);
    let answer = gateway.acknowledge(MAIN, &taken).unwrap();
    assert_eq!((answer.acknowledged, answer.reopened), (1, vec![]));
    assert_eq!(gateway.cursor(MAIN, CHILD), "spawn 2 2 2");
    gateway.hears([]);
}

#[test]
fn a_late_or_repeated_acknowledgement_is_ignored() {
    let gateway = parent_and_child();
    gateway.records(human(CHILD));
    let taken = gateway.take(MAIN).unwrap();
    gateway.acknowledge(MAIN, &taken).unwrap();
    gateway.records(human(CHILD));
    past(&gateway);
    let answer = gateway.acknowledge(MAIN, &taken).unwrap();
    assert_eq!((answer.acknowledged, answer.reopened), (0, vec![]));
    assert_eq!(gateway.cursor(MAIN, CHILD), "spawn 2 3 3");
    gateway.hears([]);
}

#[test]
fn an_acknowledgement_counts_only_between_last_seen_and_notified() {
    let gateway = parent_and_child();
    gateway.records(human(CHILD));
    gateway.records(human(CHILD));
    past(&gateway);
    for (since, up_to) in [(0, 2), (2, 2), (1, 1), (1, 3), (2, 3), (1, 0), (1, (1 << 53) - 1)] {
        let answer = gateway.acknowledge(MAIN, [receipt(since, up_to)]).unwrap();
        assert_eq!(answer.acknowledged, 0, "{since} to {up_to}");
    }
    assert_eq!(gateway.cursor(MAIN, CHILD), "spawn 1 2 3");
    assert_eq!(gateway.acknowledge(MAIN, [receipt(1, 2)]).unwrap().acknowledged, 1);
    gateway.hears(["notice agent:main:main: agent:main:subagent:child 2..3"]);
}

#[test]
fn a_notice_that_recovery_moved_up_may_be_acknowledged_in_parts() {
    let gateway = parent_and_child();
    gateway.records(human(CHILD));
    gateway.records(human(CHILD));
    gateway.recover().unwrap();
    past(&gateway);
    assert_eq!(gateway.cursor(MAIN, CHILD), "spawn 1 3 3");
    let answer = gateway.acknowledge(MAIN, [receipt(1, 2)]).unwrap();
    assert_eq!((answer.acknowledged, answer.reopened.len()), (1, 1));
    assert_eq!(gateway.cursor(MAIN, CHILD), "spawn 2 3 3");
    past(&gateway);
}

#[test]
fn an_acknowledgement_by_somebody_else_is_ignored() {
    let gateway = parent_and_child();
    gateway.records(human(CHILD));
    past(&gateway);
    assert_eq!(gateway.acknowledge(OPS, [receipt(1, 2)]).unwrap().acknowledged, 0);
    assert_eq!(gateway.acknowledge("global", [receipt(1, 2)]).unwrap().acknowledged, 0);
    let other = Receipt { target: WORKER.into(), since: 1, up_to: 2 };
    assert_eq!(gateway.acknowledge(MAIN, [other]).unwrap().acknowledged, 0);
    assert_eq!(gateway.cursor(MAIN, CHILD), "spawn 1 2 2");
}

#[test]
fn a_receipt_that_is_given_twice_at_once_counts_once() {
    let gateway = parent_and_child();
    gateway.records(human(CHILD));
    past(&gateway);
    let answer = gateway.acknowledge(MAIN, [receipt(1, 2), receipt(1, 2)]).unwrap();
    assert_eq!(answer.acknowledged, 1);
}

#[test]
fn take_shows_notices_in_order_of_notified() {
    let gateway = Gateway::open();
    for target in [CHILD, GROUP, WORKER] {
        gateway.watches(OPS, target);
    }
    for target in [WORKER, CHILD, GROUP, WORKER] {
        gateway.records(human(target));
    }
    past(&gateway);
    let taken = gateway.take(OPS).unwrap();
    let shown: Vec<_> = taken.iter().map(|it| (it.target.key.as_str(), it.up_to)).collect();
    assert_eq!(shown, [(WORKER, 1), (CHILD, 2), (GROUP, 3)]);
}

#[test]
fn drain_takes_and_acknowledges_in_one_transaction() {
    let gateway = parent_and_child();
    gateway.records(human(CHILD));
    gateway.records(human(CHILD));
    past(&gateway);
    let shown = gateway.take(MAIN).unwrap();
    let drained = gateway.drain(MAIN).unwrap();
    assert_eq!(drained.notices, shown);
    assert_eq!(drained.reopened, gateway.take(MAIN).unwrap());
    gateway.hears(["notice agent:main:main: agent:main:subagent:child 2..3"]);
    let rest = gateway.drain(MAIN).unwrap();
    assert_eq!((rest.notices, rest.reopened), (drained.reopened, vec![]));
    let nothing = gateway.drain(MAIN).unwrap();
    assert_eq!((nothing.notices, nothing.reopened), (vec![], vec![]));
}

#[test]
fn a_turn_that_dies_between_taking_and_acknowledging_loses_nothing() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("store.db");
    let gateway = Gateway::on(&path, NOON);
    gateway.watches(MAIN, CHILD);
    gateway.records(human(CHILD));
    past(&gateway);
    let shown = gateway.take(MAIN).unwrap();
    drop(gateway);
    let gateway = Gateway::on(&path, NOON);
    assert_eq!(gateway.take(MAIN).unwrap(), shown);
    past(&gateway);
}

#[test]
fn after_one_acknowledgement_a_notice_is_never_shown_again() {
    let gateway = parent_and_child();
    gateway.records(human(CHILD));
    let taken = gateway.take(MAIN).unwrap();
    gateway.acknowledge(MAIN, &taken).unwrap();
    past(&gateway);
    assert_eq!(gateway.recover().unwrap().pending, 0);
    assert_eq!(gateway.take(MAIN).unwrap(), []);
    gateway.hears([]);
}

#[test]
fn pending_says_who_has_how_many() {
    let gateway = Gateway::open();
    for (watcher, target) in [(OPS, CHILD), (OPS, WORKER), (MAIN, CHILD), (MAIN, GROUP)] {
        gateway.watches(watcher, target);
    }
    gateway.records(human(CHILD));
    gateway.records(human(WORKER));
    past(&gateway);
    let count = |watcher: &str, notices| PendingCount { watcher: watcher.into(), notices };
    assert_eq!(gateway.pending().unwrap(), [count(MAIN, 1), count(OPS, 2)]);
}

#[test]
fn pending_notices_come_from_the_cursors_and_survive_a_lost_queue() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("store.db");
    let gateway = Gateway::on(&path, NOON);
    gateway.watches(MAIN, CHILD);
    gateway.records(human(CHILD));
    past(&gateway);
    drop(gateway);
    let deaf = Gateway::with(Awareness::builder(&path).manual_clock(NOON).recover_on_open(false));
    assert_eq!(deaf.take(MAIN).unwrap().len(), 1);
    assert_eq!(deaf.pending().unwrap()[0].notices, 1);
}

#[test]
fn recovery_at_start_up_puts_pending_notices_back_with_notified_at_material_and_the_same_text() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("store.db");
    let gateway = Gateway::on(&path, NOON);
    gateway.watches(MAIN, CHILD);
    gateway.records(human(CHILD));
    let before = gateway.take(MAIN).unwrap();
    gateway.records(human(CHILD));
    past(&gateway);
    drop(gateway);
    let gateway = Gateway::on(&path, NOON);
    gateway
        .hears(["notice agent:main:main: agent:main:subagent:child 0..2", "wake agent:main:main"]);
    let after = gateway.take(MAIN).unwrap();
    assert_eq!(after[0].text, before[0].text);
    assert_eq!(gateway.cursor(MAIN, CHILD), "explicit 0 2 2");
}

#[test]
fn recovery_that_is_asked_for_prunes_first() {
    let gateway = parent_and_child();
    gateway.records(human(CHILD));
    gateway.passes(20 * DAY);
    gateway.records(goal(CHILD, "u1"));
    gateway.passes(20 * DAY);
    past(&gateway);
    let recovery = gateway.recover().unwrap();
    assert_eq!((recovery.pending, recovery.pruned), (1, 2));
    assert_eq!(
        gateway.news()[0].to_string(),
        "notice agent:main:main: agent:main:subagent:child 1..3"
    );
    assert!(gateway.changes_since(CHILD, 1, None).unwrap().history_gap);
}

#[test]
fn recovery_puts_back_only_what_is_pending() {
    let gateway = Gateway::open();
    gateway.watches(MAIN, CHILD);
    gateway.watches(OPS, CHILD);
    gateway.records(human(CHILD));
    gateway.drain(OPS).unwrap();
    past(&gateway);
    assert_eq!(gateway.recover().unwrap().pending, 1);
    gateway.hears(["notice agent:main:main: agent:main:subagent:child 0..1"]);
}

#[test]
fn notices_of_a_deleted_target_vanish() {
    let gateway = parent_and_child();
    gateway.records(human(CHILD));
    let taken = gateway.take(MAIN).unwrap();
    past(&gateway);
    gateway.delete(CHILD).unwrap();
    assert_eq!(gateway.take(MAIN).unwrap(), []);
    assert_eq!(gateway.pending().unwrap(), []);
    assert_eq!(gateway.acknowledge(MAIN, &taken).unwrap().acknowledged, 0);
    gateway.hears([]);
}

#[test]
fn recording_writes_nothing_for_watchers_that_are_pending_already() {
    let gateway = Gateway::open();
    gateway.watches(MAIN, CHILD);
    gateway.records(human(CHILD));
    gateway.passes(DAY);
    gateway.records(human(CHILD));
    past(&gateway);
    assert_eq!(gateway.cursor(MAIN, CHILD), "explicit 0 1 2", "material follows from the head");
}
