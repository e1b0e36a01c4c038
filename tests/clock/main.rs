//! Clocks that jump, stand or go wild: order never depends on the time, nothing expires by a jump
//! that is taken back, wakes neither storm nor stop, and what was claimed or running recovers.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use harness::{CHILD, DAY, Dice, Gateway, HOUR, MAIN, MINUTE, NOON, OPS, SECOND, WORKER};
use headsup::{
    Actor, AdoptionRequest, Awareness, GoalChange, LATEST, Signal, Source, Tally, Urgency,
};
use tempfile::TempDir;

/// A time: near, far, at either end.
fn any_time(dice: &mut Dice) -> u64 {
    match dice.below(6) {
        0 => 0,
        1 => LATEST,
        2 => NOON + dice.below(40_000) * DAY,
        3 => NOON - dice.below(1_000) * DAY,
        4 => NOON + dice.below(48) * HOUR,
        _ => NOON + dice.below(600) * SECOND,
    }
}

fn goal(session: &str) -> Signal {
    Signal::goal_changed(session, GoalChange::Updated, Actor::human())
}

/// What is left of a history if times are left out of it.
fn history(mut clock: impl FnMut(&Gateway)) -> Vec<String> {
    let mut dice = Dice::new(7);
    let gateway = Gateway::open();
    gateway.watches(MAIN, CHILD);
    gateway.watches(OPS, WORKER);
    let mut told = Vec::new();
    for _ in 0..150 {
        clock(&gateway);
        let session = if dice.below(2) == 0 { CHILD } else { WORKER };
        told.push(match dice.below(5) {
            0 => format!("{:?}", gateway.drain(MAIN).unwrap()),
            1 => format!("{:?}", gateway.take(OPS).unwrap()),
            2 => format!("{:?} {:?}", gateway.cursor(MAIN, CHILD), gateway.cursor(OPS, WORKER)),
            3 => format!(
                "{:?}",
                gateway
                    .changes_since(session, 0, None)
                    .map(|delta| {
                        let events = delta.events.iter().map(|event| event.sequence);
                        (delta.state_version, events.collect::<Vec<_>>(), delta.history_gap)
                    })
                    .unwrap()
            ),
            _ => format!("{}", gateway.records(goal(session))),
        });
        drop(gateway.news());
    }
    told
}

#[test]
fn order_and_notices_are_the_same_whatever_the_clock_does() {
    let steady = history(|gateway| gateway.passes(SECOND));
    assert_eq!(history(|_| {}), steady, "frozen");
    for seed in 0..8 {
        let mut dice = Dice::new(seed);
        let wild = history(|gateway| gateway.set_clock(any_time(&mut dice)).unwrap());
        assert_eq!(wild, steady, "seed {seed}");
    }
}

/// Something of everything that can expire.
struct Kept {
    _folder: TempDir,
    path: std::path::PathBuf,
}

impl Kept {
    fn new() -> Self {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("store.db");
        let gateway = Gateway::on(&path, NOON);
        gateway.watches(MAIN, CHILD);
        gateway.watches(OPS, CHILD);
        gateway.unwatch(OPS, CHILD).unwrap();
        gateway.records(goal(CHILD));
        gateway.records(goal(WORKER));
        gateway.delete(WORKER).unwrap();
        drop(gateway.news());
        Self { _folder: folder, path }
    }

    #[track_caller]
    fn is_whole(&self, gateway: &Gateway, why: &str) {
        assert_eq!(gateway.cursor(MAIN, CHILD), "explicit 0 1 1", "{why}");
        let delta = gateway.changes_since(CHILD, 0, None).unwrap();
        assert_eq!((delta.events.len(), delta.history_gap), (1, false), "{why}");
        let tombstone = gateway.changes_since(WORKER, 0, None).unwrap();
        assert!(tombstone.history_gap, "{why}");
        let count = |sql: &str| -> i64 {
            let file = rusqlite::Connection::open(&self.path).unwrap();
            file.query_row(sql, [], |row| row.get(0)).unwrap()
        };
        let marks = "SELECT count(*) FROM session_watch_cursors WHERE state = 'unwatched'";
        assert_eq!(count(marks), 1, "{why}");
    }
}

#[test]
fn nothing_expires_by_a_jump_that_is_taken_back_within_the_hour() {
    for jump in [25 * HOUR, 40 * DAY, 3 * 365 * DAY, 50 * 365 * DAY, LATEST - NOON] {
        let kept = Kept::new();
        // Whatever prunes while the clock is wrong: a start, the hour, another process.
        let gateway = Gateway::on(&kept.path, NOON);
        gateway.set_clock(NOON + jump).unwrap();
        gateway.tidy();
        gateway.prune(Urgency::AtStart).unwrap();
        drop(gateway.news());
        drop(gateway);
        let started = Gateway::on(&kept.path, (NOON + jump).saturating_add(20 * MINUTE));
        started.prune(Urgency::AtStart).unwrap();
        drop(started.news());
        drop(started);
        let back = Gateway::on(&kept.path, NOON + HOUR);
        for _ in 0..30 {
            back.tidy();
            back.prune(Urgency::IfDue).unwrap();
            back.passes(HOUR);
        }
        kept.is_whole(&back, &format!("{} days ahead", jump / DAY));
        drop(back.news());
    }
}

#[test]
fn a_clock_that_fell_behind_and_caught_up_lets_nothing_expire() {
    for back in [25 * HOUR, 40 * DAY, NOON] {
        let kept = Kept::new();
        let gateway = Gateway::on(&kept.path, NOON - back);
        gateway.tidy();
        gateway.passes(2 * HOUR);
        gateway.tidy();
        gateway.set_clock(NOON + HOUR).unwrap();
        gateway.tidy();
        gateway.passes(2 * HOUR);
        gateway.tidy();
        kept.is_whole(&gateway, &format!("{} days behind", back / DAY));
        drop(gateway.news());
    }
}

fn wakes(gateway: &Gateway) -> usize {
    gateway.news().iter().filter(|news| news.to_string() == "wake agent:main:main").count()
}

#[test]
fn after_any_jumps_wakes_come_at_most_every_20_s_and_a_reminder_within_15_minutes() {
    for seed in 0..12 {
        let mut dice = Dice::new(seed);
        let gateway = Gateway::open();
        gateway.watches(MAIN, CHILD);
        gateway.watches(MAIN, WORKER);
        for _ in 0..20 {
            // The last second is left for the steady time that follows.
            gateway.set_clock(any_time(&mut dice).min(LATEST - DAY)).unwrap();
            gateway.records(goal(if dice.below(2) == 0 { CHILD } else { WORKER }));
            if dice.below(3) == 0 {
                gateway.drain(MAIN).unwrap();
            }
        }
        gateway.records(goal(CHILD));
        drop(gateway.news());
        let mut woken = Vec::new();
        for second in 0..16 * 60 {
            gateway.passes(SECOND);
            if second % 7 == 0 {
                gateway.drain(MAIN).unwrap();
                gateway.records(goal(CHILD));
            }
            woken.extend(std::iter::repeat_n(second, wakes(&gateway)));
        }
        assert!(woken.windows(2).all(|two| two[1] - two[0] >= 20), "seed {seed}: {woken:?}");
        assert!(woken.len() >= 30, "seed {seed}: whoever keeps being changed keeps being woken");
        let before = woken.len();
        for _ in 0..16 {
            gateway.passes(MINUTE);
            woken.extend(std::iter::repeat_n(0, wakes(&gateway)));
        }
        assert!(woken.len() > before, "seed {seed}: no reminder in 16 minutes");
    }
}

#[test]
fn a_frozen_clock_wakes_once_and_loses_nothing() {
    let gateway = Gateway::open();
    gateway.watches(MAIN, CHILD);
    for round in 0..50 {
        gateway.records(goal(CHILD));
        assert_eq!(gateway.drain(MAIN).unwrap().notices.len(), 1, "round {round}");
    }
    gateway.records(goal(CHILD));
    assert_eq!(wakes(&gateway), 1);
    assert_eq!(gateway.take(MAIN).unwrap().len(), 1);
    gateway.passes(20 * SECOND);
    assert_eq!(wakes(&gateway), 1, "once it goes on");
}

/// `MAIN` watches `CHILD`, which lives in a transcript, and somebody typed there.
fn adopted(clock: u64) -> (Gateway, TempDir) {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("3f2a.jsonl");
    std::fs::write(&path, "").unwrap();
    let builder = Awareness::builder(":memory:").manual_clock(clock);
    let gateway = Gateway::with(builder.source_folders([folder.path()]).monitor_upstreams());
    gateway.watches(MAIN, CHILD);
    let source = Source::claude_file(path.to_str().unwrap());
    gateway.adopt(AdoptionRequest::new(CHILD, source, "claude")).unwrap();
    (gateway, folder)
}

fn somebody_types(folder: &TempDir) {
    let row = r#"{"type":"user","message":{"role":"user","content":"hello"},"timestamp":"1970-01-01T00:00:01Z"}"#;
    std::fs::write(folder.path().join("3f2a.jsonl"), format!("{row}\n")).unwrap();
}

#[test]
fn a_turn_that_was_said_to_run_by_a_clock_that_was_ahead_ends_with_the_jump() {
    for jump in [3 * HOUR, 400 * DAY, LATEST - NOON] {
        let (gateway, folder) = adopted(NOON + jump);
        gateway.busy(CHILD, true).unwrap();
        gateway.set_clock(NOON).unwrap();
        somebody_types(&folder);
        let active = Tally { checked: 1, activity: 1, missing: 0, failed: 0 };
        assert_eq!(gateway.check_upstreams().unwrap(), active, "{jump} ms ahead");
        drop(gateway.news());
    }
}

#[test]
fn a_claim_of_a_clock_that_was_ahead_does_not_keep_the_monitor_from_checking() {
    for jump in [HOUR, 400 * DAY, LATEST - NOON - MINUTE] {
        let (gateway, folder) = adopted(NOON + jump);
        gateway.passes(15 * SECOND);
        gateway.set_clock(NOON).unwrap();
        somebody_types(&folder);
        for _ in 0..3 {
            gateway.passes(MINUTE);
        }
        let version = gateway.versions([CHILD]).unwrap()[0];
        assert_eq!(version, Some(2), "adopted, and then somebody typed; {jump} ms ahead");
        drop(gateway.news());
    }
}
