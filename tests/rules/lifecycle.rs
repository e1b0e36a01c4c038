//! Section 8: reset and delete.

use harness::{CHILD, Gateway, MAIN, OPS, WORKER, bare};
use headsup::Removal;

use crate::{goal, human};

#[test]
fn reset_removes_the_cursors_that_a_session_holds() {
    let gateway = Gateway::open();
    gateway.watches(MAIN, CHILD);
    gateway.watches(MAIN, WORKER);
    gateway.records(human(CHILD));
    drop(gateway.news());
    assert_eq!(gateway.reset(MAIN).unwrap(), Removal { cursors: 2, events: 0 });
    assert_eq!(gateway.watches_of(MAIN).unwrap(), []);
    assert_eq!(gateway.take(MAIN).unwrap(), []);
}

#[test]
fn reset_keeps_the_sessions_log_and_the_cursors_of_others_on_it() {
    let gateway = Gateway::open();
    gateway.watches(OPS, MAIN);
    gateway.records(goal(MAIN, "u1"));
    drop(gateway.news());
    gateway.reset(MAIN).unwrap();
    assert_eq!(gateway.cursor(OPS, MAIN), "explicit 0 1 1");
    let delta = gateway.changes_since(MAIN, 0, None).unwrap();
    assert_eq!((delta.events.len(), delta.history_gap), (1, false));
}

#[test]
fn after_a_reset_a_producer_may_bring_the_watch_back() {
    let gateway = Gateway::open();
    gateway.watches(MAIN, CHILD);
    gateway.reset(MAIN).unwrap();
    gateway.records(human(CHILD).watcher(MAIN));
    gateway
        .hears(["notice agent:main:main: agent:main:subagent:child 0..1", "wake agent:main:main"]);
}

#[test]
fn reset_of_a_bare_session_touches_nobodys_cursors() {
    let gateway = Gateway::open();
    gateway.watches(MAIN, bare("global", "main"));
    assert_eq!(gateway.reset(bare("global", "main")).unwrap().cursors, 0);
    assert_eq!(gateway.cursor(MAIN, bare("global", "main")), "explicit 0 0 0");
}

#[test]
fn delete_removes_log_head_and_every_cursor_on_either_side() {
    let gateway = Gateway::open();
    gateway.watches(OPS, MAIN);
    gateway.watches(WORKER, MAIN);
    gateway.watches(MAIN, CHILD);
    gateway.watches(OPS, CHILD);
    gateway.records(goal(MAIN, "u1"));
    gateway.records(goal(MAIN, "u1"));
    gateway.records(goal(CHILD, "u1"));
    drop(gateway.news());
    assert_eq!(gateway.delete(MAIN).unwrap(), Removal { cursors: 3, events: 2 });
    assert_eq!(gateway.versions([MAIN]).unwrap(), [None]);
    assert_eq!(gateway.watchers_of(MAIN).unwrap(), []);
    assert_eq!(gateway.watches_of(MAIN).unwrap(), []);
    assert_eq!(gateway.cursor(OPS, CHILD), "explicit 0 3 3");
    assert_eq!(gateway.versions([CHILD]).unwrap(), [Some(3)]);
}

#[test]
fn delete_removes_exactly_that_session() {
    let gateway = Gateway::open();
    for agent in ["main", "ops"] {
        gateway.watches(OPS, bare("global", agent));
        gateway.records(human(bare("global", agent)));
    }
    drop(gateway.news());
    let removed = gateway.delete(bare("global", "main")).unwrap();
    assert_eq!(removed, Removal { cursors: 1, events: 1 });
    assert_eq!(gateway.cursor(OPS, bare("global", "ops")), "explicit 0 2 2");
}

#[test]
fn delete_of_an_unknown_session_removes_nothing() {
    let gateway = Gateway::open();
    assert_eq!(gateway.delete(CHILD).unwrap(), Removal { cursors: 0, events: 0 });
    assert!(!gateway.changes_since(CHILD, 0, None).unwrap().history_gap);
}

#[test]
fn a_deleted_session_may_begin_again() {
    let gateway = Gateway::open();
    gateway.watches(MAIN, CHILD);
    gateway.records(goal(CHILD, "u1"));
    drop(gateway.news());
    gateway.delete(CHILD).unwrap();
    gateway.watches(MAIN, CHILD);
    assert_eq!(gateway.cursor(MAIN, CHILD), "explicit 0 0 0");
    assert_eq!(gateway.watches_of(MAIN).unwrap()[0].state_version, None);
    assert_eq!(gateway.records(human(CHILD)), 2);
    gateway.hears(["notice agent:main:main: agent:main:subagent:child 0..2"]);
}

#[test]
fn deleting_twice_keeps_the_gap() {
    let gateway = Gateway::open();
    gateway.records(goal(CHILD, "u1"));
    gateway.delete(CHILD).unwrap();
    assert_eq!(gateway.delete(CHILD).unwrap(), Removal { cursors: 0, events: 0 });
    assert!(gateway.changes_since(CHILD, 0, None).unwrap().history_gap);
}
