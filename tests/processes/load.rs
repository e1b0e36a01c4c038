//! Writers, readers and takers at once, while one process checkpoints, one is stopped and one is
//! killed: nothing is lost, nothing is shown twice, and nobody sees a busy store.

use std::thread;

use crate::fleet::{Client, Fleet, Over, Records, WATCHER, long, signal, stands_still, target};
use crate::promises::{
    doctor_finds_nothing, each_notice_was_acknowledged_once, logs, nothing_is_lost_or_doubled,
    the_series_is_whole,
};

const TARGETS: u64 = 3;

fn records() -> u64 {
    if long() { 2_000 } else { 120 }
}

/// What befalls a fleet under load.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mishap {
    /// One writer is stopped wherever it is, and goes on.
    StoppedWriter,
    /// One taker is stopped wherever it is, and goes on.
    StoppedTaker,
    /// One writer is killed wherever it is, and another one comes.
    KilledWriter,
}

fn under_load(mishap: Mishap) {
    let fleet = &Fleet::new(TARGETS);
    let mut writers: Vec<Client> = (0..3).map(|_| fleet.client()).collect();
    let mut takers: Vec<Client> = (0..2).map(|_| fleet.client()).collect();
    let mut reader = fleet.client();
    let (writer, taker) = (writers[0].pid(), takers[0].pid());
    let seen = thread::scope(|scope| {
        let over = Over(fleet);
        let checkpoints = scope.spawn(|| fleet.checkpoints());
        for taker in &mut takers {
            scope.spawn(|| fleet.takes(taker));
        }
        let follows = scope.spawn(|| fleet.follows(&mut reader, &target(0)));
        let writing: Vec<_> = writers
            .iter_mut()
            .zip(["a", "b", "c"])
            .map(|(client, name)| {
                scope.spawn(move || fleet.writes(client, name, records(), TARGETS))
            })
            .collect();
        fleet.comes_to(20);
        match mishap {
            Mishap::StoppedWriter => stands_still(writer),
            Mishap::StoppedTaker => stands_still(taker),
            Mishap::KilledWriter => signal(writer, "KILL"),
        }
        let mut told: Vec<Records> =
            writing.into_iter().map(|thread| thread.join().unwrap()).collect();
        if mishap == Mishap::KilledWriter {
            told.push(fleet.writes(&mut fleet.client(), "d", 10, TARGETS));
        }
        drop(over);
        assert!(checkpoints.join().unwrap() > 0);
        nothing_is_lost_or_doubled(&fleet.db, &told);
        follows.join().unwrap()
    });
    let log: Vec<u64> = logs(&fleet.db)[&target(0)].iter().map(|(number, _)| *number).collect();
    assert_eq!(seen, log, "who follows a session misses nothing");
    the_series_is_whole(&fleet.db);
    each_notice_was_acknowledged_once(&fleet.db, &fleet.ranges.lock().unwrap());
    assert!(
        fleet.client().asks("pending", &serde_json::json!({}))["watchers"] == serde_json::json!([])
    );
    doctor_finds_nothing(&fleet.db);
}

#[test]
fn a_writer_that_is_stopped_and_goes_on_costs_nobody_anything() {
    under_load(Mishap::StoppedWriter);
}

#[test]
fn a_taker_that_is_stopped_and_goes_on_costs_nobody_anything() {
    under_load(Mishap::StoppedTaker);
}

#[test]
fn a_writer_that_is_killed_loses_nothing_that_it_was_told_and_holds_nobody_up() {
    under_load(Mishap::KilledWriter);
}

#[test]
fn a_process_that_stands_still_between_two_calls_holds_nobody_up() {
    let fleet = Fleet::new(TARGETS);
    let (mut idle, mut busy) = (fleet.client(), fleet.client());
    let mut told = vec![fleet.writes(&mut idle, "idle", 3, TARGETS)];
    signal(idle.pid(), "STOP");
    told.push(fleet.writes(&mut busy, "busy", 30, TARGETS));
    drop(Over(&fleet));
    fleet.takes(&mut busy);
    signal(idle.pid(), "CONT");
    let nothing = idle.asks("take", &serde_json::json!({ "watcher": WATCHER }));
    assert_eq!(nothing["notices"], serde_json::json!([]));
    told.push(fleet.writes(&mut idle, "again", 3, TARGETS));
    fleet.takes(&mut idle);
    nothing_is_lost_or_doubled(&fleet.db, &told);
    the_series_is_whole(&fleet.db);
    each_notice_was_acknowledged_once(&fleet.db, &fleet.ranges.lock().unwrap());
    doctor_finds_nothing(&fleet.db);
}
