//! Rows that break the protocol's order or types, written around the constraints: they are reported
//! as corruption, not served, and `doctor` names them.

use headsup::storage::{Store, StoreOptions};
use rusqlite::Connection;

use super::{Sound, builder};
use harness::{CHILD, MAIN, OPS};

fn write(path: &std::path::Path, sql: &str) {
    let file = Connection::open(path).unwrap();
    file.pragma_update(None, "ignore_check_constraints", true).unwrap();
    file.pragma_update(None, "writable_schema", true).unwrap();
    assert_eq!(file.execute(sql, []), Ok(1), "{sql}");
}

fn rules(path: &std::path::Path) -> Vec<&'static str> {
    let mut store = Store::inspect(&StoreOptions::new(path)).unwrap();
    store.begin_read().unwrap();
    let found = store.doctor().unwrap();
    store.rollback();
    found.iter().map(|violation| violation.rule).collect()
}

/// Breaks a row, asks, and wants this rule of `doctor`.
fn is_corrupt<T: std::fmt::Debug>(
    sql: &str,
    rule: &str,
    ask: impl Fn(&headsup::Awareness) -> Result<T, headsup::Error>,
) {
    let sound = Sound::new();
    let path = sound.copy("row", &sound.database, Some(&sound.log), None);
    write(&path, sql);
    let awareness = builder(&path).open().unwrap();
    assert_eq!(ask(&awareness).unwrap_err().reason(), "store-corrupt", "{sql}");
    assert!(rules(&path).contains(&rule), "{sql}: {:?}", rules(&path));
}

#[test]
fn a_cursor_out_of_order_is_corruption_for_whoever_takes_or_lists() {
    let here = format!("WHERE watcher_key = '{OPS}'");
    for change in ["last_seen = notified + 5", "last_seen = -1", "provenance = 'x'"] {
        let sql = format!("UPDATE session_watch_cursors SET {change} {here}");
        is_corrupt(&sql, "cursor-order", |awareness| awareness.take(OPS));
        is_corrupt(&sql, "cursor-order", |awareness| awareness.drain(OPS));
        is_corrupt(&sql, "cursor-order", |awareness| awareness.watches_of(OPS));
        is_corrupt(&sql, "cursor-order", |awareness| awareness.watchers_of(CHILD));
    }
}

#[test]
fn a_head_out_of_order_is_corruption_for_whoever_asks_for_versions_or_changes() {
    let here = format!("WHERE session_key = '{CHILD}'");
    for change in ["version = -1", "notifying_other = notifying_newest", "watermark = -1"] {
        let sql = format!("UPDATE session_state_heads SET {change} {here}");
        is_corrupt(&sql, "head-order", |awareness| awareness.versions([CHILD]));
        is_corrupt(&sql, "head-order", |awareness| awareness.changes_since(CHILD, 0, None));
        is_corrupt(&sql, "head-order", |awareness| awareness.drain(OPS));
    }
}

#[test]
fn an_event_that_the_protocol_does_not_know_is_corruption_for_whoever_catches_up() {
    let here = format!(
        "WHERE sequence = (SELECT max(sequence) FROM session_state_events WHERE session_key = '{CHILD}')"
    );
    for change in ["kind = 'x'", "actor_type = 'x'", "occurred_at = -1"] {
        let sql = format!("UPDATE session_state_events SET {change} {here}");
        is_corrupt(&sql, "event-words", |awareness| awareness.changes_since(CHILD, 0, None));
    }
}

#[test]
fn a_row_that_is_broken_costs_nobody_else_anything() {
    let sound = Sound::new();
    let path = sound.copy("row", &sound.database, Some(&sound.log), None);
    write(
        &path,
        &format!(
            "UPDATE session_watch_cursors SET last_seen = notified + 5 WHERE watcher_key = '{OPS}'"
        ),
    );
    let awareness = builder(&path).open().unwrap();
    assert_eq!(awareness.take(MAIN).unwrap().len(), 40);
    assert!(!awareness.changes_since(CHILD, 0, None).unwrap().events.is_empty());
}
