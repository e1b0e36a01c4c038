//! How often recording leaves the component: each call of an import is one crossing, and slow
//! hosts pay for each.

use headsup::storage::{Store, StoreOptions};
use headsup_component::contract::{
    Actor, ActorType, DirectMessage, GoalChange, Happening, Outcome, SessionRef, Signal,
};
use headsup_component::{record, watch};

use crate::native::Native;

const TARGET: &str = "agent:main:subagent:child";

fn session() -> SessionRef {
    SessionRef { key: TARGET.to_owned(), agent: None }
}

fn signal(happening: Happening) -> Signal {
    Signal {
        session: session(),
        happening,
        actor: Actor { type_: ActorType::Human, id: None },
        session_id: None,
        run_id: None,
        occurred_at: None,
        dedupe_key: None,
        watchers: Vec::new(),
    }
}

/// A store whose target has so many watchers.
fn watched_by(watchers: usize) -> Native {
    let mut native = Native::new(Store::open(&StoreOptions::new(":memory:")).unwrap());
    for at in 0..watchers {
        native.write(|ports| watch::watch(ports, &format!("agent:main:w{at}"), &session(), false));
    }
    native
}

/// Crossings of one record.
fn crossings(native: &mut Native, signal: &Signal) -> u32 {
    native.crossings = 0;
    let outcome = native.write(|ports| record::record(ports, signal));
    assert!(matches!(outcome, Outcome::Recorded(_)));
    native.crossings
}

#[test]
fn a_record_on_a_target_whose_watchers_are_all_pending_crosses_at_most_four_times() {
    let message = DirectMessage { channel: Some("telegram".to_owned()), turns: None };
    for happening in
        [Happening::HumanDirectMessage(message), Happening::GoalChanged(GoalChange::Updated)]
    {
        let signal = signal(happening);
        for watchers in [1, 10, 1_000] {
            let mut native = watched_by(watchers);
            crossings(&mut native, &signal);
            let again = crossings(&mut native, &signal);
            assert!(again <= 4, "{again} crossings with {watchers} watchers");
            assert!(native.openings.is_empty(), "they were pending");
        }
    }
}

#[test]
fn the_number_of_crossings_does_not_depend_on_the_number_of_settled_watchers() {
    let signal = signal(Happening::GoalChanged(GoalChange::Created));
    let one = crossings(&mut watched_by(1), &signal);
    let mut native = watched_by(1_000);
    assert_eq!(crossings(&mut native, &signal), one);
    assert_eq!(native.openings.len(), 1_000);
}
