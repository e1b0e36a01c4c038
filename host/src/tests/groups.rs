//! Calls that write at the same time: grouped, each for itself, and in order.

use std::collections::BTreeSet;
use std::sync::{Barrier, mpsc};
use std::thread;
use std::time::Duration;

use super::{CHILD, MAIN, builder};
use crate::{Actor, GoalChange, Recording, Signal};

const THREADS: u64 = 8;
const CALLS: u64 = 40;

#[test]
fn calls_from_many_threads_are_all_committed_with_consecutive_sequences() {
    let folder = tempfile::tempdir().unwrap();
    let awareness = builder(folder.path().join("store.db")).open().unwrap();
    let start = Barrier::new(usize::try_from(THREADS).unwrap());
    let sequences: Vec<u64> = thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS)
            .map(|thread| {
                let (awareness, start) = (awareness.clone(), &start);
                scope.spawn(move || {
                    start.wait();
                    let session = format!("agent:main:worker-{thread}");
                    let record = |_| {
                        let signal = Signal::created(session.as_str(), Actor::system());
                        match awareness.record(signal).unwrap() {
                            Recording::Recorded(sequence) => sequence,
                            other => panic!("{other:?}"),
                        }
                    };
                    let mine: Vec<u64> = (0..CALLS).map(record).collect();
                    assert!(mine.is_sorted(), "per session, commit order is sequence order");
                    mine
                })
            })
            .collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    let expected: BTreeSet<u64> = (1..=THREADS * CALLS).collect();
    assert_eq!(sequences.len(), expected.len());
    assert_eq!(sequences.into_iter().collect::<BTreeSet<_>>(), expected);
}

#[test]
fn a_refused_call_in_a_group_takes_nobody_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let awareness = builder(folder.path().join("store.db")).open().unwrap();
    let start = Barrier::new(usize::try_from(THREADS).unwrap());
    thread::scope(|scope| {
        for thread in 0..THREADS {
            let (awareness, start) = (awareness.clone(), &start);
            scope.spawn(move || {
                start.wait();
                for _ in 0..CALLS {
                    // Every other thread names a session without its agent.
                    let session = if thread % 2 == 0 { CHILD } else { "global" };
                    let recorded = awareness.record(Signal::created(session, Actor::system()));
                    assert_eq!(recorded.is_ok(), thread % 2 == 0);
                }
            });
        }
    });
    let recorded = THREADS / 2 * CALLS;
    assert_eq!(awareness.versions([CHILD]).unwrap(), [Some(recorded)]);
}

#[test]
fn reads_see_what_was_committed_before_they_began() {
    let folder = tempfile::tempdir().unwrap();
    let awareness = builder(folder.path().join("store.db")).readers(2).open().unwrap();
    awareness.watch(MAIN, CHILD, false).unwrap();
    thread::scope(|scope| {
        for _ in 0..THREADS {
            let awareness = awareness.clone();
            scope.spawn(move || {
                for _ in 0..CALLS {
                    let goal = Signal::goal_changed(CHILD, GoalChange::Updated, Actor::human());
                    let Recording::Recorded(version) = awareness.record(goal).unwrap() else {
                        panic!()
                    };
                    let seen = awareness.versions([CHILD]).unwrap()[0];
                    assert!(seen >= Some(version));
                }
            });
        }
    });
}

#[test]
fn too_many_waiting_calls_are_overloaded() {
    let awareness = builder(":memory:").recover_on_open(false).max_waiting(0).open().unwrap();
    let recording = awareness.record(Signal::created(CHILD, Actor::system())).unwrap();
    assert!(matches!(recording, Recording::Failed { reason: "overloaded", .. }), "{recording:?}");
    assert_eq!(awareness.drain(MAIN).unwrap_err().reason(), "overloaded");
}

/// One call leads and waits for another process; of those behind it, two fit.
#[test]
fn as_many_calls_wait_as_may_and_the_next_is_refused_at_once() {
    const CALLERS: usize = 5;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let patient = builder(&path).busy_timeout(Duration::from_mins(2));
    let awareness = patient.max_waiting(2).open().unwrap();
    let other = rusqlite::Connection::open(&path).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let (ended, ends) = mpsc::channel();
    thread::scope(|scope| {
        for _ in 0..CALLERS {
            let (awareness, ended) = (awareness.clone(), ended.clone());
            scope.spawn(move || {
                let signal = Signal::created(CHILD, Actor::system());
                ended.send(awareness.record(signal).unwrap()).unwrap();
            });
        }
        for _ in 0..CALLERS - 3 {
            let refused = ends.recv().unwrap();
            assert!(
                matches!(refused, Recording::Failed { reason: "overloaded", .. }),
                "{refused:?}"
            );
        }
        other.execute_batch("ROLLBACK").unwrap();
        for _ in 0..3 {
            let recorded = ends.recv().unwrap();
            assert!(matches!(recorded, Recording::Recorded(_)), "{recorded:?}");
        }
    });
}
