//! Killed while the first opening makes the store, or brings an older one up to date.

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use harness::command::{headsup, text};
use harness::{as_the_first_schema_made_it, doctor};
use serde_json::{Value, json};
use tempfile::tempdir;

use crate::server::Server;
use crate::{dice, kills};

/// Starts a server, kills it after so long, or once it has answered, and returns how long that took.
fn start(db: &Path, patience: Option<Duration>) -> (Duration, Option<Value>) {
    let started = Instant::now();
    let mut command = headsup(["serve", "--stdio", "--db", text(db)]);
    let (mut server, mut line) = Server::start(&mut command, db.parent().unwrap());
    let answer = match patience {
        Some(patience) => {
            thread::sleep(patience);
            None
        }
        None => line.call("pending", &json!({})),
    };
    let took = started.elapsed();
    server.kill();
    (took, answer)
}

#[test]
fn a_store_whose_making_was_killed_is_made_by_the_next() {
    let mut dice = dice();
    let folder = tempdir().unwrap();
    start(&folder.path().join("warm.db"), None);
    let (whole, _) = start(&folder.path().join("whole.db"), None);
    for round in 0..kills(12) {
        let db = folder.path().join(format!("{round}.db"));
        let micros = u64::try_from(whole.as_micros()).unwrap();
        // Most of the start goes by before the file is touched.
        start(&db, Some(Duration::from_micros(micros / 4 + dice.below(micros))));
        let (_, answer) = start(&db, None);
        assert_eq!(answer, Some(json!({"watchers": []})));
        assert_eq!(doctor(&db).unwrap(), Vec::<String>::new());
    }
}

/// A store with many watchers that have notices pending, as an older headsup made it.
fn older(db: &Path) {
    let mut command = headsup(["serve", "--stdio", "--db", text(db)]);
    let (server, mut line) = Server::start(&mut command, db.parent().unwrap());
    for number in 0..WATCHERS {
        let watch = json!({"watcher": watcher(number), "target": TARGET});
        assert_eq!(line.call("watch", &watch).unwrap()["watched"], true);
    }
    let signal = json!({
        "session": TARGET, "kind": "goal_changed", "change": "updated", "actor": {"type": "human"},
    });
    assert_eq!(line.call("record", &signal).unwrap()["stateVersion"], 1);
    drop(line);
    server.ends();
    as_the_first_schema_made_it(db);
}

const TARGET: &str = "agent:main:target";
const WATCHERS: u64 = 200;

fn watcher(number: u64) -> String {
    format!("agent:main:{number:03}")
}

#[test]
fn a_store_whose_upgrade_was_killed_is_brought_up_to_date_by_the_next_with_all_that_it_holds() {
    let mut dice = dice();
    let folder = tempdir().unwrap();
    let whole = folder.path().join("whole.db");
    older(&whole);
    let pending: Vec<_> =
        (0..WATCHERS).map(|number| json!({"watcher": watcher(number), "notices": 1})).collect();
    for round in 0..kills(12) {
        let db = folder.path().join(format!("{round}.db"));
        std::fs::copy(&whole, &db).unwrap();
        let last = folder.path().join(format!("{round}-unkilled.db"));
        std::fs::copy(&whole, &last).unwrap();
        let (whole, answer) = start(&last, None);
        assert_eq!(answer.unwrap()["watchers"], json!(pending), "nobody was killed");
        let micros = u64::try_from(whole.as_micros()).unwrap();
        start(&db, Some(Duration::from_micros(micros / 4 + dice.below(micros))));
        let (_, answer) = start(&db, None);
        assert_eq!(answer.unwrap()["watchers"], json!(pending), "round {round}");
        assert_eq!(doctor(&db).unwrap(), Vec::<String>::new());
    }
}
