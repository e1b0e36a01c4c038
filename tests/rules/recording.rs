//! Section 4: one transaction, best effort, one series of sequences.

use std::path::Path;
use std::time::Duration;

use harness::{CHILD, Gateway, MAIN, NOON, News, OPS, WORKER, bare, rows};
use headsup::{Actor, Awareness, Error, InvalidReason, Level, Listener, Notice, Recording, Signal};
use rusqlite::Connection;
use serde_json::json;
use tempfile::TempDir;

use crate::{compaction, goal, human, spawn};

fn store() -> (TempDir, std::path::PathBuf) {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("store.db");
    (folder, path)
}

/// Makes every insert into a table fail, as a broken store would.
fn break_table(path: &Path, table: &str) {
    let sql = format!(
        "CREATE TRIGGER broken BEFORE INSERT ON {table} BEGIN SELECT RAISE(ABORT, 'broken'); END"
    );
    Connection::open(path).unwrap().execute_batch(&sql).unwrap();
}

fn mend(path: &Path) {
    Connection::open(path).unwrap().execute_batch("DROP TRIGGER broken").unwrap();
}

fn failed(recording: &Recording) -> &'static str {
    match recording {
        Recording::Failed { reason, .. } => reason,
        other => panic!("not failed: {other:?}"),
    }
}

#[test]
fn event_head_and_cursors_are_written_together_or_not_at_all() {
    let (_folder, path) = store();
    let gateway = Gateway::on(&path, NOON);
    gateway.watches(OPS, CHILD);
    break_table(&path, "session_state_heads");
    failed(&gateway.record(goal(CHILD, "u1")).unwrap());
    mend(&path);
    assert_eq!(gateway.cursor(OPS, CHILD), "explicit 0 0 0");
    assert_eq!(gateway.versions([CHILD]).unwrap(), [None]);
    assert_eq!(gateway.changes_since(CHILD, 0, None).unwrap().events, []);
    gateway.hears(["log error"]);
}

#[test]
fn the_queue_and_wakes_are_touched_only_after_the_commit() {
    let (_folder, path) = store();
    let gateway = Gateway::on(&path, NOON);
    gateway.watches(OPS, CHILD);
    gateway.watches(OPS, WORKER);
    // The second of two signals fails: what the first opened must not be announced.
    let sql = format!(
        "CREATE TRIGGER broken BEFORE INSERT ON session_state_events
         WHEN new.session_key = '{WORKER}' BEGIN SELECT RAISE(ABORT, 'broken'); END"
    );
    Connection::open(&path).unwrap().execute_batch(&sql).unwrap();
    let outcomes = gateway.record_many(vec![human(CHILD), human(WORKER)]).unwrap();
    assert!(outcomes.iter().all(|outcome| failed(outcome).starts_with("store-")));
    gateway.hears(["log error"]);
    mend(&path);
    assert_eq!(gateway.record_many(vec![human(CHILD), human(WORKER)]).unwrap().len(), 2);
    gateway.hears([
        "notice agent:ops:main: agent:main:subagent:child 0..1",
        "wake agent:ops:main",
        "notice agent:ops:main: agent:main:telegram:worker 0..2",
    ]);
}

#[test]
fn a_queue_or_wake_that_fails_undoes_nothing() {
    struct Broken;
    impl Listener for Broken {
        fn notice(&self, _: &str, _: &Notice) {
            panic!("a queue that fails, on purpose");
        }
        fn wake(&self, _: &str) {
            panic!("a wake that fails, on purpose");
        }
    }
    let awareness = Awareness::builder(":memory:")
        .plugin(harness::core())
        .manual_clock(NOON)
        .listener(Broken)
        .open()
        .unwrap();
    awareness.watch(OPS, CHILD, false).unwrap();
    assert_eq!(awareness.record(human(CHILD)).unwrap(), Recording::Recorded(1));
    assert_eq!(awareness.take(OPS).unwrap().len(), 1);
    assert_eq!(awareness.record(human(CHILD)).unwrap(), Recording::Recorded(2));
}

#[test]
fn a_store_that_another_process_keeps_busy_is_an_outcome() {
    let (_folder, path) = store();
    let builder = Awareness::builder(&path).manual_clock(NOON);
    let gateway = Gateway::with(builder.busy_timeout(Duration::from_millis(50)));
    gateway.watches(OPS, CHILD);
    let other = Connection::open(&path).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    assert_eq!(failed(&gateway.record(human(CHILD)).unwrap()), "store-busy");
    assert_eq!(gateway.cursor(OPS, CHILD), "explicit 0 0 0", "reading does not wait");
    gateway.hears(["log error"]);
    other.execute_batch("ROLLBACK").unwrap();
    assert_eq!(gateway.records(human(CHILD)), 1);
    drop(gateway.news());
}

#[test]
fn a_core_that_traps_is_an_outcome() {
    // So little memory that a thousand watchers do not fit.
    let builder = Awareness::builder(":memory:").manual_clock(NOON).memory_limit(1_300_000);
    let gateway = Gateway::with(builder);
    let mut signal = goal(CHILD, "u1");
    signal.watchers = vec![format!("agent:main:{}", "x".repeat(500)); 1_000];
    assert_eq!(failed(&gateway.record(signal).unwrap()), "plugin-trap");
    gateway.hears(["log error"]);
    assert_eq!(gateway.records(goal(CHILD, "u1")), 1);
}

#[test]
fn a_failing_store_is_an_outcome_that_was_logged_and_the_next_call_works() {
    let (_folder, path) = store();
    let gateway = Gateway::on(&path, NOON);
    break_table(&path, "session_state_events");
    assert!(failed(&gateway.record(goal(CHILD, "u1")).unwrap()).starts_with("store-"));
    let news = gateway.news();
    assert!(matches!(&news[..], [News::Log(Level::Error, line)] if line.contains("recorded")));
    let params = json!({"session": CHILD, "kind": "created", "actor": {"type": "system"}});
    let answer = gateway.answer("record", &params);
    assert_eq!(answer["outcome"], "failed");
    assert!(answer["reason"].as_str().unwrap().starts_with("store-"), "{answer}");
    let many = gateway.answer("recordMany", &json!({"signals": [params, params]}));
    assert_eq!(many["outcomes"], json!([answer, answer]));
    gateway.hears(["log error", "log error"]);
    mend(&path);
    assert_eq!(gateway.records(goal(CHILD, "u1")), 1);
}

#[test]
fn bad_input_is_an_error_and_writes_nothing() {
    let (_folder, path) = store();
    let gateway = Gateway::on(&path, NOON);
    gateway.watches(OPS, CHILD);
    let before = rows(&path);
    let bad = human(CHILD).channel("a\nb");
    assert!(matches!(gateway.record(bad), Err(Error::Invalid(_))));
    gateway.hears([]);
    assert_eq!(rows(&path), before);
    assert_eq!(gateway.records(goal(WORKER, "u1")), 1);
}

#[test]
fn record_many_is_one_transaction_in_order() {
    let gateway = Gateway::open();
    gateway.watches(OPS, CHILD);
    let signals = vec![
        human(CHILD),
        compaction(CHILD, "op1"),
        compaction(CHILD, "op1"),
        human(WORKER),
        goal(WORKER, "u1"),
    ];
    let outcomes = gateway.record_many(signals).unwrap();
    assert_eq!(
        outcomes,
        [
            Recording::Recorded(1),
            Recording::Recorded(2),
            Recording::Duplicate(2),
            Recording::Unwatched,
            Recording::Recorded(3),
        ]
    );
    gateway.hears(["notice agent:ops:main: agent:main:subagent:child 0..1", "wake agent:ops:main"]);
}

/// Heads of signals in a row on one session are saved once: nobody may see a difference.
#[test]
fn signals_in_one_call_leave_what_they_leave_one_by_one() {
    let signals = || {
        vec![
            goal(CHILD, "u1"),
            goal(CHILD, OPS),
            compaction(CHILD, "op1"),
            compaction(CHILD, "op1"),
            goal(WORKER, OPS),
            goal(CHILD, "u2"),
            human(CHILD),
            goal(WORKER, OPS),
            goal(WORKER, MAIN),
        ]
    };
    let (together, singly) = (Gateway::open(), Gateway::open());
    let pairs = [(OPS, CHILD), (MAIN, CHILD), (OPS, WORKER), (MAIN, WORKER)];
    for (watcher, target) in pairs {
        together.watches(watcher, target);
        singly.watches(watcher, target);
    }
    let outcomes = together.record_many(signals()).unwrap();
    let each: Vec<_> = signals().into_iter().map(|it| singly.record(it).unwrap()).collect();
    assert_eq!(outcomes, each);
    for (watcher, target) in pairs {
        assert_eq!(together.cursor(watcher, target), singly.cursor(watcher, target));
        let delta = |gateway: &Gateway| gateway.changes_since(target, 0, None).unwrap();
        assert_eq!(delta(&together), delta(&singly));
    }
    for watcher in [OPS, MAIN] {
        assert_eq!(together.drain(watcher).unwrap(), singly.drain(watcher).unwrap());
    }
    assert_eq!(together.news(), singly.news());
}

#[test]
fn one_bad_signal_among_many_and_nothing_is_recorded() {
    let (_folder, path) = store();
    let gateway = Gateway::on(&path, NOON);
    gateway.watches(OPS, CHILD);
    let before = rows(&path);
    let signals = vec![goal(CHILD, "u1"), goal(CHILD, "u 1")];
    let Err(Error::Invalid(refused)) = gateway.record_many(signals) else { panic!("not refused") };
    assert_eq!(refused.field, "signals[1].actor.id");
    gateway.hears([]);
    assert_eq!(rows(&path), before);
    let good = json!({
        "session": CHILD, "kind": "goal_changed", "change": "updated", "actor": {"type": "human"},
    });
    let bad = json!({"session": CHILD, "kind": "goal_changed", "change": "updated"});
    let refusal = gateway.refusal("recordMany", &json!({"signals": [good, bad]}));
    assert_eq!(refusal, ("missing-field".into(), "signals[1].actor".into()));
    gateway.hears([]);
    assert_eq!(rows(&path), before);
}

#[test]
fn at_most_a_thousand_signals_are_recorded_at_once() {
    let gateway = Gateway::open();
    let signals = |count| vec![goal(CHILD, "u1"); count];
    assert_eq!(gateway.record_many(signals(1_000)).unwrap().len(), 1_000);
    let Err(Error::Invalid(refused)) = gateway.record_many(signals(1_001)) else {
        panic!("not refused")
    };
    assert_eq!(refused.reason, InvalidReason::TooMany);
    assert_eq!(gateway.record_many(Vec::new()).unwrap(), []);
    assert_eq!(gateway.versions([CHILD]).unwrap(), [Some(1_000)]);
}

#[test]
fn at_most_a_thousand_watchers_are_named() {
    let gateway = Gateway::open();
    let mut signal = goal(CHILD, "u1");
    signal.watchers = (0..1_001).map(|at| format!("agent:main:w{at}")).collect();
    let Err(Error::Invalid(refused)) = gateway.record(signal.clone()) else {
        panic!("not refused")
    };
    assert_eq!((refused.field.as_str(), refused.reason), ("watchers", InvalidReason::TooMany));
    signal.watchers.pop();
    gateway.records(signal);
    assert_eq!(gateway.watchers_of(CHILD).unwrap().len(), 1_000);
    assert_eq!(gateway.news().len(), 2_000, "a notice and a wake each");
}

#[test]
fn a_fresh_store_starts_at_1_and_commits_consecutive_sequences() {
    let (_folder, path) = store();
    let gateway = Gateway::on(&path, NOON);
    assert_eq!(gateway.records(goal(CHILD, "u1")), 1);
    break_table(&path, "session_state_heads");
    failed(&gateway.record(goal(WORKER, "u1")).unwrap());
    mend(&path);
    let _ = gateway.news();
    gateway.record(goal(CHILD, "u 1")).unwrap_err();
    gateway.record(human(WORKER)).unwrap();
    assert_eq!(gateway.records(goal(bare("global", "ops"), "u1")), 2);
    assert_eq!(gateway.records(spawn(WORKER, MAIN)), 3);
}

#[test]
fn sequences_are_not_reused_after_deleting_pruning_vacuum_or_reopening() {
    let (_folder, path) = store();
    let gateway = Gateway::on(&path, NOON);
    gateway.records(goal(CHILD, "u1"));
    gateway.delete(CHILD).unwrap();
    assert_eq!(gateway.records(goal(CHILD, "u1")), 2);
    gateway.set_clock(NOON + 60 * harness::DAY).unwrap();
    assert_eq!(gateway.recover().unwrap().pruned, 1);
    drop(gateway);
    Connection::open(&path).unwrap().execute_batch("VACUUM").unwrap();
    let gateway = Gateway::on(&path, NOON + 60 * harness::DAY);
    assert_eq!(gateway.records(goal(CHILD, "u1")), 3);
}

#[test]
fn the_state_version_is_the_highest_sequence_of_the_sessions_log() {
    let gateway = Gateway::open();
    gateway.records(goal(CHILD, "u1"));
    gateway.records(goal(WORKER, "u1"));
    gateway.records(compaction(CHILD, "op1"));
    gateway.records(goal(WORKER, "u1"));
    assert_eq!(gateway.versions([CHILD, WORKER]).unwrap(), [Some(3), Some(4)]);
    assert_eq!(gateway.changes_since(CHILD, 0, None).unwrap().state_version, 3);
}

#[test]
fn the_state_version_survives_pruning() {
    let gateway = Gateway::open();
    gateway.records(goal(CHILD, "u1"));
    gateway.passes(31 * harness::DAY);
    assert_eq!(gateway.recover().unwrap().pruned, 1);
    let delta = gateway.changes_since(CHILD, 1, None).unwrap();
    assert_eq!((delta.state_version, delta.events.len(), delta.history_gap), (1, 0, false));
}

#[test]
fn the_state_version_is_0_where_nothing_was_recorded() {
    let gateway = Gateway::open();
    assert_eq!(gateway.changes_since(CHILD, 0, None).unwrap().state_version, 0);
    assert_eq!(gateway.answer("status", &json!({"session": CHILD})), json!({"stateVersion": 0}));
}

#[test]
fn what_is_recorded_while_others_record_never_lands_behind_what_was_seen() {
    let (_folder, path) = store();
    let gateway = Gateway::on(&path, NOON);
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let awareness = (*gateway).clone();
            scope.spawn(move || {
                for at in 0..50 {
                    let key = format!("w{writer}-{at}");
                    let signal = Signal::created(CHILD, Actor::system()).dedupe_key(key);
                    assert!(matches!(awareness.record(signal), Ok(Recording::Recorded(_))));
                }
            });
        }
        let mut seen = 0;
        while seen < 200 {
            let delta = gateway.changes_since(CHILD, seen, None).unwrap();
            for event in delta.events {
                assert_eq!(event.sequence, seen + 1, "nothing appears at or below what was seen");
                seen = event.sequence;
            }
        }
    });
}
