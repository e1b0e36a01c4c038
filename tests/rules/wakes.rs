//! Section 6: who is woken, and when.

use std::time::Duration;

use harness::{CHILD, DAY, GROUP, Gateway, HOUR, MAIN, MINUTE, NOON, OPS, SECOND, WORKER};
use headsup::Awareness;
use tempfile::TempDir;

use crate::{goal, human};

/// `MAIN` watches two sessions, and was just woken about the child.
fn woken() -> Gateway {
    let gateway = Gateway::open();
    gateway.watches(MAIN, CHILD);
    gateway.watches(MAIN, WORKER);
    gateway.records(human(CHILD));
    gateway
        .hears(["notice agent:main:main: agent:main:subagent:child 0..1", "wake agent:main:main"]);
    gateway
}

#[test]
fn the_first_opening_wakes_at_once() {
    woken();
}

#[test]
fn a_nested_watcher_is_told_and_not_woken() {
    let gateway = Gateway::open();
    gateway.watches(CHILD, WORKER);
    gateway.records(human(WORKER));
    gateway.hears(["notice agent:main:subagent:child: agent:main:telegram:worker 0..1"]);
    gateway.passes(DAY);
    gateway.hears([]);
}

#[test]
fn an_ambient_watcher_is_told_and_not_woken() {
    let gateway = Gateway::open();
    gateway.watch(MAIN, GROUP, true).unwrap();
    gateway.records(human(GROUP));
    gateway.hears(["notice agent:main:main: agent:main:telegram:group:7 0..1"]);
    gateway.passes(DAY);
    gateway.hears([]);
}

#[test]
fn openings_in_the_20_s_after_a_wake_share_one_more_at_the_end_of_the_window() {
    let gateway = woken();
    gateway.passes(SECOND);
    gateway.records(human(WORKER));
    gateway.drain(MAIN).unwrap();
    gateway.records(human(CHILD));
    gateway.hears([
        "notice agent:main:main: agent:main:telegram:worker 0..2",
        "notice agent:main:main: agent:main:subagent:child 1..3",
    ]);
    gateway.passes(19 * SECOND - 1);
    gateway.hears([]);
    gateway.passes(1);
    gateway.hears(["wake agent:main:main"]);
}

#[test]
fn the_shared_wake_is_sent_only_if_one_of_its_openings_is_still_pending() {
    let gateway = woken();
    gateway.records(human(WORKER));
    let worker = gateway.take(MAIN).unwrap().pop().unwrap();
    gateway.acknowledge(MAIN, [worker]).unwrap();
    gateway.hears(["notice agent:main:main: agent:main:telegram:worker 0..2"]);
    gateway.passes(20 * SECOND);
    gateway.hears([]);
    assert_eq!(gateway.take(MAIN).unwrap().len(), 1, "the one that woke is pending still");
}

#[test]
fn after_the_shared_wake_a_window_begins_again() {
    let gateway = woken();
    gateway.records(human(WORKER));
    gateway.passes(20 * SECOND);
    gateway
        .hears(["notice agent:main:main: agent:main:telegram:worker 0..2", "wake agent:main:main"]);
    gateway.drain(MAIN).unwrap();
    gateway.passes(19 * SECOND);
    gateway.records(human(CHILD));
    gateway.hears(["notice agent:main:main: agent:main:subagent:child 1..3"]);
    gateway.passes(SECOND);
    gateway.hears(["wake agent:main:main"]);
}

#[test]
fn an_opening_after_the_window_wakes_at_once() {
    let gateway = woken();
    gateway.passes(20 * SECOND);
    gateway.records(human(WORKER));
    gateway
        .hears(["notice agent:main:main: agent:main:telegram:worker 0..2", "wake agent:main:main"]);
}

#[test]
fn two_watchers_that_act_on_each_other_do_not_storm() {
    let gateway = Gateway::open();
    gateway.watches(MAIN, OPS);
    gateway.watches(OPS, MAIN);
    let mut wakes = 0;
    for _ in 0..200 {
        gateway.records(goal(OPS, OPS));
        gateway.records(goal(MAIN, MAIN));
        gateway.drain(MAIN).unwrap();
        gateway.drain(OPS).unwrap();
        gateway.passes(SECOND / 2);
        wakes +=
            gateway.news().iter().filter(|it| it.to_string() == "wake agent:main:main").count();
    }
    assert!(wakes <= 6, "{wakes} wakes in 100 s");
}

#[test]
fn no_watcher_is_woken_twice_within_20_s() {
    let gateway = woken();
    for _ in 0..19 {
        gateway.drain(MAIN).unwrap();
        gateway.records(human(CHILD));
        gateway.passes(SECOND);
        assert!(gateway.news().iter().all(|news| news.to_string().starts_with("notice")));
    }
}

#[test]
fn a_pending_notice_wakes_again_15_minutes_after_the_last_wake() {
    let gateway = woken();
    gateway.passes(15 * MINUTE - 1);
    gateway.hears([]);
    gateway.passes(1);
    gateway.hears(["wake agent:main:main"]);
    gateway.passes(15 * MINUTE);
    gateway.hears(["wake agent:main:main"]);
}

#[test]
fn the_reminder_counts_from_the_last_wake() {
    let gateway = woken();
    gateway.passes(5 * MINUTE);
    gateway.records(human(WORKER));
    gateway
        .hears(["notice agent:main:main: agent:main:telegram:worker 0..2", "wake agent:main:main"]);
    gateway.passes(10 * MINUTE);
    gateway.hears([]);
    gateway.passes(5 * MINUTE);
    gateway.hears(["wake agent:main:main"]);
}

#[test]
fn nobody_is_reminded_of_what_was_acknowledged() {
    let gateway = woken();
    gateway.drain(MAIN).unwrap();
    gateway.passes(DAY);
    gateway.hears([]);
}

#[test]
fn nobody_is_reminded_of_a_deleted_target_or_an_ended_watch() {
    let gateway = woken();
    gateway.delete(CHILD).unwrap();
    gateway.passes(HOUR);
    gateway.hears([]);
    gateway.records(human(WORKER));
    gateway
        .hears(["notice agent:main:main: agent:main:telegram:worker 0..2", "wake agent:main:main"]);
    gateway.unwatch(MAIN, WORKER).unwrap();
    gateway.passes(HOUR);
    gateway.hears([]);
}

#[test]
fn a_due_timer_fires_once_at_the_new_time() {
    let gateway = woken();
    gateway.passes(10 * HOUR);
    gateway.hears(["wake agent:main:main"]);
}

#[test]
fn each_recovered_notice_counts_as_an_opening() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("store.db");
    let gateway = Gateway::on(&path, NOON);
    gateway.watches(MAIN, CHILD);
    gateway.watches(MAIN, WORKER);
    gateway.watches(CHILD, WORKER);
    gateway.records(human(CHILD));
    gateway.records(human(WORKER));
    drop(gateway.news());
    drop(gateway);
    let gateway = Gateway::on(&path, NOON);
    gateway.hears([
        "notice agent:main:main: agent:main:subagent:child 0..1",
        "wake agent:main:main",
        "notice agent:main:main: agent:main:telegram:worker 0..2",
        "notice agent:main:subagent:child: agent:main:telegram:worker 0..2",
    ]);
    gateway.passes(20 * SECOND);
    gateway.hears(["wake agent:main:main"]);
}

#[test]
fn a_reopened_notice_is_an_opening() {
    let gateway = woken();
    gateway.records(human(CHILD));
    gateway.passes(MINUTE);
    gateway.drain(MAIN).unwrap();
    gateway
        .hears(["notice agent:main:main: agent:main:subagent:child 1..2", "wake agent:main:main"]);
}

#[test]
fn a_clock_that_went_back_neither_storms_nor_falls_silent() {
    let gateway = woken();
    gateway.set_clock(NOON - DAY).unwrap();
    gateway.records(human(WORKER));
    gateway.hears(["notice agent:main:main: agent:main:telegram:worker 0..2"]);
    gateway.passes(20 * SECOND);
    gateway.hears(["wake agent:main:main"]);
}

#[test]
fn watchers_are_woken_each_for_itself() {
    let gateway = woken();
    gateway.watches(OPS, WORKER);
    gateway.records(human(WORKER));
    gateway.hears([
        "notice agent:main:main: agent:main:telegram:worker 0..2",
        "notice agent:ops:main: agent:main:telegram:worker 0..2",
        "wake agent:ops:main",
    ]);
}

#[test]
fn window_and_reminder_may_be_set() {
    let builder = Awareness::builder(":memory:")
        .manual_clock(NOON)
        .wake_window(Duration::from_secs(5))
        .wake_reminder(Duration::from_mins(1));
    let gateway = Gateway::with(builder);
    gateway.watches(MAIN, CHILD);
    gateway.watches(MAIN, WORKER);
    gateway.records(human(CHILD));
    gateway.records(human(WORKER));
    drop(gateway.news());
    gateway.passes(5 * SECOND);
    gateway.hears(["wake agent:main:main"]);
    gateway.passes(MINUTE);
    gateway.hears(["wake agent:main:main"]);
}
