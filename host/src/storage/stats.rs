//! What a store holds, in numbers.

use std::ffi::OsString;

use rusqlite::{Connection, Row as SqlRow};
use serde::Serialize;

use super::Store;
use super::failure::Problem;
use super::rows::LARGEST;
use crate::contract::StorageFailure;

const COUNTS: &str = include_str!("../../sql/stats/counts.sql");

/// What a store holds. Times are in ms since the Unix epoch, sizes in bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Stats {
    /// Kept rows of the signal log.
    pub events: u64,
    /// Sessions of which something was recorded and that were not deleted since.
    pub sessions: u64,
    /// Deleted sessions whose watermark is still kept.
    pub tombstones: u64,
    /// Live cursors of provenance `spawn`.
    pub spawn_cursors: u64,
    /// Live cursors of provenance `explicit`.
    pub explicit_cursors: u64,
    /// Live cursors of provenance `ambient`.
    pub ambient_cursors: u64,
    /// Marks that an unwatch left.
    pub marks: u64,
    /// Cursors with an open notice.
    pub open_notices: u64,
    /// Adopted sessions.
    pub upstream_links: u64,
    /// When the oldest kept event occurred; absent without any.
    pub oldest_event_at: Option<u64>,
    /// When the newest kept event occurred; absent without any.
    pub newest_event_at: Option<u64>,
    /// The last number that was given.
    pub last_sequence: u64,
    /// Where the series stood when the store was last marked as restored; 0 if it never was.
    pub restored_at: u64,
    /// The schema files that ran.
    pub schema_version: u64,
    /// The file, without what is beside it.
    pub file_bytes: u64,
    /// Commits beside the file that are not in it yet; 0 without any.
    pub wal_bytes: u64,
    /// The version of SQLite that reads the store.
    pub sqlite_version: &'static str,
}

impl Store {
    /// What the store holds, from one snapshot. Inside a transaction, like the verbs.
    pub fn stats(&mut self) -> Result<Stats, StorageFailure> {
        self.reading(|connection| {
            let pages: u64 = size(connection, "page_count")?;
            let page_bytes: u64 = size(connection, "page_size")?;
            let mut statement = connection.prepare(COUNTS)?;
            let mut rows = statement.query([])?;
            let row = rows.next()?.ok_or(rusqlite::Error::QueryReturnedNoRows)?;
            counted(row, pages * page_bytes, wal_bytes(connection))
        })
    }
}

fn counted(row: &SqlRow<'_>, file_bytes: u64, wal_bytes: u64) -> Result<Stats, Problem> {
    let number = |column: usize| row.get::<_, i64>(column).map_err(Problem::from).and_then(checked);
    let time = |column: usize| row.get::<_, Option<i64>>(column)?.map(checked).transpose();
    Ok(Stats {
        events: number(0)?,
        sessions: number(1)?,
        tombstones: number(2)?,
        spawn_cursors: number(3)?,
        explicit_cursors: number(4)?,
        ambient_cursors: number(5)?,
        marks: number(6)?,
        open_notices: number(7)?,
        upstream_links: number(8)?,
        oldest_event_at: time(9)?,
        newest_event_at: time(10)?,
        last_sequence: number(11)?,
        restored_at: number(12)?,
        schema_version: number(13)?,
        file_bytes,
        wal_bytes,
        sqlite_version: rusqlite::version(),
    })
}

fn checked(value: i64) -> Result<u64, Problem> {
    u64::try_from(value)
        .ok()
        .filter(|number| *number <= LARGEST)
        .ok_or(Problem::Row { table: "the store", what: "a number out of range" })
}

fn size(connection: &Connection, pragma: &str) -> Result<u64, Problem> {
    let value: i64 = connection.pragma_query_value(None, pragma, |row| row.get(0))?;
    checked(value)
}

fn wal_bytes(connection: &Connection) -> u64 {
    let Some(path) = connection.path() else { return 0 };
    let mut wal = OsString::from(path);
    wal.push("-wal");
    std::fs::metadata(wal).map_or(0, |file| file.len())
}
