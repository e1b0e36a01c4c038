//! Stores that cannot be used: each gets a message that says which and what to do, and none is
//! written over.

use std::fs;
use std::path::Path;

use rusqlite::Connection;
use serde_json::json;
use tempfile::tempdir;

use crate::binary::{Running, headsup, request, run_with, serve, text};

const COMMANDS: [&[&str]; 4] = [&["serve", "--stdio"], &["stats"], &["notices"], &["doctor"]];

/// Serving this store fails with these words, and so does looking into it; the file stays as it is.
fn refused(db: &Path, words: &[&str]) {
    let before = fs::read(db).ok();
    for arguments in COMMANDS {
        let ended = run_with([arguments, &["--db", text(db)]].concat());
        assert_eq!((ended.status, ended.stdout.as_str()), (1, ""), "{arguments:?}: {ended:?}");
        for word in words.iter().chain([&text(db)]) {
            assert!(ended.stderr.contains(word), "{arguments:?} lacks {word}: {}", ended.stderr);
        }
        assert_eq!(ended.stderr.lines().count(), 1, "{}", ended.stderr);
    }
    assert_eq!(fs::read(db).ok(), before);
}

fn made(db: &Path) -> Connection {
    serve(db, &[request(1, "pending", &json!({}))]);
    Connection::open(db).unwrap()
}

#[test]
fn a_missing_store_is_made_with_its_folders() {
    let folder = tempdir().unwrap();
    let db = folder.path().join("a/b/c/store.db");
    made(&db);
    assert!(db.is_file());
}

#[test]
fn a_file_that_is_not_sqlite_is_left_alone() {
    let folder = tempdir().unwrap();
    let db = folder.path().join("notes.txt");
    fs::write(&db, "what I wanted to remember\n".repeat(100)).unwrap();
    refused(&db, &["not a SQLite database", "store-corrupt"]);
}

#[test]
fn a_store_from_a_newer_headsup_is_left_alone() {
    let folder = tempdir().unwrap();
    let db = folder.path().join("store.db");
    made(&db).execute_batch("INSERT INTO headsup_migrations VALUES (9999, 'later', 0)").unwrap();
    refused(&db, &["newer", "store-too-new"]);
}

#[test]
fn a_foreign_table_of_our_name_is_left_alone() {
    let folder = tempdir().unwrap();
    let db = folder.path().join("gateway.db");
    let connection = Connection::open(&db).unwrap();
    connection.execute_batch("CREATE TABLE session_state_heads (mine TEXT)").unwrap();
    drop(connection);
    let ended = run_with(["serve", "--stdio", "--db", text(&db)]);
    assert_eq!(ended.status, 1);
    assert!(ended.stderr.contains("foreign-schema"), "{}", ended.stderr);
    assert!(ended.stderr.contains("session_state_heads"), "{}", ended.stderr);
    let tables: i64 = Connection::open(&db)
        .unwrap()
        .query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))
        .unwrap();
    assert_eq!(tables, 1);
}

#[test]
fn a_gateways_other_tables_stay_beside_ours() {
    let folder = tempdir().unwrap();
    let db = folder.path().join("gateway.db");
    let connection = Connection::open(&db).unwrap();
    connection
        .execute_batch("CREATE TABLE users (name TEXT); INSERT INTO users VALUES ('ana')")
        .unwrap();
    drop(connection);
    let name: String = made(&db).query_row("SELECT name FROM users", [], |row| row.get(0)).unwrap();
    assert_eq!(name, "ana");
    assert_eq!(run_with(["doctor", "--db", text(&db)]).status, 0);
}

#[test]
fn a_folder_in_place_of_a_file_is_refused() {
    let folder = tempdir().unwrap();
    for arguments in COMMANDS.into_iter().chain([&["restored"][..]]) {
        let ended = run_with([arguments, &["--db", text(folder.path())]].concat());
        assert_eq!(ended.status, 1, "{ended:?}");
        assert!(ended.stderr.contains(text(folder.path())), "{}", ended.stderr);
        assert!(ended.stderr.contains("it is a folder"), "{}", ended.stderr);
    }
}

#[test]
fn a_path_through_a_file_names_that_file() {
    let folder = tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    let db = file.join("store.db");
    for arguments in COMMANDS.into_iter().chain([&["restored"][..]]) {
        let ended = run_with([arguments, &["--db", text(&db)]].concat());
        assert_eq!(ended.status, 1, "{ended:?}");
        let words = format!("{} is a file and no folder", text(&file));
        assert!(ended.stderr.contains(&words), "{arguments:?}: {}", ended.stderr);
    }
}

#[cfg(unix)]
#[test]
fn a_store_behind_a_folder_that_may_not_be_entered_is_not_said_to_be_missing() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempdir().unwrap();
    let closed = folder.path().join("closed");
    let db = closed.join("store.db");
    drop(made(&db));
    let set_mode = |mode| fs::set_permissions(&closed, fs::Permissions::from_mode(mode)).unwrap();
    set_mode(0o000);
    for arguments in COMMANDS.into_iter().chain([&["restored"][..]]) {
        let mut command = headsup([arguments, &["--db", text(&db)]].concat());
        crate::binary::as_another_than_the_superuser(&mut command, folder.path());
        let ended = crate::binary::run(&mut command);
        assert_eq!((ended.status, ended.stdout.as_str()), (1, ""), "{arguments:?}");
        assert!(ended.stderr.contains("permissions"), "{arguments:?}: {}", ended.stderr);
        assert!(!ended.stderr.contains("no store"), "{arguments:?}: {}", ended.stderr);
    }
    set_mode(0o755);
}

#[test]
fn a_store_in_memory_is_none_to_look_at_or_to_mark() {
    for arguments in
        [&["stats"][..], &["doctor"], &["notices"], &["log", "agent:main:w"], &["restored"]]
    {
        let ended = run_with([arguments, &["--db", ":memory:"]].concat());
        assert_eq!((ended.status, ended.stdout.as_str()), (1, ""), "{arguments:?}");
        assert!(ended.stderr.contains("a store in memory"), "{}", ended.stderr);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_place_that_cannot_be_written_is_refused() {
    // Nobody can write here, not even the superuser.
    let db = Path::new("/proc/headsup/store.db");
    let ended = run_with(["serve", "--stdio", "--db", text(db)]);
    assert_eq!(ended.status, 1, "{ended:?}");
    assert!(ended.stderr.contains(text(db)), "{}", ended.stderr);
}

#[test]
fn a_store_that_another_process_holds_fails_the_recording_and_not_the_turn() {
    let folder = tempdir().unwrap();
    let db = folder.path().join("store.db");
    let config = folder.path().join("headsup.toml");
    fs::write(&config, "[store]\nbusy_timeout_ms = 50\n").unwrap();
    let other = made(&db);
    let arguments = ["serve", "--stdio", "--db", text(&db), "--config", text(&config)];
    let mut running = Running::start(&mut headsup(arguments));
    // Once it answers, it has done everything that it does at its start.
    running.send(&request(1, "pending", &json!({})));
    running.next();
    let signal = json!({"session": "agent:main:w", "kind": "created", "actor": {"type": "human"}});
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    running.send(&request(2, "record", &signal));
    let log = running.next();
    assert_eq!((&log["method"], &log["params"]["level"]), (&"log".into(), &"error".into()));
    assert_eq!(running.next()["result"], json!({"outcome": "failed", "reason": "store-busy"}));
    running.send(&request(3, "status", &json!({"session": "agent:main:w"})));
    assert_eq!(running.next()["result"], json!({"stateVersion": 0}));
    running.send(&request(4, "reset", &json!({"session": "agent:main:w"})));
    assert_eq!(running.next()["error"]["data"]["reason"], "store-busy");
    other.execute_batch("ROLLBACK").unwrap();
    running.send(&request(5, "record", &signal));
    assert_eq!(running.next()["result"], json!({"outcome": "recorded", "stateVersion": 1}));
}
