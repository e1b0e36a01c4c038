//! `doctor`: each violation has a name, and damage is an exit status.

use std::fs;
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use serde_json::{Value, json};
use tempfile::{TempDir, tempdir};

use crate::binary::{request, run_with, serve, text};

fn store() -> (TempDir, PathBuf) {
    let folder = tempdir().unwrap();
    let db = folder.path().join("store.db");
    let watch = json!({"watcher": "agent:main:main", "target": "agent:main:w"});
    let signal = json!({
        "session": "agent:main:w", "kind": "goal_changed", "change": "created",
        "actor": {"type": "human"},
    });
    serve(&db, &[request(1, "watch", &watch), request(2, "record", &signal)]);
    (folder, db)
}

/// Writes around the constraints, as a careless hand would.
fn damage(db: &Path, sql: &str) {
    let connection = Connection::open(db).unwrap();
    connection.pragma_update(None, "ignore_check_constraints", true).unwrap();
    connection.execute_batch(sql).unwrap();
}

fn violated(db: &Path) -> Vec<Value> {
    let ended = run_with(["doctor", "--json", "--db", text(db)]);
    assert_eq!(ended.status, 1, "{ended:?}");
    let report: Value = serde_json::from_str(&ended.stdout).unwrap();
    report["violations"].as_array().unwrap().clone()
}

#[test]
fn a_sound_store_is_exit_status_0() {
    let (_folder, db) = store();
    let ended = run_with(["doctor", "--db", text(&db)]);
    assert_eq!((ended.status, ended.stdout), (0, format!("{} is sound\n", text(&db))));
}

#[test]
fn a_cursor_out_of_order_is_named_with_its_watcher_and_target() {
    let (_folder, db) = store();
    damage(&db, "UPDATE session_watch_cursors SET last_seen = 9, notified = 8");
    let violations = violated(&db);
    let found = violations.iter().find(|one| one["rule"] == "cursor-order").unwrap();
    assert_eq!(found["watcher"], "agent:main:main");
    assert_eq!(found["session"], "agent:main:w");
    let ended = run_with(["doctor", "--db", text(&db)]);
    assert!(ended.stdout.contains("cursor-order: the cursor of"), "{}", ended.stdout);
    assert!(ended.stdout.lines().last().unwrap().contains("violation"), "{}", ended.stdout);
}

#[test]
fn a_head_behind_its_log_is_named() {
    let (_folder, db) = store();
    damage(
        &db,
        "UPDATE session_state_heads SET version = 0, notifying_newest = NULL, notifying_other = NULL",
    );
    assert!(violated(&db).iter().any(|one| one["rule"] == "head-behind-log"));
}

#[test]
fn damaged_pages_are_exit_status_1_and_stay_as_they_are() {
    let (_folder, db) = store();
    let mut bytes = fs::read(&db).unwrap();
    let half = bytes.len() / 2;
    bytes[half..].fill(0xa5);
    fs::write(&db, &bytes).unwrap();
    let ended = run_with(["doctor", "--db", text(&db)]);
    assert_eq!(ended.status, 1, "{ended:?}");
    let said = format!("{}{}", ended.stdout, ended.stderr);
    assert!(said.contains("sqlite-integrity") || said.contains("damaged"), "{said}");
    assert!(!said.contains("headsup doctor"), "{said}");
    assert_eq!(fs::read(&db).unwrap(), bytes);
}

#[test]
fn a_file_that_is_damaged_from_its_start_is_not_sent_to_doctor_again() {
    let (_folder, db) = store();
    let mut bytes = fs::read(&db).unwrap();
    bytes[100..4_000].fill(0xa5);
    fs::write(&db, &bytes).unwrap();
    let ended = run_with(["doctor", "--db", text(&db)]);
    assert_eq!(ended.status, 1, "{ended:?}");
    assert!(ended.stderr.contains("damaged") && ended.stderr.contains("backup"), "{ended:?}");
    assert!(!ended.stderr.contains("headsup doctor"), "{}", ended.stderr);
}

#[test]
fn a_setting_that_cannot_be_read_is_named_and_stops_no_command_that_does_not_need_it() {
    let (_folder, db) = store();
    let settings = [
        ("core", "retention.history-rows", "5e4"),
        ("core", "retention.history-days", "x"),
        ("core", "retention.pruned-at", "x"),
        ("core", "notice.template", "no call"),
    ];
    for (owner, name, value) in settings {
        let set = format!(
            "DELETE FROM headsup_settings;
             INSERT INTO headsup_settings VALUES ('{owner}', '{name}', '{value}')"
        );
        damage(&db, &set);
        let violations = violated(&db);
        let found = violations.iter().find(|one| one["rule"] == "setting-values").unwrap();
        assert!(found["problem"].as_str().unwrap().contains(name), "{found}");
        for arguments in [&["serve", "--stdio"][..], &["notices"], &["log", "agent:main:w"]] {
            let ended = run_with([arguments, &["--db", text(&db)]].concat());
            assert_eq!(ended.status, 0, "{name}, {arguments:?}: {ended:?}");
        }
    }
    damage(&db, "INSERT OR REPLACE INTO headsup_settings VALUES ('host', 'restored-at', 'x')");
    assert!(violated(&db).iter().any(|one| one["problem"].to_string().contains("restored-at")));
    assert_eq!(run_with(["restored", "--db", text(&db)]).status, 0);
    assert!(violated(&db).iter().all(|one| !one["problem"].to_string().contains("restored-at")));
}
