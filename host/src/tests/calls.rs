//! Typed calls from end to end.

use super::{CHILD, Heard, MAIN, builder, open};
use crate::{
    Actor, Error, GoalChange, InvalidReason, OpenError, Policy, Recording, SessionRef, Signal,
    StorageFault, Urgency, WatchAnswer,
};

fn message() -> Signal {
    Signal::human_direct_message(CHILD, Actor::human()).channel("telegram")
}

#[test]
fn a_change_behind_a_watchers_back_is_one_notice_and_an_exact_delta() {
    let (awareness, heard) = open();
    let spawned = Signal::child_spawned(CHILD, "r1", Actor::agent(MAIN));
    assert_eq!(awareness.record(spawned).unwrap(), Recording::Recorded(1));
    for version in 2..5 {
        assert_eq!(awareness.record(message()).unwrap(), Recording::Recorded(version));
    }
    assert_eq!(heard.take(), [format!("notice {MAIN} 1..2"), format!("wake {MAIN}")]);

    let notices = awareness.take(MAIN).unwrap();
    assert_eq!(notices.len(), 1);
    let outcome = awareness.acknowledge(MAIN, &notices).unwrap();
    assert_eq!((outcome.acknowledged, outcome.reopened.len()), (1, 1));
    assert_eq!(awareness.drain(MAIN).unwrap().notices.len(), 1);
    assert!(awareness.pending().unwrap().is_empty());

    let delta = awareness.changes_since(CHILD, 2, None).unwrap();
    assert_eq!(delta.state_version, 4);
    assert_eq!(delta.events.iter().map(|event| event.sequence).collect::<Vec<_>>(), [3, 4]);
}

#[test]
fn every_call_reaches_the_core() {
    let (awareness, _) = open();
    assert_eq!(awareness.watch(MAIN, CHILD, true).unwrap(), WatchAnswer::Watched);
    assert_eq!(awareness.watches_of(MAIN).unwrap().len(), 1);
    assert_eq!(awareness.watchers_of(CHILD).unwrap().len(), 1);
    let goal = Signal::goal_changed(CHILD, GoalChange::Created, Actor::system().id("cron"));
    let outcomes = awareness.record_many(vec![goal, message()]).unwrap();
    assert_eq!(outcomes, [Recording::Recorded(1), Recording::Recorded(2)]);
    assert!(!awareness.pending_of(MAIN).unwrap()[0].wakes);
    let sessions = [SessionRef::from(CHILD), SessionRef::new("global", "main")];
    assert_eq!(awareness.versions(sessions).unwrap(), [Some(2), None]);
    assert!(awareness.unwatch(MAIN, CHILD).unwrap());
    assert_eq!(awareness.reset(MAIN).unwrap().cursors, 0);
    assert_eq!(awareness.delete(CHILD).unwrap().events, 2);
    assert_eq!(awareness.recover().unwrap().pending, 0);
    assert!(awareness.prune(Urgency::IfDue).unwrap().is_none());
    assert!(awareness.restored().unwrap() > 1 << 32);
    assert_eq!(awareness.metadata().protocol, crate::tests::CORE.metadata().protocol);
}

#[test]
fn a_refused_input_names_its_field_and_changes_nothing() {
    let (awareness, heard) = open();
    let refused = awareness.record(Signal::created("global", Actor::system())).unwrap_err();
    assert_eq!(refused.reason(), "agent-required");
    let Error::Invalid(input) = refused else { panic!("{refused}") };
    assert_eq!(input.reason, InvalidReason::AgentRequired);
    assert!(input.message.contains(&input.field), "{}", input.message);
    assert!(heard.take().is_empty());
    assert_eq!(awareness.versions([SessionRef::new("global", "main")]).unwrap(), [None]);
}

#[test]
fn the_policy_of_the_builder_is_kept_in_the_store() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let policy = Policy {
        notice_template: "{call}".into(),
        history_days: 7,
        history_rows: 10,
        cursor_days: 8,
    };
    drop(builder(&path).policy(policy.clone()).open().unwrap());
    assert_eq!(builder(&path).open().unwrap().policy().unwrap(), policy);

    let wrong = Policy { history_days: 0, ..policy };
    let error = builder(&path).policy(wrong).open().unwrap_err();
    assert!(matches!(error, OpenError::Settings(_)), "{error}");
}

#[test]
fn opening_announces_what_is_pending_unless_told_not_to() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let awareness = builder(&path).open().unwrap();
    awareness.watch(MAIN, CHILD, false).unwrap();
    awareness.record(message()).unwrap();
    drop(awareness);

    let heard = Heard::default();
    builder(&path).recover_on_open(false).listener(heard.clone()).open().unwrap();
    assert!(heard.take().is_empty());
    builder(&path).listener(heard.clone()).open().unwrap();
    assert_eq!(heard.take(), [format!("notice {MAIN} 0..1"), format!("wake {MAIN}")]);
}

#[test]
fn a_store_opened_to_be_looked_at_is_not_changed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let missing = builder(&path).read_only().open().unwrap_err();
    assert!(matches!(missing, OpenError::Storage(_)), "{missing}");
    assert!(!path.exists());

    let awareness = builder(&path).open().unwrap();
    awareness.watch(MAIN, CHILD, false).unwrap();
    awareness.record(message()).unwrap();
    drop(awareness);
    let heard = Heard::default();
    let looking = builder(&path).read_only().listener(heard.clone()).open().unwrap();
    assert_eq!(looking.take(MAIN).unwrap().len(), 1);
    let Error::Storage(failure) = looking.drain(MAIN).unwrap_err() else { panic!() };
    assert_eq!(failure.fault, StorageFault::ReadOnly);
    assert!(heard.take().is_empty());
}

#[test]
fn recording_never_fails_the_turn_and_works_again_once_the_store_does() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let heard = Heard::default();
    let awareness = builder(&path)
        .busy_timeout(std::time::Duration::from_millis(400))
        .listener(heard.clone())
        .open()
        .unwrap();
    awareness.watch(MAIN, CHILD, false).unwrap();

    let other = rusqlite::Connection::open(&path).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let Recording::Failed { reason, .. } = awareness.record(message()).unwrap() else { panic!() };
    assert_eq!(reason, "store-busy");
    let heard = heard.take();
    assert!(heard.len() == 1 && heard[0].starts_with("log nothing was recorded on"), "{heard:?}");
    // Readers do not wait for the writer.
    assert_eq!(awareness.take(MAIN).unwrap(), []);

    other.execute_batch("ROLLBACK").unwrap();
    assert_eq!(awareness.record(message()).unwrap(), Recording::Recorded(1));
}

#[test]
fn a_listener_may_call_back_and_may_panic() {
    struct Nosy(std::sync::OnceLock<crate::Awareness>, Heard);
    impl crate::Listener for std::sync::Arc<Nosy> {
        fn notice(&self, watcher: &str, notice: &crate::Notice) {
            let awareness = self.0.get().unwrap();
            crate::Listener::notice(&self.1, watcher, notice);
            awareness.drain(watcher).unwrap();
            panic!("a listener's own trouble");
        }
    }
    let nosy = std::sync::Arc::new(Nosy(std::sync::OnceLock::new(), Heard::default()));
    let awareness = builder(":memory:").listener(nosy.clone()).open().unwrap();
    assert!(nosy.0.set(awareness.clone()).is_ok());
    awareness.watch(MAIN, CHILD, false).unwrap();
    assert_eq!(awareness.record(message()).unwrap(), Recording::Recorded(1));
    assert_eq!(awareness.record(message()).unwrap(), Recording::Recorded(2));
    assert_eq!(nosy.1.take().len(), 2);
}
