//! Section 5: cursors, where they come from and how they end.

use harness::{CHILD, DAY, Gateway, MAIN, NOON, OPS, WORKER, bare};
use headsup::{Actor, Recording, Signal, Unwatchable, WatchAnswer, WatchEntry};
use serde_json::json;

use crate::notices::past;
use crate::{compaction, goal, human, spawn};

#[test]
fn a_spawn_seeds_the_actors_cursor_at_its_own_sequence() {
    let gateway = Gateway::open();
    gateway.records(goal(CHILD, "u1"));
    assert_eq!(gateway.records(spawn(CHILD, MAIN)), 2);
    assert_eq!(gateway.cursor(MAIN, CHILD), "spawn 2 2 2");
    gateway.hears([]);
}

#[test]
fn a_spawns_named_watchers_are_the_parents_in_place_of_the_actor() {
    let gateway = Gateway::open();
    gateway.records(spawn(CHILD, MAIN).watcher(OPS).watcher(WORKER).watcher(OPS));
    assert_eq!(gateway.cursor(OPS, CHILD), "spawn 1 1 1");
    assert_eq!(gateway.cursor(WORKER, CHILD), "spawn 1 1 1");
    assert_eq!(gateway.cursor(MAIN, CHILD), "none");
}

#[test]
fn a_spawn_makes_no_parent_of_who_cannot_watch() {
    let gateway = Gateway::open();
    gateway.records(Signal::child_spawned(CHILD, "r1", Actor::human()));
    gateway.records(Signal::child_spawned(CHILD, "r2", Actor::human().id("u1")));
    gateway.records(Signal::child_spawned(CHILD, "r3", Actor::agent(CHILD)));
    gateway.records(Signal::child_spawned(CHILD, "r4", Actor::system()).watcher("global"));
    assert_eq!(gateway.watchers_of(CHILD).unwrap(), []);
}

#[test]
fn a_settled_cursor_is_seeded_anew_by_a_spawn() {
    let gateway = Gateway::open();
    gateway.watches(MAIN, CHILD);
    gateway.records(compaction(CHILD, "op1"));
    assert_eq!(gateway.cursor(MAIN, CHILD), "explicit 0 0 0");
    gateway.records(spawn(CHILD, MAIN));
    assert_eq!(gateway.cursor(MAIN, CHILD), "spawn 2 2 2");
}

#[test]
fn a_pending_cursor_keeps_its_positions_at_a_spawn() {
    let gateway = Gateway::open();
    gateway.watches(MAIN, CHILD);
    gateway.records(human(CHILD));
    let before = gateway.take(MAIN).unwrap();
    gateway.records(spawn(CHILD, MAIN));
    assert_eq!(gateway.cursor(MAIN, CHILD), "spawn 0 1 1");
    assert_eq!(gateway.take(MAIN).unwrap(), before);
    gateway
        .hears(["notice agent:main:main: agent:main:subagent:child 0..1", "wake agent:main:main"]);
}

#[test]
fn a_watch_starts_at_the_targets_current_version() {
    let gateway = Gateway::open();
    gateway.records(goal(CHILD, "u1"));
    gateway.records(compaction(CHILD, "op1"));
    gateway.watches(MAIN, CHILD);
    assert_eq!(gateway.cursor(MAIN, CHILD), "explicit 2 2 2");
    assert_eq!(gateway.take(MAIN).unwrap(), []);
    gateway.hears([]);
}

#[test]
fn a_watch_on_a_session_without_history_starts_at_0() {
    let gateway = Gateway::open();
    gateway.watches(MAIN, CHILD);
    assert_eq!(gateway.cursor(MAIN, CHILD), "explicit 0 0 0");
}

#[test]
fn watching_again_keeps_a_live_cursors_positions_and_its_pending_notice() {
    let gateway = Gateway::open();
    gateway.watches(MAIN, CHILD);
    gateway.records(human(CHILD));
    past(&gateway);
    let before = gateway.take(MAIN).unwrap();
    gateway.watches(MAIN, CHILD);
    assert_eq!(gateway.take(MAIN).unwrap(), before);
    assert_eq!(gateway.cursor(MAIN, CHILD), "explicit 0 1 1");
    gateway.drain(MAIN).unwrap();
    gateway.records(compaction(CHILD, "op1"));
    gateway.watches(MAIN, CHILD);
    assert_eq!(gateway.cursor(MAIN, CHILD), "explicit 1 1 1");
    gateway.hears([]);
}

#[test]
fn watching_again_renews_the_expiry() {
    let gateway = Gateway::open();
    gateway.watches(MAIN, CHILD);
    gateway.passes(5 * DAY);
    gateway.watches(MAIN, CHILD);
    assert_eq!(gateway.entry(MAIN, CHILD).unwrap().expires_at, NOON + 35 * DAY);
}

#[test]
fn who_is_not_agent_qualified_cannot_watch_and_leaves_no_row() {
    let gateway = Gateway::open();
    for watcher in ["global", "main", "subagent:x"] {
        let answer = gateway.watch(watcher, CHILD, false).unwrap();
        assert_eq!(answer, WatchAnswer::NotWatchable(Unwatchable::NotAgentQualified), "{watcher}");
        gateway.records(goal(CHILD, "u1").watcher(watcher));
        assert_eq!(gateway.watches_of(watcher).unwrap(), []);
        assert_eq!(gateway.take(watcher).unwrap(), []);
        assert!(!gateway.unwatch(watcher, CHILD).unwrap());
    }
    assert_eq!(gateway.watchers_of(CHILD).unwrap(), []);
    gateway.hears([]);
}

#[test]
fn a_session_does_not_watch_itself() {
    let gateway = Gateway::open();
    let answer = gateway.watch(CHILD, CHILD, false).unwrap();
    assert_eq!(answer, WatchAnswer::NotWatchable(Unwatchable::WatcherIsTarget));
    gateway.records(human(CHILD).watcher(CHILD));
    assert_eq!(gateway.watchers_of(CHILD).unwrap(), []);
    gateway.hears([]);
}

#[test]
fn the_answer_to_watch_says_whether_and_why_not() {
    let gateway = Gateway::open();
    let watch =
        |watcher: &str| gateway.answer("watch", &json!({"watcher": watcher, "target": CHILD}));
    assert_eq!(watch(MAIN), json!({"watched": true}));
    assert_eq!(watch("global"), json!({"watched": false, "reason": "not-agent-qualified"}));
    assert_eq!(watch(CHILD), json!({"watched": false, "reason": "watcher-is-target"}));
}

#[test]
fn sessions_that_cannot_watch_still_have_log_and_changes() {
    let gateway = Gateway::open();
    gateway.records(goal(bare("global", "ops"), "u1"));
    assert_eq!(gateway.changes_since(bare("global", "ops"), 0, None).unwrap().events.len(), 1);
}

#[test]
fn unwatch_ends_the_watch_and_its_notice() {
    let gateway = Gateway::open();
    gateway.watches(MAIN, CHILD);
    gateway.records(human(CHILD));
    past(&gateway);
    assert!(gateway.unwatch(MAIN, CHILD).unwrap());
    assert_eq!(gateway.cursor(MAIN, CHILD), "none");
    assert_eq!(gateway.take(MAIN).unwrap(), []);
    assert_eq!(gateway.pending().unwrap(), []);
    assert!(!gateway.unwatch(MAIN, CHILD).unwrap());
    gateway.records(goal(CHILD, "u1"));
    gateway.hears([]);
}

#[test]
fn the_mark_of_an_unwatch_keeps_producers_from_bringing_the_watch_back() {
    let gateway = Gateway::open();
    gateway.watches(MAIN, CHILD);
    gateway.unwatch(MAIN, CHILD).unwrap();
    gateway.records(human(CHILD).watcher(MAIN));
    assert_eq!(gateway.cursor(MAIN, CHILD), "none");
    gateway.hears([]);
}

#[test]
fn the_mark_is_left_also_where_there_was_no_cursor_yet() {
    let gateway = Gateway::open();
    assert!(!gateway.unwatch(MAIN, CHILD).unwrap());
    gateway.records(human(CHILD).watcher(MAIN));
    assert_eq!(gateway.cursor(MAIN, CHILD), "none");
    gateway.hears([]);
}

#[test]
fn watch_lifts_the_mark() {
    let gateway = Gateway::open();
    gateway.unwatch(MAIN, CHILD).unwrap();
    gateway.records(goal(CHILD, "u1").watcher(MAIN));
    gateway.watches(MAIN, CHILD);
    assert_eq!(gateway.cursor(MAIN, CHILD), "explicit 1 1 1");
}

#[test]
fn a_spawn_lifts_the_mark() {
    let gateway = Gateway::open();
    gateway.unwatch(MAIN, CHILD).unwrap();
    gateway.records(spawn(CHILD, MAIN));
    assert_eq!(gateway.cursor(MAIN, CHILD), "spawn 1 1 1");
}

#[test]
fn reset_keeps_the_mark() {
    let gateway = Gateway::open();
    gateway.unwatch(MAIN, CHILD).unwrap();
    assert_eq!(gateway.reset(MAIN).unwrap().cursors, 0);
    gateway.records(human(CHILD).watcher(MAIN));
    assert_eq!(gateway.cursor(MAIN, CHILD), "none");
}

#[test]
fn delete_of_either_side_removes_the_mark() {
    for deleted in [MAIN, CHILD] {
        let gateway = Gateway::open();
        gateway.unwatch(MAIN, CHILD).unwrap();
        assert_eq!(gateway.delete(deleted).unwrap().cursors, 0, "marks are not counted");
        gateway.records(human(CHILD).watcher(MAIN));
        assert_eq!(gateway.cursor(MAIN, CHILD), "spawn 0 1 1");
        past(&gateway);
    }
}

#[test]
fn a_watchers_targets_and_a_targets_watchers_are_listed() {
    let gateway = Gateway::open();
    gateway.watches(OPS, bare("global", "ops"));
    gateway.watches(OPS, bare("global", "main"));
    gateway.watches(OPS, CHILD);
    gateway.watches(MAIN, CHILD);
    gateway.unwatch(WORKER, CHILD).unwrap();
    let pair =
        |it: &WatchEntry| (it.watcher.clone(), it.target.key.clone(), it.target.agent.clone());
    let pairs = |entries: Vec<WatchEntry>| entries.iter().map(pair).collect::<Vec<_>>();
    let expected = |pairs: &[[&str; 3]]| {
        pairs.iter().map(|[a, b, c]| ((*a).into(), (*b).into(), (*c).into())).collect::<Vec<_>>()
    };
    assert_eq!(
        pairs(gateway.watches_of(OPS).unwrap()),
        expected(&[[OPS, CHILD, "main"], [OPS, "global", "main"], [OPS, "global", "ops"]])
    );
    assert_eq!(
        pairs(gateway.watchers_of(CHILD).unwrap()),
        expected(&[[MAIN, CHILD, "main"], [OPS, CHILD, "main"]])
    );
}

#[test]
fn a_listed_watch_says_everything_about_itself() {
    let gateway = Gateway::open();
    gateway.records(goal(CHILD, "u1"));
    gateway.watches(MAIN, CHILD);
    gateway.records(human(CHILD));
    gateway.records(human(CHILD));
    past(&gateway);
    let expected = json!({"watches": [{
        "watcher": MAIN, "target": CHILD, "agent": "main", "provenance": "explicit",
        "lastSeen": 1, "notified": 2, "material": 3, "pending": true,
        "expiresAt": NOON + 30 * DAY,
    }]});
    assert_eq!(gateway.answer("watches", &json!({"watcher": MAIN})), expected);
    assert_eq!(gateway.answer("watches", &json!({"target": CHILD})), expected);
}

#[test]
fn a_cursor_expires_30_days_after_its_last_move() {
    let gateway = Gateway::open();
    gateway.watches(MAIN, CHILD);
    gateway.passes(30 * DAY);
    gateway.recover().unwrap();
    assert_eq!(gateway.cursor(MAIN, CHILD), "explicit 0 0 0", "not strictly older yet");
    gateway.passes(1);
    gateway.recover().unwrap();
    assert_eq!(gateway.cursor(MAIN, CHILD), "none");
}

#[test]
fn only_pruning_removes_an_expired_cursor_and_until_then_it_lives() {
    let gateway = Gateway::open();
    gateway.watches(MAIN, CHILD);
    gateway.passes(90 * DAY);
    gateway.records(human(CHILD));
    gateway
        .hears(["notice agent:main:main: agent:main:subagent:child 0..1", "wake agent:main:main"]);
}

#[test]
fn a_cursor_expires_pending_or_not() {
    let gateway = Gateway::open();
    gateway.watches(MAIN, CHILD);
    gateway.records(human(CHILD));
    past(&gateway);
    gateway.passes(31 * DAY);
    past(&gateway);
    assert_eq!(gateway.recover().unwrap().pending, 0);
    assert_eq!(gateway.cursor(MAIN, CHILD), "none");
    gateway.hears([]);
}

#[test]
fn a_busy_target_keeps_its_watchers() {
    let gateway = Gateway::open();
    gateway.watches(MAIN, CHILD);
    gateway.passes(20 * DAY);
    gateway.records(compaction(CHILD, "op1"));
    gateway.passes(20 * DAY);
    gateway.recover().unwrap();
    assert_eq!(gateway.cursor(MAIN, CHILD), "explicit 0 0 0");
    assert_eq!(gateway.entry(MAIN, CHILD).unwrap().expires_at, NOON + 50 * DAY);
}

#[test]
fn being_acknowledged_moves_a_cursor() {
    let gateway = Gateway::open();
    gateway.watches(MAIN, CHILD);
    gateway.records(human(CHILD));
    gateway.passes(10 * DAY);
    gateway.drain(MAIN).unwrap();
    past(&gateway);
    assert_eq!(gateway.entry(MAIN, CHILD).unwrap().expires_at, NOON + 40 * DAY);
}

#[test]
fn being_seeded_or_notified_moves_a_cursor() {
    let gateway = Gateway::open();
    gateway.records(spawn(CHILD, MAIN));
    assert_eq!(gateway.entry(MAIN, CHILD).unwrap().expires_at, NOON + 30 * DAY);
    gateway.passes(DAY);
    gateway.records(human(CHILD));
    assert_eq!(gateway.entry(MAIN, CHILD).unwrap().expires_at, NOON + 31 * DAY);
    past(&gateway);
}

#[test]
fn recovery_is_no_move() {
    let gateway = Gateway::open();
    gateway.watches(MAIN, CHILD);
    gateway.records(human(CHILD));
    gateway.passes(10 * DAY);
    assert_eq!(gateway.recover().unwrap().pending, 1);
    past(&gateway);
    assert_eq!(gateway.entry(MAIN, CHILD).unwrap().expires_at, NOON + 30 * DAY);
}

#[test]
fn marks_expire_the_same_way() {
    let gateway = Gateway::open();
    gateway.unwatch(MAIN, CHILD).unwrap();
    gateway.passes(30 * DAY);
    gateway.recover().unwrap();
    gateway.records(human(CHILD).watcher(MAIN));
    assert_eq!(gateway.cursor(MAIN, CHILD), "none");
    gateway.passes(30 * DAY + 1);
    gateway.recover().unwrap();
    gateway.records(human(CHILD).watcher(MAIN));
    assert_eq!(gateway.cursor(MAIN, CHILD), "spawn 0 2 2");
    past(&gateway);
}

#[test]
fn a_clock_that_went_back_does_not_let_a_cursor_expire_early() {
    let gateway = Gateway::open();
    gateway.watches(MAIN, CHILD);
    gateway.set_clock(NOON - 20 * DAY).unwrap();
    gateway.watches(MAIN, CHILD);
    assert_eq!(gateway.entry(MAIN, CHILD).unwrap().expires_at, NOON + 30 * DAY);
}

#[test]
fn whoever_unwatches_is_not_watching_for_a_human_direct_message() {
    let gateway = Gateway::open();
    gateway.watches(MAIN, CHILD);
    gateway.unwatch(MAIN, CHILD).unwrap();
    assert_eq!(gateway.record(human(CHILD)).unwrap(), Recording::Unwatched);
}
