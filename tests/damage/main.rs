//! Damaged files: bits flipped and ends cut in the database, its log and its shared memory,
//! files that are removed or replaced, and rows that no headsup writes. Whatever is asked gets the
//! right answer or a typed error.
//!
//! `HEADSUP_LONG=1` damages 1,000 places of each file in place of 50.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod files;
mod replaced;
mod rows;
mod serving;

use std::path::{Path, PathBuf};

use harness::{CHILD, Gateway, MAIN, NOON, OPS, WORKER};
use headsup::{Actor, Awareness, Durability, GoalChange, Signal};
use tempfile::TempDir;

fn goal(session: &str) -> Signal {
    Signal::goal_changed(session, GoalChange::Updated, Actor::human())
}

/// Opens a store as the tests do: nothing happens by itself.
fn builder(path: &Path) -> headsup::Builder {
    Awareness::builder(path)
        .manual_clock(NOON)
        .durability(Durability::Normal)
        .recover_on_open(false)
        .plugin(harness::core())
        .listener(harness::Ears::default())
}

/// A store with something of everything, and what lies beside it while it is open.
struct Sound {
    folder: TempDir,
    /// The three files, as they are.
    database: Vec<u8>,
    log: Vec<u8>,
    shared: Vec<u8>,
    /// What `answers` gets of it.
    truth: Vec<Result<String, String>>,
}

impl Sound {
    fn new() -> Self {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("sound.db");
        let builder = Awareness::builder(&path).manual_clock(NOON);
        let gateway = Gateway::with(builder.durability(Durability::Normal));
        for number in 0..40 {
            let target = format!("agent:main:subagent:{number}");
            gateway.watches(MAIN, target.as_str());
            gateway.records(goal(&target));
        }
        // All of that is in the file; what follows is in the log alone.
        let flush = rusqlite::Connection::open(&path).unwrap();
        flush.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
        gateway.watches(OPS, CHILD);
        for _ in 0..10 {
            gateway.records(goal(CHILD));
            gateway.records(goal(WORKER));
        }
        gateway.drain(OPS).unwrap();
        gateway.records(goal(CHILD));
        drop(gateway.news());
        let read = |suffix: &str| std::fs::read(folder.path().join(format!("sound.db{suffix}")));
        let (database, log) = (read("").unwrap(), read("-wal").unwrap());
        let shared = read("-shm").unwrap();
        assert!(log.len() > 10_000 && database.len() > 50_000);
        let mut sound = Self { folder, database, log, shared, truth: Vec::new() };
        let copy = sound.copy("truth", &sound.database, Some(&sound.log), None);
        sound.truth = answers(&copy);
        assert!(sound.truth.iter().all(Result::is_ok), "{:?}", sound.truth);
        sound
    }

    /// These bytes as a store.
    fn copy(
        &self,
        name: &str,
        database: &[u8],
        log: Option<&[u8]>,
        shared: Option<&[u8]>,
    ) -> PathBuf {
        let path = self.folder.path().join(format!("{name}.db"));
        for (suffix, bytes) in [("", Some(database)), ("-wal", log), ("-shm", shared)] {
            let file = self.folder.path().join(format!("{name}.db{suffix}"));
            match bytes {
                Some(bytes) => std::fs::write(file, bytes).unwrap(),
                None => drop(std::fs::remove_file(file)),
            }
        }
        path
    }
}

/// What a store answers to one question of each kind, or the reason why not.
fn answers(path: &Path) -> Vec<Result<String, String>> {
    match builder(path).open() {
        Ok(awareness) => answers_of(&awareness),
        Err(error) => vec![Err(error.reason().to_owned())],
    }
}

/// The same of one that is open.
fn answers_of(awareness: &Awareness) -> Vec<Result<String, String>> {
    let mut told = Vec::new();
    let mut tell = |answer: Result<String, headsup::Error>| {
        told.push(answer.map_err(|error| error.reason().to_owned()));
    };
    for session in [CHILD, WORKER, "agent:main:subagent:7"] {
        tell(awareness.changes_since(session, 0, None).map(|delta| format!("{delta:?}")));
    }
    tell(awareness.versions([CHILD, WORKER, "agent:main:x"]).map(|all| format!("{all:?}")));
    tell(awareness.pending().map(|all| format!("{all:?}")));
    tell(awareness.take(MAIN).map(|all| format!("{all:?}")));
    tell(awareness.take(OPS).map(|all| format!("{all:?}")));
    tell(awareness.watches_of(MAIN).map(|all| format!("{all:?}")));
    tell(awareness.watchers_of(CHILD).map(|all| format!("{all:?}")));
    tell(awareness.policy().map(|policy| format!("{policy:?}")));
    told.push(match awareness.record(goal(CHILD)).unwrap() {
        headsup::Recording::Failed { reason, .. } => Err(reason.to_owned()),
        recorded => Ok(format!("{recorded:?}")),
    });
    told
}

/// Reasons that say that something is wrong with the store, and nothing else.
fn is_typed(reason: &str) -> bool {
    [
        "store-corrupt",
        "store-failed",
        "foreign-schema",
        "store-too-new",
        "store-read-only",
        "store-full",
        "store-busy",
    ]
    .contains(&reason)
}
