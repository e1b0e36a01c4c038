//! Killed while the first opening makes the store.

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use harness::command::{headsup, text};
use harness::doctor;
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
