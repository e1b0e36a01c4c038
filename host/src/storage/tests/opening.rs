//! Opening: what is made, and that nothing is ever overwritten.

use std::fs;

use rusqlite::Connection;

use super::*;
use crate::contract::StorageFault;
use crate::storage::Durability;
use crate::storage::failure::Problem;
use crate::storage::place::{beside, remove_empty};

const KEY: &str = "agent:main:a";

#[test]
fn a_missing_store_is_made_with_its_folders() {
    let (_folder, options) = on_disk();
    let mut store = Store::open(&options).unwrap();
    assert!(store.is_writable());
    assert_eq!(write(&mut store, |store| record(store, entry(KEY))), 1);
    let connection = Connection::open(&options.path).unwrap();
    let mode: String =
        connection.pragma_query_value(None, "journal_mode", |row| row.get(0)).unwrap();
    assert_eq!(mode, "wal");
}

#[test]
fn opening_again_finds_everything_and_runs_no_migration_twice() {
    let (_folder, options) = on_disk();
    write(&mut Store::open(&options).unwrap(), |store| record(store, entry(KEY)));
    for _ in 0..2 {
        let mut store = Store::open(&options).unwrap();
        let page = read(&mut store, |store| store.history(&session(KEY), 0, 9).unwrap());
        assert_eq!(page.rows.len(), 1);
        let ran = "SELECT count(*) FROM headsup_migrations";
        assert_eq!(store.connection.query_row(ran, [], |row| row.get(0)), Ok(2));
    }
}

#[test]
fn many_may_open_a_new_store_at_once() {
    let (_folder, options) = on_disk();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let mut store = Store::open(&options).unwrap();
                write(&mut store, |store| record(store, entry(KEY)));
            });
        }
    });
    let mut store = Store::open(&options).unwrap();
    assert_eq!(write(&mut store, |store| record(store, entry(KEY))), 9);
}

#[test]
fn the_tables_of_a_gateway_and_its_marks_on_the_file_are_left_alone() {
    let (_folder, options) = made_by_a_gateway(
        "PRAGMA user_version = 7; PRAGMA application_id = 99;
         CREATE TABLE sessions (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT);
         INSERT INTO sessions (name) VALUES ('kept');",
    );
    let mut store = Store::open(&options).unwrap();
    write(&mut store, |store| record(store, entry(KEY)));
    write(&mut store, |store| store.restored(1_000).unwrap());
    let connection = &store.connection;
    let marks = "SELECT name, seq, (SELECT user_version FROM pragma_user_version),
        (SELECT application_id FROM pragma_application_id)
        FROM sessions JOIN sqlite_sequence USING (name) UNION ALL
        SELECT sessions.name, seq, (SELECT user_version FROM pragma_user_version),
        (SELECT application_id FROM pragma_application_id)
        FROM sessions JOIN sqlite_sequence ON sqlite_sequence.name = 'sessions'";
    let found: (String, i64, i64, i64) = connection
        .query_row(marks, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))
        .unwrap();
    assert_eq!(found, ("kept".into(), 1, 7, 99));
}

#[test]
fn an_empty_file_is_filled_and_a_folder_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let options = StoreOptions::new(folder.path().join("empty"));
    fs::write(&options.path, "").unwrap();
    Store::open(&options).unwrap();
    let failure = Store::open(&StoreOptions::new(folder.path())).unwrap_err();
    assert_eq!(failure.fault, StorageFault::Failed);
    assert!(failure.message.contains("it is a folder"), "{}", failure.message);
}

#[test]
fn a_disk_that_is_full_is_full_also_where_processes_share_memory() {
    for code in [rusqlite::ffi::SQLITE_FULL, rusqlite::ffi::SQLITE_IOERR_SHMSIZE] {
        let error = rusqlite::Error::SqliteFailure(rusqlite::ffi::Error::new(code), None);
        let failure = Problem::from(error).worded("store.db");
        assert_eq!(failure.fault, StorageFault::Full);
        assert!(failure.message.contains("free some space"), "{}", failure.message);
    }
}

#[test]
fn an_empty_file_that_a_failed_opening_made_goes_with_what_is_beside_it() {
    let (folder, options) = on_disk();
    drop(Store::open(&options).unwrap());
    let empty = folder.path().join("empty.db");
    for path in [empty.clone(), beside(&empty, "-wal"), beside(&empty, "-shm")] {
        fs::write(path, "").unwrap();
    }
    remove_empty(&empty);
    remove_empty(&options.path);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    assert!(options.path.exists());
}

#[test]
fn durability_is_full_unless_asked_otherwise() {
    let (_folder, options) = on_disk();
    let normal = StoreOptions { durability: Durability::Normal, ..options.clone() };
    for (options, level) in [(options, 2), (normal, 1)] {
        let store = Store::open(&options).unwrap();
        let found = store.connection.pragma_query_value(None, "synchronous", |row| row.get(0));
        assert_eq!(found, Ok(level));
    }
}
