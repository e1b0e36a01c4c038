//! The state machine under random histories, against a scan over all of the events.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use super::*;

const WATCHER: &str = "agent:main:main";
const ACTORS: [Option<&str>; 4] = [None, Some(WATCHER), Some("agent:main:other"), Some("u7")];

/// What may happen to one watcher and its target.
#[derive(Clone, Debug)]
enum Step {
    /// A notifying event; the producer may name the watcher.
    Notify {
        actor: Option<&'static str>,
        names_watcher: bool,
    },
    Log,
    Spawn,
    Watch(Provenance),
    Unwatch,
    AcknowledgeOpen,
    Acknowledge {
        since: u64,
        up_to: u64,
    },
    Recover,
}

fn step() -> impl Strategy<Value = Step> {
    let actor = || select(ACTORS.as_slice());
    let provenance = select(vec![Provenance::Spawn, Provenance::Explicit, Provenance::Ambient]);
    prop_oneof![
        6 => (actor(), any::<bool>())
            .prop_map(|(actor, names_watcher)| Step::Notify { actor, names_watcher }),
        1 => Just(Step::Log),
        1 => Just(Step::Spawn),
        2 => provenance.prop_map(Step::Watch),
        1 => Just(Step::Unwatch),
        3 => Just(Step::AcknowledgeOpen),
        2 => (0..12u64, 0..14u64).prop_map(|(since, up_to)| Step::Acknowledge { since, up_to }),
        1 => Just(Step::Recover),
    ]
}

/// One target's notifying events, and one watcher's cursor on it.
#[derive(Default)]
struct Story {
    version: u64,
    notifying: Vec<(u64, Option<&'static str>)>,
    remembered: Option<Notifying>,
    cursor: Option<CursorState>,
}

impl Story {
    fn head(&self) -> Head {
        Head {
            version: self.version,
            watermark: 0,
            notifying: self.remembered.clone(),
            moved_at: 0,
        }
    }

    fn live(&self) -> Option<Positions> {
        match self.cursor {
            Some(CursorState::Live(positions)) => Some(positions),
            _ => None,
        }
    }

    /// The newest notifying event by somebody other than `watcher`, by looking at each.
    fn scan(&self, watcher: &str) -> u64 {
        let foreign = self.notifying.iter().filter(|(_, actor)| *actor != Some(watcher));
        foreign.map(|(sequence, _)| *sequence).max().unwrap_or(0)
    }

    fn material(&self, last_seen: u64) -> u64 {
        material(Some(&self.head()), WATCHER, last_seen)
    }

    fn go(&mut self, step: &Step) {
        match step {
            Step::Notify { actor, names_watcher } => self.notify(*actor, *names_watcher),
            Step::Log => self.version += 1,
            Step::Spawn => {
                self.version += 1;
                let seeded = spawn(self.cursor.as_ref(), self.version);
                self.cursor = Some(CursorState::Live(seeded));
            }
            Step::Watch(provenance) => {
                let watching = watch(self.cursor.as_ref(), self.version, *provenance);
                self.cursor = Some(CursorState::Live(watching));
            }
            Step::Unwatch => self.cursor = Some(CursorState::Unwatched),
            Step::AcknowledgeOpen => {
                if let Some(live) = self.live() {
                    self.acknowledge(live, live.last_seen, live.notified);
                }
            }
            Step::Acknowledge { since, up_to } => {
                if let Some(live) = self.live() {
                    self.acknowledge(live, *since, *up_to);
                }
            }
            Step::Recover => {
                if let Some(live) = self.live().filter(Positions::is_open) {
                    let recovered = live.recover(self.material(live.last_seen));
                    assert_eq!(recovered.last_seen, live.last_seen);
                    assert_eq!(recovered.notified, self.material(live.last_seen));
                    self.cursor = Some(CursorState::Live(recovered));
                }
            }
        }
    }

    fn notify(&mut self, actor: Option<&'static str>, names_watcher: bool) {
        self.version += 1;
        self.notifying.push((self.version, actor));
        self.remembered = Some(remember(self.remembered.as_ref(), self.version, actor));
        if actor == Some(WATCHER) {
            return;
        }
        match self.cursor {
            Some(CursorState::Live(live)) => {
                let after = live.notify(self.version);
                assert_eq!(
                    after.is_some(),
                    !live.is_open(),
                    "one notice opens, and only if none is"
                );
                self.cursor = Some(CursorState::Live(after.unwrap_or(live)));
            }
            None if names_watcher => self.cursor = Some(CursorState::Live(named(self.version))),
            Some(CursorState::Unwatched) | None => {}
        }
    }

    fn acknowledge(&mut self, live: Positions, since: u64, up_to: u64) {
        let after = live.acknowledge(since, up_to, self.material(live.last_seen));
        let counts = since == live.last_seen && since < up_to && up_to <= live.notified;
        assert_eq!(after.is_some(), counts);
        if let Some(after) = after {
            assert_eq!(after.last_seen, up_to);
            assert_eq!(after.notified, self.material(up_to));
            assert_eq!(after.provenance, live.provenance);
            self.cursor = Some(CursorState::Live(after));
        }
    }

    fn check(&self) {
        for watcher in [WATCHER, "agent:main:other", "agent:main:third", "u7"] {
            assert_eq!(material(Some(&self.head()), watcher, 0), self.scan(watcher), "{watcher}");
        }
        if let Some(Positions { last_seen, notified, .. }) = self.live() {
            let material = self.material(last_seen);
            assert!(last_seen <= notified && notified <= material && material <= self.version);
            assert_eq!(notified > last_seen, material > last_seen, "open exactly while pending");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]

    #[test]
    fn positions_keep_their_order_and_a_notice_is_open_exactly_while_something_is_unseen(
        steps in vec(step(), 1..30),
    ) {
        let mut story = Story::default();
        for step in &steps {
            story.go(step);
            story.check();
        }
    }
}

#[test]
fn spawn_replaces_any_explicit_replaces_ambient_and_ambient_none() {
    use Provenance::{Ambient, Explicit, Spawn};
    for (old, new, stays) in [
        (Spawn, Spawn, Spawn),
        (Spawn, Explicit, Spawn),
        (Spawn, Ambient, Spawn),
        (Explicit, Spawn, Spawn),
        (Explicit, Explicit, Explicit),
        (Explicit, Ambient, Explicit),
        (Ambient, Spawn, Spawn),
        (Ambient, Explicit, Explicit),
        (Ambient, Ambient, Ambient),
    ] {
        let live = CursorState::Live(Positions::settled(3, old));
        assert_eq!(watch(Some(&live), 9, new), Positions::settled(3, stays), "{old:?} {new:?}");
        assert_eq!(spawn(Some(&live), 9), Positions::settled(9, Spawn));
    }
}

#[test]
fn a_target_without_a_notifying_event_is_material_to_nobody() {
    assert_eq!(material(None, WATCHER, 4), 4);
    let log_only = Head { version: 9, watermark: 0, notifying: None, moved_at: 0 };
    assert_eq!(material(Some(&log_only), WATCHER, 4), 4);
}

#[test]
fn a_clock_that_went_back_makes_nothing_older() {
    assert_eq!(moved(None, 5), 5);
    assert_eq!(moved(Some(3), 5), 5);
    assert_eq!(moved(Some(9), 5), 9);
}
