//! A store that fails under a recording costs that recording, which says why; once the fault is
//! gone, the next one works.

use std::fs::{self, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::Duration;

use headsup::{Plugin, Recording};
use rusqlite::Connection;
use serde_json::json;

use crate::cores;
use crate::stage::{GOOD, Stage, WATCHER, open, reason, record, signal};

fn built_in() -> Plugin {
    Plugin::built_in(cores::engine()).unwrap()
}

/// Recording fails with this reason, alone, in a list and as JSON, and the log says so.
fn fails_to_record(stage: &Stage, expected: &str) {
    stage.heard.forget();
    assert_eq!(reason(&stage.record(GOOD)), expected);
    assert!(stage.heard.error(&["nothing was recorded", expected]), "{:?}", stage.heard.lines);
    let both = stage.awareness.record_many(vec![signal(GOOD), signal(GOOD)]).unwrap();
    assert_eq!(both.iter().map(reason).collect::<Vec<_>>(), [expected, expected]);
    stage.heard.forget();
    let params = json!({"session": GOOD, "kind": "goal_changed", "change": "updated", "actor": {"type": "human"}});
    let response = stage.call("record", &params);
    assert_eq!(response["result"], json!({"outcome": "failed", "reason": expected}));
    assert!(stage.heard.error(&["nothing was recorded", expected]), "{:?}", stage.heard.lines);
    assert!(stage.heard.notices.lock().unwrap().is_empty());
}

/// So does everything that writes; other calls than recordings say so by an error.
fn fails(stage: &Stage, expected: &str) {
    fails_to_record(stage, expected);
    let response = stage.call("watch", &json!({"watcher": WATCHER, "target": GOOD}));
    assert_eq!(response["error"]["code"], -32000);
    assert_eq!(response["error"]["data"]["reason"], expected);
}

#[test]
fn a_store_that_another_process_writes_to_for_too_long_is_busy() {
    let stage =
        Stage::with(&built_in(), |builder| builder.busy_timeout(Duration::from_millis(100)));
    let before = stage.rows();
    let other = Connection::open(&stage.path).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    fails(&stage, "store-busy");
    // Readers do not wait for a writer.
    assert_eq!(stage.awareness.take(WATCHER).unwrap().len(), 1);
    other.execute_batch("ROLLBACK").unwrap();
    assert_eq!(stage.rows(), before);
    stage.works();
}

#[test]
fn a_store_whose_file_is_damaged_is_corrupt_and_nothing_reads_as_empty() {
    let stage = Stage::with(&built_in(), |builder| builder);
    let before = stage.rows();
    let other = Connection::open(&stage.path).unwrap();
    let flush = "PRAGMA wal_checkpoint(TRUNCATE)";
    other.query_row(flush, [], |_| Ok(())).unwrap();
    let whole = fs::read(&stage.path).unwrap();
    // A commit by somebody else, after which no connection trusts the pages it remembers.
    other.execute_batch("CREATE TABLE gateway (x); DROP TABLE gateway;").unwrap();
    let file = OpenOptions::new().write(true).open(&stage.path).unwrap();
    let pages = whole.len() - 4_096;
    file.write_all_at(&vec![0xa5; pages], 4_096).unwrap();

    fails(&stage, "store-corrupt");
    assert_eq!(stage.awareness.take(WATCHER).unwrap_err().reason(), "store-corrupt");
    let delta = stage.awareness.changes_since(GOOD, 0, None);
    assert_eq!(delta.unwrap_err().reason(), "store-corrupt");

    file.write_all_at(&whole[4_096..], 4_096).unwrap();
    assert_eq!(stage.rows(), before);
    stage.works();
}

/// A store that somebody made, closed and spoiled, and that is opened again.
fn reopened(spoil: impl FnOnce(&Path)) -> Stage {
    let stage = Stage::with(&built_in(), |builder| builder);
    let Stage { awareness, heard, path, folder } = stage;
    drop((awareness, heard));
    spoil(&path);
    let (awareness, heard) = open(&path, &built_in(), |builder| builder.recover_on_open(false));
    Stage { awareness, heard, path, folder }
}

#[test]
fn a_store_that_may_not_be_written_is_read_only() {
    // A file of a format that only newer versions of SQLite may write: that holds for any user,
    // where permissions do not hold for root.
    const WRITE_VERSION: u64 = 18;
    let write = |path: &Path, version: u8| {
        let file = OpenOptions::new().write(true).open(path).unwrap();
        file.write_all_at(&[version], WRITE_VERSION).unwrap();
    };
    let stage = reopened(|path| write(path, 3));
    fails(&stage, "store-read-only");
    assert_eq!(stage.awareness.take(WATCHER).unwrap().len(), 1, "it can be read");
    write(&stage.path, 2);
    stage.works();
}

#[test]
fn a_store_that_was_opened_to_be_looked_at_is_read_only() {
    let stage = reopened(|_| {});
    let before = stage.rows();
    let (looking, heard) = open(&stage.path, &built_in(), headsup::Builder::read_only);
    assert_eq!(reason(&record(&looking, GOOD)), "store-read-only");
    assert!(heard.error(&["nothing was recorded", "store-read-only"]));
    assert_eq!(looking.take(WATCHER).unwrap().len(), 1);
    assert_eq!(harness::rows(&stage.path), before);
}

#[test]
fn a_store_whose_series_is_at_its_end_fails_to_record_and_not_as_if_the_disk_were_full() {
    let stage = Stage::with(&built_in(), |builder| builder);
    let before = stage.rows();
    let other = Connection::open(&stage.path).unwrap();
    // Of a table that has used its last number SQLite says what it says of a full disk.
    let number = "UPDATE sqlite_sequence SET seq = ? WHERE name = 'session_state_events'";
    other.execute(number, [i64::MAX]).unwrap();
    fails_to_record(&stage, "store-failed");
    other.execute(number, [1]).unwrap();
    assert_eq!(stage.rows(), before);
    stage.works();
}

#[test]
fn a_recording_that_failed_can_simply_be_made_again() {
    let stage =
        Stage::with(&built_in(), |builder| builder.busy_timeout(Duration::from_millis(100)));
    let other = Connection::open(&stage.path).unwrap();
    let keyed = || signal(GOOD).dedupe_key("turn-17");
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    reason(&stage.awareness.record(keyed()).unwrap());
    other.execute_batch("ROLLBACK").unwrap();
    assert_eq!(stage.awareness.record(keyed()).unwrap(), Recording::Recorded(2));
    assert_eq!(stage.awareness.record(keyed()).unwrap(), Recording::Duplicate(2));
}
