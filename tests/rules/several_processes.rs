//! Several processes that share one store file: each gateway here opens it for itself.

use std::path::PathBuf;

use harness::{CHILD, Gateway, MAIN, NOON, OPS, WORKER};
use headsup::{Notice, Recording};
use tempfile::TempDir;

use crate::{goal, human};

/// Two gateways on one file, and the folder that it lives in.
fn two() -> (Gateway, Gateway, TempDir) {
    let folder = TempDir::new().unwrap();
    let path: PathBuf = folder.path().join("store.db");
    (Gateway::on(&path, NOON), Gateway::on(&path, NOON), folder)
}

#[test]
fn a_notice_is_announced_by_the_process_that_recorded_and_listed_by_any() {
    let (one, other, _folder) = two();
    one.watches(MAIN, CHILD);
    other.records(human(CHILD));
    other.hears(["notice agent:main:main: agent:main:subagent:child 0..1", "wake agent:main:main"]);
    one.hears([]);
    assert_eq!(one.take(MAIN).unwrap(), other.take(MAIN).unwrap());
    assert_eq!(one.pending().unwrap(), other.pending().unwrap());
}

#[test]
fn what_one_process_acknowledged_no_process_shows_again() {
    let (one, other, _folder) = two();
    one.watches(MAIN, CHILD);
    one.records(human(CHILD));
    drop(one.news());
    let taken: Vec<Notice> = other.take(MAIN).unwrap();
    assert_eq!(one.drain(MAIN).unwrap().notices, taken);
    assert_eq!(other.take(MAIN).unwrap(), []);
    assert_eq!(other.acknowledge(MAIN, &taken).unwrap().acknowledged, 0);
    assert_eq!(other.recover().unwrap().pending, 0);
}

#[test]
fn only_one_of_two_processes_that_drain_gets_a_notice() {
    let (one, other, _folder) = two();
    one.watches(MAIN, CHILD);
    for _ in 0..20 {
        one.records(human(CHILD));
        let counts: Vec<usize> = std::thread::scope(|scope| {
            let drain = |gateway: &Gateway| {
                let awareness = (**gateway).clone();
                scope.spawn(move || awareness.drain(MAIN).unwrap().notices.len())
            };
            [drain(&one), drain(&other)].map(|thread| thread.join().unwrap()).into()
        });
        assert_eq!(counts.iter().sum::<usize>(), 1);
    }
    drop(one.news());
}

#[test]
fn recovery_is_safe_beside_a_process_that_has_already_shown_the_notice() {
    let (one, other, _folder) = two();
    one.watches(MAIN, CHILD);
    one.records(human(CHILD));
    let shown = one.take(MAIN).unwrap();
    one.records(human(CHILD));
    drop(one.news());
    assert_eq!(other.recover().unwrap().pending, 1);
    other.hears(["notice agent:main:main: agent:main:subagent:child 0..2", "wake agent:main:main"]);
    assert_eq!(one.take(MAIN).unwrap()[0].text, shown[0].text);
    let answer = one.acknowledge(MAIN, &shown).unwrap();
    assert_eq!((answer.acknowledged, answer.reopened.len()), (1, 1));
    one.hears(["notice agent:main:main: agent:main:subagent:child 1..2"]);
}

#[test]
fn sequences_are_one_series_over_all_processes() {
    let (one, other, _folder) = two();
    assert_eq!(one.records(goal(CHILD, "u1")), 1);
    assert_eq!(other.records(goal(CHILD, "u1")), 2);
    assert_eq!(one.records(goal(WORKER, "u1")), 3);
    assert_eq!(other.versions([CHILD, WORKER]).unwrap(), [Some(2), Some(3)]);
}

#[test]
fn a_dedupe_key_holds_over_all_processes() {
    let (one, other, _folder) = two();
    one.records(goal(CHILD, "u1").dedupe_key("k"));
    let again = other.record(goal(CHILD, "u1").dedupe_key("k")).unwrap();
    assert_eq!(again, Recording::Duplicate(1));
}

#[test]
fn processes_that_record_at_once_lose_nothing() {
    let (one, other, _folder) = two();
    one.watches(OPS, CHILD);
    std::thread::scope(|scope| {
        for gateway in [&one, &other] {
            for writer in 0..2 {
                let awareness = (**gateway).clone();
                scope.spawn(move || {
                    for _ in 0..25 {
                        let signal = goal(CHILD, &format!("u{writer}"));
                        assert!(matches!(awareness.record(signal), Ok(Recording::Recorded(_))));
                    }
                });
            }
        }
    });
    let delta = one.changes_since(CHILD, 0, None).unwrap();
    let sequences: Vec<u64> = delta.events.iter().map(|event| event.sequence).collect();
    assert_eq!(sequences, (1..=100).collect::<Vec<u64>>());
    assert_eq!(other.take(OPS).unwrap().len(), 1);
    let notices = |gateway: &Gateway| {
        let news = gateway.news();
        news.iter().filter(|news| news.to_string().starts_with("notice")).count()
    };
    assert_eq!(notices(&one) + notices(&other), 1, "one notice, whoever opened it");
}

#[test]
fn a_watch_in_one_process_counts_for_a_message_in_another() {
    let (one, other, _folder) = two();
    assert_eq!(other.record(human(CHILD)).unwrap(), Recording::Unwatched);
    one.watches(MAIN, CHILD);
    assert_eq!(other.records(human(CHILD)), 1);
    drop(other.news());
}
