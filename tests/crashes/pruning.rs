//! Killed while much is pruned.

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use harness::command::{headsup, text};
use harness::{NOON, core, doctor};
use headsup::{Actor, Awareness, GoalChange, Recording, Signal};
use serde_json::json;
use tempfile::tempdir;

use crate::server::Server;
use crate::{dice, kills};

const OLD: usize = 12;
const SESSION: &str = "agent:main:main";
const KEPT: &str = "agent:main:telegram:kept";

fn goal(session: &str) -> Signal {
    Signal::goal_changed(session, GoalChange::Updated, Actor::human())
}

/// A store with thousands of events of long ago, and one of now.
fn fill(path: &Path) -> u64 {
    let long_ago = Awareness::builder(path).plugin(core()).manual_clock(NOON).open().unwrap();
    for _ in 0..OLD {
        let outcomes = long_ago.record_many(vec![goal(SESSION); 1_000]).unwrap();
        assert!(outcomes.iter().all(|it| matches!(it, Recording::Recorded(_))));
    }
    drop(long_ago);
    let now = Awareness::builder(path).plugin(core()).recover_on_open(false).open().unwrap();
    let Recording::Recorded(version) = now.record(goal(KEPT)).unwrap() else { panic!() };
    version
}

#[test]
fn whoever_is_killed_while_pruning_leaves_no_gap_that_is_not_told() {
    let mut dice = dice();
    let folder = tempdir().unwrap();
    let (full, db) = (folder.path().join("full.db"), folder.path().join("store.db"));
    let kept = fill(&full);
    let mut whole = None;
    for _ in 0..kills(6) {
        std::fs::copy(&full, &db).unwrap();
        for beside in ["store.db-wal", "store.db-shm"] {
            let _ = std::fs::remove_file(folder.path().join(beside));
        }
        let mut command = headsup(["serve", "--stdio", "--db", text(&db)]);
        let (mut server, mut line) = Server::start(&mut command, folder.path());
        line.call("pending", &json!({})).unwrap();
        let started = Instant::now();
        line.send("recover", &json!({}));
        let pruned = match whole {
            Some(whole) => {
                thread::sleep(Duration::from_micros(dice.below(whole)));
                None
            }
            None => line.response(),
        };
        // The first is not killed before its end, and says how long that takes.
        whole.get_or_insert(u64::try_from(started.elapsed().as_micros()).unwrap());
        server.kill();

        assert_eq!(doctor(&db).unwrap(), Vec::<String>::new());
        let store = Awareness::builder(&db).plugin(core()).recover_on_open(false).open().unwrap();
        let left = store.changes_since(SESSION, 0, None).unwrap();
        let whole_log = left.events.first().is_some_and(|event| event.sequence == 1);
        assert_eq!(left.history_gap, !whole_log, "a gap exactly where something is gone");
        if let Some(response) = pruned {
            assert_eq!(response["result"]["pruned"], OLD * 1_000, "{response}");
        }
        assert_eq!(store.versions([KEPT]).unwrap(), [Some(kept)]);
        store.recover().unwrap();
        assert_eq!(store.changes_since(SESSION, 0, None).unwrap().events, []);
        assert_eq!(store.versions([SESSION]).unwrap(), [Some(kept - 1)], "the head outlives it");
        drop(store);
        assert_eq!(doctor(&db).unwrap(), Vec::<String>::new());
    }
}
