//! Section 5: where a watch came from, named watchers included, and which origin replaces which.

use harness::{CHILD, GROUP, Gateway, MAIN, OPS};
use headsup::{Actor, Signal};

use crate::notices::past;
use crate::{compaction, goal, human, spawn};

#[test]
fn an_ambient_watch_is_told_and_never_woken() {
    let gateway = Gateway::open();
    gateway.watch(MAIN, GROUP, true).unwrap();
    gateway.records(human(GROUP));
    gateway.hears(["notice agent:main:main: agent:main:telegram:group:7 0..1"]);
    assert_eq!(gateway.cursor(MAIN, GROUP), "ambient 0 1 1");
}

#[test]
fn the_core_makes_no_ambient_watch_by_itself() {
    let gateway = Gateway::open();
    gateway.records(Signal::created(GROUP, Actor::system()));
    gateway.records(goal(GROUP, "u1"));
    assert_eq!(gateway.watchers_of(GROUP).unwrap(), []);
}

#[test]
fn spawn_replaces_any_provenance_and_is_replaced_by_none() {
    let gateway = Gateway::open();
    gateway.watch(MAIN, CHILD, true).unwrap();
    gateway.watches(OPS, CHILD);
    gateway.records(spawn(CHILD, MAIN).watcher(MAIN).watcher(OPS));
    assert_eq!(gateway.cursor(MAIN, CHILD), "spawn 1 1 1");
    assert_eq!(gateway.cursor(OPS, CHILD), "spawn 1 1 1");
    gateway.watches(MAIN, CHILD);
    gateway.watch(MAIN, CHILD, true).unwrap();
    assert_eq!(gateway.cursor(MAIN, CHILD), "spawn 1 1 1");
}

#[test]
fn explicit_replaces_ambient_and_ambient_replaces_none() {
    let gateway = Gateway::open();
    gateway.watch(MAIN, GROUP, true).unwrap();
    gateway.watches(MAIN, GROUP);
    assert_eq!(gateway.cursor(MAIN, GROUP), "explicit 0 0 0");
    gateway.watch(MAIN, GROUP, true).unwrap();
    assert_eq!(gateway.cursor(MAIN, GROUP), "explicit 0 0 0");
    gateway.hears([]);
}

#[test]
fn explicit_in_place_of_ambient_wakes_if_a_notice_is_pending() {
    let gateway = Gateway::open();
    gateway.watch(MAIN, GROUP, true).unwrap();
    gateway.records(human(GROUP));
    past(&gateway);
    gateway.watches(MAIN, GROUP);
    gateway.hears(["wake agent:main:main"]);
    gateway.watches(MAIN, GROUP);
    gateway.hears([]);
}

#[test]
fn spawn_in_place_of_ambient_wakes_if_a_notice_is_pending() {
    let gateway = Gateway::open();
    gateway.watch(MAIN, CHILD, true).unwrap();
    gateway.records(human(CHILD));
    past(&gateway);
    gateway.records(spawn(CHILD, MAIN));
    gateway.hears(["wake agent:main:main"]);
    assert_eq!(gateway.cursor(MAIN, CHILD), "spawn 0 1 1");
}

#[test]
fn a_nested_watcher_is_not_woken_by_a_stronger_provenance() {
    let gateway = Gateway::open();
    gateway.watch(CHILD, GROUP, true).unwrap();
    gateway.records(human(GROUP));
    past(&gateway);
    gateway.watches(CHILD, GROUP);
    gateway.hears([]);
}

#[test]
fn a_named_watcher_without_a_cursor_gets_one_at_0() {
    let gateway = Gateway::open();
    gateway.records(goal(CHILD, "u1"));
    gateway.records(human(CHILD).watcher(MAIN));
    assert_eq!(gateway.cursor(MAIN, CHILD), "spawn 0 2 2");
    gateway
        .hears(["notice agent:main:main: agent:main:subagent:child 0..2", "wake agent:main:main"]);
}

#[test]
fn a_named_watcher_with_a_cursor_keeps_it() {
    let gateway = Gateway::open();
    gateway.records(goal(CHILD, "u1"));
    gateway.watch(MAIN, CHILD, true).unwrap();
    gateway.records(human(CHILD).watcher(MAIN));
    assert_eq!(gateway.cursor(MAIN, CHILD), "ambient 1 2 2");
    gateway.hears(["notice agent:main:main: agent:main:subagent:child 1..2"]);
}

#[test]
fn a_named_watcher_that_is_the_actor_gets_no_cursor() {
    let gateway = Gateway::open();
    gateway.records(goal(CHILD, MAIN).watcher(MAIN));
    assert_eq!(gateway.cursor(MAIN, CHILD), "none");
    gateway.hears([]);
}

#[test]
fn a_watcher_named_twice_gets_one_cursor() {
    let gateway = Gateway::open();
    gateway.records(goal(CHILD, "u1").watcher(MAIN).watcher("AGENT:main:main"));
    gateway
        .hears(["notice agent:main:main: agent:main:subagent:child 0..1", "wake agent:main:main"]);
}

#[test]
fn a_log_only_event_makes_no_cursor_for_a_named_watcher() {
    let gateway = Gateway::open();
    gateway.records(compaction(CHILD, "op1").watcher(MAIN));
    assert_eq!(gateway.cursor(MAIN, CHILD), "none");
}
