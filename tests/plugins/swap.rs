//! Another core at run time, under load: nothing is lost, nothing happens twice.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use headsup::{Awareness, Plugin, PluginError, Recording};

use crate::cores;
use crate::stage::{GOOD, Stage, WATCHER, bad, reason};

const THREADS: usize = 8;
const RECORDS: usize = 150;

fn built_in() -> Plugin {
    Plugin::built_in(cores::engine()).unwrap()
}

#[test]
fn a_swap_under_load_loses_and_doubles_nothing() {
    let stage = Stage::new();
    let (built_in, hostile) = (built_in(), cores::hostile());
    let recording = AtomicBool::new(true);
    let versions: Vec<u64> = thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS)
            .map(|at| {
                let stage = &stage;
                scope.spawn(move || record_and_read(stage, &format!("{GOOD}:{at}")))
            })
            .collect();
        let swapping = scope.spawn(|| {
            let mut swaps = 0;
            while recording.load(Ordering::SeqCst) || swaps < 20 {
                let next = if swaps % 2 == 0 { &built_in } else { &hostile };
                stage.awareness.swap(next);
                assert_eq!(stage.awareness.metadata().name, next.metadata().name);
                swaps += 1;
            }
        });
        let versions = threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect();
        recording.store(false, Ordering::SeqCst);
        swapping.join().unwrap();
        versions
    });

    let expected = THREADS * RECORDS;
    let numbers: BTreeSet<u64> = versions.iter().copied().collect();
    assert_eq!(numbers.len(), expected, "no number was given twice");
    assert_eq!((numbers.first(), numbers.last()), (Some(&2), Some(&(expected as u64 + 1))));
    let events = stage.rows().iter().filter(|row| row.starts_with("session_state_events:")).count();
    assert_eq!(events, expected + 1);
    assert_eq!(stage.heard.notices.lock().unwrap().len(), THREADS, "one notice a session");
    assert!(stage.heard.lines.lock().unwrap().is_empty());
}

/// Each record is seen by the read that follows it.
fn record_and_read(stage: &Stage, session: &str) -> Vec<u64> {
    let mut versions = Vec::new();
    for _ in 0..RECORDS {
        let Recording::Recorded(version) = stage.record(session) else { panic!("not recorded") };
        assert_eq!(stage.awareness.versions([session]).unwrap(), [Some(version)]);
        versions.push(version);
    }
    versions
}

#[test]
fn calls_after_a_swap_are_served_by_the_other_core() {
    let stage = Stage::with(&built_in(), |builder| builder);
    assert_eq!(stage.record(&bad("panic")), Recording::Recorded(2));
    stage.awareness.swap(&cores::hostile());
    assert_eq!(stage.awareness.metadata().name, "hostile");
    assert_eq!(reason(&stage.record(&bad("panic"))), "plugin-trap");
    assert_eq!(stage.awareness.take(&bad("panic")).unwrap_err().reason(), "plugin-trap");
    stage.works();
    stage.awareness.swap(&built_in());
    assert_eq!(stage.record(&bad("panic")), Recording::Recorded(4));
    assert_eq!(stage.awareness.take(WATCHER).unwrap().len(), 2);
}

/// A check of a candidate on a scratch store.
type Check = fn(&Awareness) -> Result<(), String>;

#[test]
fn a_candidate_that_fails_its_check_leaves_the_old_core_running() {
    let stage = Stage::with(&built_in(), |builder| builder);
    let before = stage.rows();
    let candidate = cores::hostile();
    let checks: [Check; 2] = [
        |_| Err("it answered 3 of 4 vectors wrongly".to_owned()),
        |scratch| match crate::stage::record(scratch, &bad("panic")) {
            Recording::Failed { message, .. } => Err(message),
            _ => Ok(()),
        },
    ];
    for check in checks {
        let error = stage.awareness.swap_checked(&candidate, check).unwrap_err();
        assert!(matches!(error, PluginError::Rejected { .. }), "{error:?}");
        assert_eq!(stage.awareness.metadata().name, "headsup");
    }
    assert_eq!(stage.rows(), before, "checks run on a scratch store");
    stage.works();
    stage.awareness.swap_checked(&candidate, |_| Ok(())).unwrap();
    assert_eq!(stage.awareness.metadata().name, "hostile");
}
