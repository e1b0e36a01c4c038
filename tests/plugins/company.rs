//! Calls that share a commit with one that fails.

use std::sync::Barrier;
use std::thread;
use std::time::Duration;

use headsup::Recording;
use rusqlite::Connection;

use crate::stage::{GOOD, Stage, bad, reason};

/// Makes calls wait for the writer together, so that they commit together: they cannot begin while
/// another connection writes.
fn in_one_group(stage: &Stage, sessions: &[String]) -> Vec<Recording> {
    let blocker = Connection::open(&stage.path).unwrap();
    blocker.execute_batch("BEGIN IMMEDIATE").unwrap();
    let started = Barrier::new(sessions.len() + 1);
    thread::scope(|scope| {
        let calls: Vec<_> = sessions
            .iter()
            .map(|session| {
                scope.spawn(|| {
                    started.wait();
                    stage.record(session)
                })
            })
            .collect();
        started.wait();
        // Nothing is asserted about this: calls that come later make another group.
        thread::sleep(Duration::from_millis(200));
        blocker.execute_batch("ROLLBACK").unwrap();
        calls.into_iter().map(|call| call.join().unwrap()).collect()
    })
}

fn spoils_nothing_for_others(word: &str, expected: &str) {
    let stage = Stage::hasty();
    let mut sessions: Vec<String> = (0..12).map(|at| format!("{GOOD}:{at}")).collect();
    for at in [3, 7] {
        sessions[at] = bad(word);
    }
    let outcomes = in_one_group(&stage, &sessions);
    let mut versions = Vec::new();
    for (session, outcome) in sessions.iter().zip(&outcomes) {
        if session.contains("hostile") {
            assert_eq!(reason(outcome), expected);
            continue;
        }
        let Recording::Recorded(version) = outcome else { panic!("{outcome:?}") };
        let delta = stage.awareness.changes_since(session.as_str(), 0, None).unwrap();
        assert_eq!(delta.events.len(), 1);
        assert_eq!(delta.state_version, *version);
        versions.push(*version);
    }
    versions.sort_unstable();
    assert_eq!(versions, (2..12).collect::<Vec<_>>(), "numbers are consecutive");
    assert_eq!(stage.heard.notices.lock().unwrap().len(), 10);
    stage.works();
}

#[test]
fn a_trap_in_a_group_spoils_nothing_for_the_others() {
    spoils_nothing_for_others("panic", "plugin-trap");
}

#[test]
fn a_timeout_in_a_group_spoils_nothing_for_the_others() {
    spoils_nothing_for_others("loop", "plugin-timeout");
}

#[test]
fn a_refused_row_in_a_group_spoils_nothing_for_the_others() {
    spoils_nothing_for_others("lie-cursor", "store-failed");
}

#[test]
fn a_core_that_traps_all_the_time_keeps_nobody_from_recording() {
    let stage = Stage::new();
    let good = thread::scope(|scope| {
        let traps = scope.spawn(|| {
            for _ in 0..50 {
                reason(&stage.record(&bad("panic")));
            }
        });
        let record = |at: usize| {
            let session = format!("{GOOD}:{at}");
            let records = (0..50).map(|_| stage.record(&session));
            records.filter(|outcome| matches!(outcome, Recording::Recorded(_))).count()
        };
        let threads: Vec<_> = (0..4).map(|at| scope.spawn(move || record(at))).collect();
        traps.join().unwrap();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum::<usize>()
    });
    assert_eq!(good, 200);
    let events = stage.rows().iter().filter(|row| row.starts_with("session_state_events:")).count();
    assert_eq!(events, 201);
    stage.works();
}
