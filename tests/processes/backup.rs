//! The guide of docs/operating.md, step by step: a backup while others write, its return, and what
//! sessions are told that know versions from before.

use std::ffi::CString;
use std::fs;
use std::path::Path;
use std::thread;

use rusqlite::{Connection, ffi};
use serde_json::json;

use crate::fleet::{Client, Fleet, Over, Records, WATCHER, target};
use crate::promises::{doctor_finds_nothing, logs};
use harness::command::{run_with, text};

const TARGETS: u64 = 2;

/// Backs the store up under load, loses it, follows the guide, and asks.
fn comes_back(save: impl FnOnce(&Path, &Path) + Send) {
    let fleet = &Fleet::new(TARGETS);
    let backup = fleet.folder.path().join("backup.db");
    let mut writers: Vec<Client> = (0..2).map(|_| fleet.client()).collect();
    let mut taker = fleet.client();
    let told: Vec<Records> = thread::scope(|scope| {
        let over = Over(fleet);
        let writing: Vec<_> = writers
            .iter_mut()
            .zip(["a", "b"])
            .map(|(client, name)| scope.spawn(move || fleet.writes(client, name, 80, TARGETS)))
            .collect();
        scope.spawn(|| fleet.takes(&mut taker));
        fleet.comes_to(20);
        save(&fleet.db, &backup);
        let told = writing.into_iter().map(|thread| thread.join().unwrap()).collect();
        drop(over);
        told
    });
    let later = writers.iter_mut().zip(["after-a", "after-b"]);
    let later: Vec<Records> =
        later.map(|(client, name)| fleet.writes(client, name, 10, TARGETS)).collect();
    drop((writers, taker));

    doctor_finds_nothing(&backup);
    let newest = newest_of(&told).max(newest_of(&later));
    let kept = logs(&backup).values().flatten().count();
    assert!(kept >= 20 && kept < usize::try_from(newest).unwrap(), "{kept} of {newest}");
    for suffix in ["", "-wal", "-shm"] {
        drop(fs::remove_file(format!("{}{suffix}", text(&fleet.db))));
    }
    fs::copy(&backup, &fleet.db).unwrap();
    let marked = run_with(["restored", "--db", text(&fleet.db)]);
    assert_eq!(marked.status, 0, "{marked:?}");
    doctor_finds_nothing(&fleet.db);
    every_version_from_before_is_a_gap(&mut fleet.client(), newest);
}

fn newest_of(told: &[Records]) -> u64 {
    told.iter().flatten().filter_map(|(.., version)| *version).max().unwrap()
}

fn every_version_from_before_is_a_gap(client: &mut Client, newest: u64) {
    for session in (0..TARGETS).map(target) {
        let mut changes = |version: u64| {
            let params = json!({"session": session, "changesSince": version});
            client.asks("status", &params)
        };
        for version in 0..=newest {
            let answer = changes(version);
            assert_eq!(answer["stateChanges"]["historyGap"], true, "{session} since {version}");
        }
        let version = changes(0)["stateVersion"].as_u64().unwrap();
        assert!(version > newest, "{version} was not given before");
        let fresh = changes(version);
        assert_eq!(fresh["stateChanges"]["historyGap"], false, "{fresh}");
        assert_eq!(fresh["stateChanges"]["events"], json!([]), "{fresh}");
        let signal = json!({
            "session": session, "kind": "goal_changed", "change": "updated",
            "actor": {"type": "human"},
        });
        let recorded = client.asks("record", &signal)["stateVersion"].as_u64().unwrap();
        assert!(recorded > 1 << 32, "{recorded}");
        let params = json!({"session": session, "changesSince": version});
        let after = client.asks("status", &params);
        assert_eq!(after["stateChanges"]["historyGap"], false, "{after}");
        assert_eq!(after["stateChanges"]["events"][0]["sequence"], recorded, "{after}");
    }
    let taken = client.asks("drain", &json!({ "watcher": WATCHER }));
    assert_eq!(taken["notices"].as_array().unwrap().len(), usize::try_from(TARGETS).unwrap());
}

#[test]
fn a_store_vacuumed_into_a_backup_under_load_comes_back_with_a_gap_for_every_version_from_before() {
    comes_back(|db, backup| {
        let connection = Connection::open(db).unwrap();
        connection.execute("VACUUM INTO ?", [text(backup)]).unwrap();
    });
}

#[test]
fn a_store_backed_up_under_load_comes_back_with_a_gap_for_every_version_from_before() {
    // As the shell's `.backup` does: a hundred pages, then again.
    comes_back(|db, backup| back_up(db, backup, 100));
}

#[test]
fn a_store_backed_up_page_by_page_under_load_comes_back_with_a_gap_for_every_version_from_before() {
    comes_back(|db, backup| back_up(db, backup, 1));
}

/// SQLite's own backup, so many pages at a time.
fn back_up(db: &Path, backup: &Path, pages: i32) {
    let (from, to) = (Connection::open(db).unwrap(), Connection::open(backup).unwrap());
    let main = CString::new("main").unwrap();
    // SAFETY: both connections are open and outlive the backup, which this thread alone uses and
    // which is finished before they are closed; the names end in a zero byte.
    #[allow(unsafe_code, reason = "the safe interface is a feature that this build leaves out")]
    let outcome = unsafe {
        let backup =
            ffi::sqlite3_backup_init(to.handle(), main.as_ptr(), from.handle(), main.as_ptr());
        assert!(!backup.is_null());
        while [ffi::SQLITE_OK, ffi::SQLITE_BUSY, ffi::SQLITE_LOCKED]
            .contains(&ffi::sqlite3_backup_step(backup, pages))
        {}
        ffi::sqlite3_backup_finish(backup)
    };
    assert_eq!(outcome, ffi::SQLITE_OK);
}
