//! Opening: what is made, what is refused, and that nothing is ever overwritten.

use std::fs;
use std::path::Path;

use rusqlite::Connection;

use super::*;
use crate::contract::{StorageFailure, StorageFault};
use crate::storage::Durability;
use crate::storage::failure::Problem;
use crate::storage::place::{beside, remove_empty};

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

fn made_by_a_gateway(sql: &str) -> (TempDir, StoreOptions) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("gateway.db");
    Connection::open(&path).unwrap().execute_batch(sql).unwrap();
    (folder, StoreOptions::new(path))
}

fn close_without_a_trace(path: &Path) {
    let connection = Connection::open(path).unwrap();
    connection.pragma_update(None, "journal_mode", "DELETE").unwrap();
}

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
fn readers_and_inspections_make_no_store() {
    let (folder, options) = on_disk();
    for options in [options, StoreOptions::new(":memory:")] {
        for opened in [Store::open_reader(&options), Store::inspect(&options)] {
            let failure = opened.unwrap_err();
            assert_eq!(failure.fault, StorageFault::Failed);
            assert!(failure.message.contains("no store here"), "{}", failure.message);
        }
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
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
        assert_eq!(store.connection.query_row(ran, [], |row| row.get(0)), Ok(1));
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
        INSERT INTO headsup_migrations VALUES (2, '0002_later', 0)";
    Connection::open(&options.path).unwrap().execute_batch(newer).unwrap();
    close_without_a_trace(&options.path);
    let failure = refused_by_all(&options);
    assert_eq!(failure.fault, StorageFault::TooNew);
    assert!(failure.message.contains("schema 2"), "{}", failure.message);
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

#[test]
fn an_inspection_sees_commits_that_are_still_beside_the_file_and_changes_nothing() {
    let (folder, options) = on_disk();
    let mut store = Store::open(&options).unwrap();
    write(&mut store, |store| record(store, entry(KEY)));
    // As a process that was killed leaves it: with commits beside the file.
    let copy = StoreOptions::new(folder.path().join("copy.db"));
    let beside = |path: &Path| path.with_extension("db-wal");
    fs::copy(&options.path, &copy.path).unwrap();
    fs::copy(beside(&options.path), beside(&copy.path)).unwrap();
    let before = (fs::read(&copy.path).unwrap(), fs::read(beside(&copy.path)).unwrap());
    let mut inspected = Store::inspect(&copy).unwrap();
    let page = read(&mut inspected, |store| store.history(&session(KEY), 0, 9).unwrap());
    assert_eq!(page.rows.len(), 1);
    assert_eq!(inspected.begin_write().unwrap_err().fault, StorageFault::ReadOnly);
    drop(inspected);
    let after = (fs::read(&copy.path).unwrap(), fs::read(beside(&copy.path)).unwrap());
    assert_eq!(after, before);
}

#[test]
fn a_file_without_anything_of_ours_is_not_a_store_to_inspect() {
    let (_folder, options) = made_by_a_gateway("CREATE TABLE sessions (x)");
    for opened in [Store::inspect(&options), Store::open_reader(&options)] {
        let failure = opened.unwrap_err();
        assert_eq!(failure.fault, StorageFault::Failed);
        assert!(failure.message.contains("nothing of headsup's"), "{}", failure.message);
    }
}

/// A store in a folder where nothing may be written, unless this process may write anywhere.
#[cfg(unix)]
fn in_a_read_only_folder(file_mode: u32) -> (TempDir, StoreOptions, bool) {
    use std::os::unix::fs::PermissionsExt as _;
    let (folder, options) = on_disk();
    write(&mut Store::open(&options).unwrap(), |store| record(store, entry(KEY)));
    let inner = options.path.parent().unwrap();
    fs::set_permissions(&options.path, fs::Permissions::from_mode(file_mode)).unwrap();
    fs::set_permissions(inner, fs::Permissions::from_mode(0o555)).unwrap();
    let all_powerful = fs::write(inner.join("probe"), "").is_ok();
    (folder, options, all_powerful)
}

#[cfg(unix)]
#[test]
fn a_store_in_a_read_only_place_can_be_inspected_and_says_why_it_cannot_be_opened() {
    use std::os::unix::fs::PermissionsExt as _;
    for file_mode in [0o444, 0o644] {
        let (folder, options, all_powerful) = in_a_read_only_folder(file_mode);
        let mut inspected = Store::inspect(&options).unwrap();
        let page = read(&mut inspected, |store| store.history(&session(KEY), 0, 9).unwrap());
        assert_eq!(page.rows.len(), 1);
        drop(inspected);
        let beside = options.path.with_file_name("new.db");
        let below = options.path.with_file_name("new").join("new.db");
        for path in [&options.path, &beside, &below] {
            match Store::open(&StoreOptions::new(path)) {
                Ok(_) => assert!(all_powerful),
                Err(failure) => assert_eq!(failure.fault, StorageFault::ReadOnly, "{failure:?}"),
            }
        }
        let inner = options.path.parent().unwrap();
        fs::set_permissions(inner, fs::Permissions::from_mode(0o755)).unwrap();
        drop(folder);
    }
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
