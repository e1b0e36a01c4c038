//! Wakes from end to end, on a manual clock that starts at 1,000 s. The policy itself is tested
//! beside it.

use super::{CHILD, MAIN, open};
use crate::{Actor, GoalChange, Signal};

const OTHER: &str = "agent:main:subagent:other";

fn goal(session: &str) -> Signal {
    Signal::goal_changed(session, GoalChange::Updated, Actor::human())
}

fn wakes(heard: &super::Heard) -> usize {
    heard.take().iter().filter(|line| line.starts_with("wake")).count()
}

#[test]
fn openings_within_the_window_share_one_wake_if_one_is_still_pending() {
    let (awareness, heard) = open();
    awareness.watch(MAIN, CHILD, false).unwrap();
    awareness.watch(MAIN, OTHER, false).unwrap();
    awareness.record(goal(CHILD)).unwrap();
    assert_eq!(wakes(&heard), 1);
    awareness.record(goal(OTHER)).unwrap();
    assert_eq!(wakes(&heard), 0);
    awareness.set_clock(1_019_999).unwrap();
    assert_eq!(wakes(&heard), 0);
    awareness.set_clock(1_020_000).unwrap();
    assert_eq!(wakes(&heard), 1);
    awareness.set_clock(1_040_000).unwrap();
    assert_eq!(wakes(&heard), 0);
}

#[test]
fn a_window_whose_openings_were_acknowledged_does_not_wake() {
    let (awareness, heard) = open();
    awareness.watch(MAIN, CHILD, false).unwrap();
    awareness.watch(MAIN, OTHER, false).unwrap();
    awareness.record(goal(CHILD)).unwrap();
    awareness.record(goal(OTHER)).unwrap();
    let taken = awareness.take(MAIN).unwrap();
    let other = taken.iter().filter(|notice| notice.target.key == OTHER);
    awareness.acknowledge(MAIN, other).unwrap();
    heard.take();
    awareness.set_clock(1_020_000).unwrap();
    // The one on the child is still pending, but it opened before the window.
    assert_eq!(wakes(&heard), 0);
    awareness.set_clock(1_900_000).unwrap();
    assert_eq!(wakes(&heard), 1);
}

#[test]
fn a_pending_notice_wakes_again_after_a_quarter_of_an_hour_and_each_timer_fires_once() {
    let (awareness, heard) = open();
    awareness.watch(MAIN, CHILD, false).unwrap();
    awareness.record(goal(CHILD)).unwrap();
    heard.take();
    awareness.set_clock(1_899_999).unwrap();
    assert_eq!(wakes(&heard), 0);
    awareness.set_clock(9_000_000).unwrap();
    assert_eq!(wakes(&heard), 1);
    awareness.set_clock(9_900_000).unwrap();
    assert_eq!(wakes(&heard), 1);
    awareness.drain(MAIN).unwrap();
    awareness.set_clock(20_000_000).unwrap();
    assert_eq!(wakes(&heard), 0);
}

#[test]
fn a_clock_that_goes_back_neither_storms_nor_stops_wakes() {
    let (awareness, heard) = open();
    awareness.watch(MAIN, CHILD, false).unwrap();
    awareness.record(goal(CHILD)).unwrap();
    heard.take();
    awareness.set_clock(10).unwrap();
    assert_eq!(wakes(&heard), 0);
    awareness.set_clock(900_009).unwrap();
    assert_eq!(wakes(&heard), 0);
    awareness.set_clock(900_010).unwrap();
    assert_eq!(wakes(&heard), 1);
}

#[test]
fn ambient_and_nested_watchers_are_told_and_not_woken() {
    let (awareness, heard) = open();
    awareness.watch(MAIN, "agent:main:telegram:group:g", true).unwrap();
    awareness.watch(CHILD, OTHER, false).unwrap();
    awareness.record(goal("agent:main:telegram:group:g")).unwrap();
    awareness.record(goal(OTHER)).unwrap();
    let heard = heard.take();
    assert_eq!(heard.len(), 2);
    assert!(heard.iter().all(|line| line.starts_with("notice")), "{heard:?}");
}

#[test]
fn the_system_clock_fires_timers_by_itself() {
    let (heard, core) = (super::Heard::default(), super::CORE.clone());
    let awareness = crate::Awareness::builder(":memory:").plugin(core).listener(heard.clone());
    let awareness = awareness.open().unwrap();
    awareness.watch(MAIN, CHILD, false).unwrap();
    awareness.record(goal(CHILD)).unwrap();
    assert_eq!(wakes(&heard), 1);
    // Dropping ends the scheduler; a thread that hangs would hang this test.
    drop(awareness);
}
