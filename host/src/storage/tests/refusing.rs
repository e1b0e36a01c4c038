//! Files that are not ours to use: which are refused, that they stay as they were, and what is said.

use std::fs;
use std::path::Path;

use rusqlite::Connection;

use super::*;
use crate::contract::{StorageFailure, StorageFault};

const KEY: &str = "agent:main:a";

/// Opens in every way, and wants the same refusal from each and the file as it was.
fn refused_by_all(options: &StoreOptions) -> StorageFailure {
    let before = fs::read(&options.path).unwrap();
    let failures = [
        Store::open(options).unwrap_err(),
        Store::open_reader(options).unwrap_err(),
        Store::inspect(options).unwrap_err(),
    ];
    assert_eq!(failures[0].fault, failures[1].fault);
    assert_eq!(failures[0].fault, failures[2].fault);
    assert_eq!(fs::read(&options.path).unwrap(), before);
    let [failure, ..] = failures;
    let place = options.path.display().to_string();
    assert!(failure.message.contains(&place), "{}", failure.message);
    failure
}

fn close_without_a_trace(path: &Path) {
    let connection = Connection::open(path).unwrap();
    connection.pragma_update(None, "journal_mode", "DELETE").unwrap();
}

#[test]
fn what_can_be_no_path_is_refused_with_what_to_do() {
    for (path, words) in [("", "the path is empty"), ("h\0.db", "NUL"), ("h\0/h.db", "NUL")] {
        let options = StoreOptions::new(path);
        for failure in [
            Store::open(&options).unwrap_err(),
            Store::open_reader(&options).unwrap_err(),
            Store::inspect(&options).unwrap_err(),
        ] {
            assert_eq!(failure.fault, StorageFault::Failed, "{path:?}");
            assert!(failure.message.contains(words), "{path:?}: {}", failure.message);
        }
    }
}

#[test]
fn something_of_our_name_that_we_did_not_make_is_refused() {
    let foreign = [
        "CREATE TABLE session_state_events (id INTEGER PRIMARY KEY, data TEXT)",
        "CREATE TABLE SESSION_STATE_HEADS (x)",
        "CREATE VIEW session_watch_cursors AS SELECT 1 AS x",
        "CREATE TABLE other (x); CREATE INDEX session_watch_cursors_open ON other (x)",
        "CREATE TABLE session_upstream_links (session_key TEXT, agent_id TEXT)",
        "CREATE TABLE headsup_own_turns (x)",
        "CREATE TABLE Headsup_Open_Counts (x)",
        "CREATE TABLE headsup_settings (owner TEXT, name TEXT, value TEXT)",
        "CREATE TABLE headsup_migrations (version INTEGER PRIMARY KEY, name TEXT) STRICT",
    ];
    for sql in foreign {
        let (_folder, options) = made_by_a_gateway(sql);
        let failure = refused_by_all(&options);
        assert_eq!(failure.fault, StorageFault::ForeignSchema, "{sql}");
        assert!(failure.message.contains("Rename it"), "{}", failure.message);
    }
}

#[test]
fn a_table_of_ours_that_somebody_changed_is_refused() {
    let changes = [
        "ALTER TABLE session_state_heads ADD COLUMN extra TEXT",
        "ALTER TABLE session_watch_cursors RENAME COLUMN moved_at TO moved",
        "DROP TABLE session_upstream_links",
        "ALTER TABLE session_upstream_links RENAME COLUMN source_place TO locator",
        "DROP TABLE headsup_own_turns",
        "DROP TABLE headsup_open_counts",
        "DROP INDEX session_watch_cursors_settled",
        "DROP INDEX session_state_events_by_session;
         CREATE INDEX session_state_events_by_session ON session_state_events (agent_id)",
        "UPDATE headsup_migrations SET name = 'another'",
        "DELETE FROM headsup_migrations",
    ];
    for sql in changes {
        let (_folder, options) = on_disk();
        drop(Store::open(&options).unwrap());
        Connection::open(&options.path).unwrap().execute_batch(sql).unwrap();
        close_without_a_trace(&options.path);
        assert_eq!(refused_by_all(&options).fault, StorageFault::ForeignSchema, "{sql}");
    }
}

#[test]
fn a_store_of_a_newer_schema_is_refused() {
    let (_folder, options) = on_disk();
    drop(Store::open(&options).unwrap());
    let newer = "ALTER TABLE session_state_heads ADD COLUMN later TEXT;
        INSERT INTO headsup_migrations VALUES (3, '0003_later', 0)";
    Connection::open(&options.path).unwrap().execute_batch(newer).unwrap();
    close_without_a_trace(&options.path);
    let failure = refused_by_all(&options);
    assert_eq!(failure.fault, StorageFault::TooNew);
    assert!(failure.message.contains("schema 3"), "{}", failure.message);
}

#[test]
fn a_file_that_is_not_a_database_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    for (name, content) in
        [("text", "not a database. ".repeat(100)), ("short", "x".into()), ("brief", "xy".into())]
    {
        let options = StoreOptions::new(folder.path().join(name));
        fs::write(&options.path, content).unwrap();
        let failure = refused_by_all(&options);
        assert_eq!(failure.fault, StorageFault::Corrupt, "{name}");
        assert!(failure.message.contains("not a SQLite database"), "{}", failure.message);
    }
}

#[test]
fn a_path_through_a_file_names_that_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    for options in ["store.db", "deeper/store.db"].map(|name| StoreOptions::new(file.join(name))) {
        for opened in [Store::open(&options), Store::inspect(&options)] {
            let failure = opened.unwrap_err();
            assert_eq!(failure.fault, StorageFault::Failed);
            let words = format!("{} is a file and no folder", file.display());
            assert!(failure.message.contains(&words), "{}", failure.message);
        }
    }
}

#[cfg(unix)]
#[test]
fn a_device_or_a_pipe_is_refused_unopened() {
    for path in ["/dev/null", "/dev/zero"] {
        let options = StoreOptions::new(path);
        for opened in
            [Store::open(&options), Store::open_reader(&options), Store::inspect(&options)]
        {
            let failure = opened.unwrap_err();
            assert_eq!(failure.fault, StorageFault::Failed);
            assert!(failure.message.contains("it is a device"), "{}", failure.message);
        }
    }
}

#[test]
fn a_damaged_file_is_corrupt_whether_it_shows_at_once_or_later() {
    let (_folder, options) = on_disk();
    let mut store = Store::open(&options).unwrap();
    write(&mut store, |store| {
        for _ in 0..500 {
            record(store, entry(KEY));
        }
    });
    drop(store);
    let whole = fs::read(&options.path).unwrap();

    let mut rotten = whole.clone();
    rotten[100..4_000].fill(0xa5);
    fs::write(&options.path, &rotten).unwrap();
    let failure = refused_by_all(&options);
    assert_eq!(failure.fault, StorageFault::Corrupt);
    assert!(failure.message.contains("backup"), "{}", failure.message);

    let mut later = whole;
    let pages_of_rows = later.len() / 4 * 3 / 4_096 * 4_096;
    later[pages_of_rows..].fill(0xa5);
    fs::write(&options.path, &later).unwrap();
    let mut store = Store::open(&options).unwrap();
    let failure = read(&mut store, |store| store.history(&session(KEY), 0, 1_000).unwrap_err());
    assert_eq!(failure.fault, StorageFault::Corrupt);
}

#[test]
fn a_row_that_breaks_the_protocol_is_corrupt_and_not_quoted() {
    let breaks = [
        "UPDATE session_watch_cursors SET last_seen = 9, notified = 1",
        "UPDATE session_watch_cursors SET last_seen = -1",
        "UPDATE session_watch_cursors SET provenance = 'secret'",
        "UPDATE session_watch_cursors SET state = 'secret'",
        "UPDATE session_state_heads SET moved_at = -1",
        "UPDATE session_state_heads SET notifying_other = 99",
    ];
    for sql in breaks {
        let mut store = Store::in_memory().unwrap();
        write(&mut store, |store| {
            record(store, entry(KEY));
            save_cursors(store, vec![live("agent:main:w", KEY, 0, 1)]);
            let unchecked = format!("PRAGMA ignore_check_constraints = 1; {sql};");
            store.connection.execute_batch(&unchecked).unwrap();
        });
        let failure =
            read(&mut store, |store| store.pairs(&[pair("agent:main:w", KEY)]).unwrap_err());
        assert_eq!(failure.fault, StorageFault::Corrupt, "{sql}");
        assert!(!failure.message.contains("secret"), "{}", failure.message);
        assert!(failure.message.contains("headsup doctor"), "{}", failure.message);
    }
}

#[test]
fn a_file_of_another_text_encoding_is_refused() {
    let (_folder, options) =
        made_by_a_gateway("PRAGMA encoding = 'UTF-16'; CREATE TABLE sessions (x)");
    let failure = refused_by_all(&options);
    assert_eq!(failure.fault, StorageFault::ForeignSchema);
    assert!(failure.message.contains("UTF-16"), "{}", failure.message);
}

#[cfg(unix)]
#[test]
fn a_file_that_may_not_be_read_says_what_to_do() {
    use std::os::unix::fs::PermissionsExt as _;
    let (_folder, options) = on_disk();
    drop(Store::open(&options).unwrap());
    fs::set_permissions(&options.path, fs::Permissions::from_mode(0o000)).unwrap();
    let all_powerful = fs::read(&options.path).is_ok();
    for opened in [Store::open(&options), Store::open_reader(&options), Store::inspect(&options)] {
        match opened {
            Ok(_) => assert!(all_powerful),
            Err(failure) => {
                assert_eq!(failure.fault, StorageFault::Failed);
                assert!(failure.message.contains("permissions"), "{}", failure.message);
            }
        }
    }
}
