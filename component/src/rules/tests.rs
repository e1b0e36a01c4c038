//! Rules of one's own hold wherever they are asked.

use crate::contract::{
    Actor, ActorType, Cursor, CursorState, Delivery, GoalChange, Happening, Kind, Outcome, Pair,
    Positions, Provenance, Session, SessionRef, Signal, Unwatchable, WatchAnswer,
};
use crate::ports::fake::FakeUnder;
use crate::rules::{Protocol, Rules};
use crate::{record, watch};

const MAIN: &str = "agent:main:main";
const OPS: &str = "agent:ops:main";
const WORKER: &str = "agent:main:worker";

/// A core whose every rule is another one.
struct Strict;

impl Rules for Strict {
    const NAME: &'static str = "strict";
    const VERSION: &'static str = "0.1.0";
    const SENTENCE: &'static str = "Look: {call}";

    fn notifies(kind: Kind, session: &Session, actor: ActorType, actor_id: Option<&str>) -> bool {
        kind == Kind::Created
            || (actor == ActorType::Human && Protocol::notifies(kind, session, actor, actor_id))
    }
    fn may_watch(watcher: &str, _: &Session) -> Result<(), Unwatchable> {
        if watcher == OPS { Ok(()) } else { Err(Unwatchable::NotAgentQualified) }
    }
    fn wakes(_: &str, provenance: Provenance) -> bool {
        provenance == Provenance::Ambient
    }
}

type Store = FakeUnder<Strict>;

fn signal(happening: Happening, type_: ActorType) -> Signal {
    Signal {
        session: worker(),
        happening,
        actor: Actor { type_, id: Some(MAIN.to_string()) },
        session_id: None,
        run_id: Some("r1".to_string()),
        occurred_at: None,
        dedupe_key: None,
        watchers: vec![MAIN.to_string(), OPS.to_string()],
    }
}

fn worker() -> SessionRef {
    SessionRef { key: WORKER.to_string(), agent: None }
}

/// What is saved about a signal: whether the head remembers it as notifying, and whose cursors.
fn saved(store: &Store) -> (bool, Vec<&str>) {
    let changes = store.saved.first().unwrap();
    let watchers = changes.cursors.iter().map(|cursor| cursor.pair.watcher.as_str());
    (changes.heads[0].head.notifying.is_some(), watchers.collect())
}

#[test]
fn a_kind_that_the_rules_let_notify_moves_head_and_cursors_and_opens_a_notice() {
    let mut store = Store::default();
    let created = signal(Happening::Created, ActorType::Agent);
    assert_eq!(record::record(&mut store, &created), Ok(Outcome::Recorded(1)));
    assert_eq!(saved(&store), (true, vec![OPS]));
    assert_eq!(store.enqueued.len(), 1);
}

#[test]
fn a_kind_that_they_let_not_moves_the_version_and_nothing_else() {
    let mut store = Store::default();
    let goal = signal(Happening::GoalChanged(GoalChange::Updated), ActorType::Agent);
    assert_eq!(record::record(&mut store, &goal), Ok(Outcome::Recorded(1)));
    assert_eq!(saved(&store), (false, vec![]));
    assert_eq!(store.enqueued, []);
}

#[test]
fn rules_are_asked_for_each_signal_of_many() {
    let mut store = Store::default();
    let goal = |actor| signal(Happening::GoalChanged(GoalChange::Updated), actor);
    let both = [goal(ActorType::Agent), goal(ActorType::Human)];
    let outcomes = record::record_many(&mut store, &both);
    assert_eq!(outcomes, Ok(vec![Outcome::Recorded(1), Outcome::Recorded(2)]));
    assert_eq!(store.enqueued.len(), 1);
    assert_eq!(store.enqueued[0].notice.up_to, 2);
}

#[test]
fn a_spawn_seeds_and_never_notifies_but_only_parents_that_may_watch() {
    let mut store = Store::default();
    let spawned = signal(Happening::ChildSpawned, ActorType::Agent);
    assert_eq!(record::record(&mut store, &spawned), Ok(Outcome::Recorded(1)));
    assert_eq!(saved(&store), (false, vec![OPS]));
    assert_eq!(store.enqueued, []);
}

#[test]
fn who_may_not_watch_is_told_so_and_may_still_unwatch() {
    let mut store = Store::default();
    let refused = watch::watch(&mut store, MAIN, &worker(), false);
    assert_eq!(refused, Ok(WatchAnswer::NotWatchable(Unwatchable::NotAgentQualified)));
    assert!(store.saved.is_empty());
    assert_eq!(watch::watch(&mut store, OPS, &worker(), false), Ok(WatchAnswer::Watched));
    assert_eq!(watch::unwatch(&mut store, MAIN, &worker()), Ok(false));
    assert_eq!(store.saved.len(), 2, "the mark of an unwatch is left");
}

#[test]
fn what_cannot_watch_is_not_asked_of_the_rules() {
    let mut store = FakeUnder::<Strict>::default();
    let itself = SessionRef { key: OPS.to_string(), agent: None };
    let refused = watch::watch(&mut store, OPS, &itself, false);
    assert_eq!(refused, Ok(WatchAnswer::NotWatchable(Unwatchable::WatcherIsTarget)));
}

#[test]
fn notices_are_worded_and_wake_by_the_rules() {
    let mut store = Store::default();
    for (watcher, provenance) in [("agent:a:x", Provenance::Ambient), (OPS, Provenance::Explicit)] {
        let target = Session { key: WORKER.to_string(), agent: "main".to_string() };
        let pair = Pair { watcher: watcher.to_string(), target };
        let state = CursorState::Live(Positions::settled(0, provenance));
        store.cursors.push(Cursor { pair, state, moved_at: 0 });
    }
    let goal = signal(Happening::GoalChanged(GoalChange::Updated), ActorType::Human);
    assert_eq!(record::record(&mut store, &goal), Ok(Outcome::Recorded(1)));
    let told: Vec<_> = store.enqueued.iter().map(|it| (it.watcher.as_str(), it.delivery)).collect();
    assert_eq!(told, [("agent:a:x", Delivery::AnnounceAndWake), (OPS, Delivery::Announce)]);
    let text = r#"Look: session_status {"sessionKey":"agent:main:worker","changesSince":0}"#;
    assert_eq!(store.enqueued[0].notice.text, text);
}
