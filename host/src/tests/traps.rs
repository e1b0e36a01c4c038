//! A core that traps, here for want of memory: it costs its own call an error and nobody else
//! anything. Cores that mean harm are tested with hostile components, in the workspace's own tests.

use std::thread;

use super::{CHILD, Heard, MAIN, builder};
use crate::plugin::BUILT_IN;
use crate::{Actor, Builder, Error, GoalChange, Recording, Signal};

/// Enough for every ordinary call.
const MEMORY: usize = 4 << 20;

fn core_contains(text: &str) -> bool {
    BUILT_IN.windows(text.len()).any(|bytes| bytes == text.as_bytes())
}

fn small(path: impl AsRef<std::path::Path>) -> Builder {
    builder(path).memory_limit(MEMORY)
}

/// What does not fit.
fn too_much() -> Signal {
    Signal::created("x".repeat(2 * MEMORY), Actor::system())
}

fn goal() -> Signal {
    Signal::goal_changed(CHILD, GoalChange::Updated, Actor::human())
}

#[test]
fn the_core_names_its_functions_as_people_do() {
    let names = [
        "record::Recording::append",
        "exports::signals::",
        "imports::storage::append",
        "drop_in_place<Vec<Notice>>",
    ];
    for name in names {
        assert!(core_contains(name), "{name}");
    }
    // What only the linker named has numbers.
    for wired in ["import-type-", "import-func-"] {
        assert!(!core_contains(wired), "{wired}");
    }
    // How mangled names begin, in either scheme, and how the hash at the end of one does.
    for mangled in ["_ZN", "_RN", "17h"] {
        assert!(!core_contains(mangled), "{mangled}");
    }
}

#[test]
fn a_trap_is_an_outcome_with_its_words_and_the_next_call_works() {
    let folder = tempfile::tempdir().unwrap();
    for path in [":memory:".into(), folder.path().join("store.db")] {
        let heard = Heard::default();
        let awareness = small(path).listener(heard.clone()).open().unwrap();
        awareness.watch(MAIN, CHILD, false).unwrap();
        let Recording::Failed { reason, message } = awareness.record(too_much()).unwrap() else {
            panic!()
        };
        assert_eq!(reason, "plugin-trap");
        assert!(message.contains("memory"), "{message}");
        assert_eq!(heard.take().len(), 1);
        // What was in the store is still there, also where the store is the connection.
        assert_eq!(awareness.watches_of(MAIN).unwrap().len(), 1);
        assert_eq!(awareness.record(goal()).unwrap(), Recording::Recorded(1));
    }
}

#[test]
fn a_trap_while_reading_is_an_error_and_the_next_read_works() {
    let folder = tempfile::tempdir().unwrap();
    let awareness = small(folder.path().join("store.db")).readers(1).open().unwrap();
    for _ in 0..3 {
        let error = awareness.take(&"x".repeat(2 * MEMORY)).unwrap_err();
        assert!(matches!(error, Error::Trap(_)), "{error}");
        assert_eq!(awareness.take(MAIN).unwrap(), []);
    }
}

#[test]
fn a_trap_in_a_group_takes_nobody_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let awareness = small(folder.path().join("store.db")).open().unwrap();
    thread::scope(|scope| {
        for thread in 0..8 {
            let awareness = awareness.clone();
            scope.spawn(move || {
                for _ in 0..20 {
                    let trap = thread == 0;
                    let recording = awareness.record(if trap { too_much() } else { goal() });
                    match recording.unwrap() {
                        Recording::Failed { reason: "plugin-trap", .. } => assert!(trap),
                        other => assert!(!trap && matches!(other, Recording::Recorded(_))),
                    }
                }
            });
        }
    });
    assert_eq!(awareness.versions([CHILD]).unwrap(), [Some(140)]);
}

#[test]
fn a_request_that_traps_the_core_is_answered_all_the_same() {
    let awareness = small(":memory:").request_limit(4 * MEMORY).open().unwrap();
    let much = |good: char| good.to_string().repeat(2 * MEMORY);
    for method in ["take", "drain"] {
        for (key, blank, expected) in
            [(MAIN.to_owned(), much(' '), "plugin-trap"), (much('x'), String::new(), "too-long")]
        {
            let request = format!(
                r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{"watcher":"{key}"}}{blank}}}"#
            );
            let response = awareness.call(&request).unwrap();
            assert!(response.contains(expected), "{response}");
        }
    }
}
