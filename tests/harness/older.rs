//! Stores as an older headsup made them.

use std::fs;
use std::path::Path;

use rusqlite::Connection;

const MIGRATIONS: &str = include_str!("../../host/sql/schema/migrations.sql");
const FIRST: &str = include_str!("../../host/sql/schema/0001_signal_log.sql");

/// What a store holds beside what it keeps of itself.
const TABLES: [&str; 6] = [
    "session_state_events",
    "session_state_heads",
    "session_watch_cursors",
    "session_upstream_links",
    "headsup_own_turns",
    "headsup_settings",
];

/// Puts a store that nobody has open back to the first schema, with everything that it holds.
pub fn as_the_first_schema_made_it(db: &Path) {
    let older = db.with_extension("older");
    let connection = Connection::open(&older).unwrap();
    connection.pragma_update(None, "journal_mode", "WAL").unwrap();
    connection.execute_batch(MIGRATIONS).unwrap();
    connection.execute_batch(FIRST).unwrap();
    let ran = "INSERT INTO headsup_migrations VALUES (1, '0001_signal_log', 0)";
    connection.execute_batch(ran).unwrap();
    connection.execute("ATTACH ?1 AS newer", [db.to_str().unwrap()]).unwrap();
    for table in TABLES {
        let copy = format!("INSERT INTO main.{table} SELECT * FROM newer.{table}");
        connection.execute_batch(&copy).unwrap();
    }
    let series = "UPDATE main.sqlite_sequence SET seq = newer.seq
        FROM newer.sqlite_sequence AS newer WHERE newer.name = main.sqlite_sequence.name";
    connection.execute_batch(series).unwrap();
    connection.close().unwrap();
    fs::rename(older, db).unwrap();
}
