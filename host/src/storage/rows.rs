//! Rows into the contract's records, in the column order that the SQL files state. A number out of
//! range or a word that is none of ours means that somebody else wrote the row.

use rusqlite::Row as SqlRow;

use super::failure::Problem;
use crate::contract::{
    Cursor, CursorState, Entry, Head, Notifying, Pair, Positions, Provenance, Row, Session,
};

/// The largest number that every language holds exactly.
pub(super) const LARGEST: u64 = (1 << 53) - 1;

const EVENTS: &str = "session_state_events";
const HEADS: &str = "session_state_heads";
const CURSORS: &str = "session_watch_cursors";

/// Columns of a cursor in a row.
pub(super) const CURSOR_COLUMNS: usize = 8;

/// A number as SQLite keeps it. Those that cross the contract fit; a larger one is cut to a value
/// that every column's range refuses.
pub(super) fn stored(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// A count of rows as the contract says it.
pub(super) fn count(rows: usize) -> u32 {
    u32::try_from(rows).unwrap_or(u32::MAX)
}

/// A number that every language holds exactly.
pub(super) fn number(row: &SqlRow<'_>, column: usize, table: &'static str) -> Result<u64, Problem> {
    in_range(row.get(column)?, table)
}

/// The same of a column that may be NULL.
pub(super) fn optional_number(
    row: &SqlRow<'_>,
    column: usize,
    table: &'static str,
) -> Result<Option<u64>, Problem> {
    row.get::<_, Option<i64>>(column)?.map(|value| in_range(value, table)).transpose()
}

fn in_range(value: i64, table: &'static str) -> Result<u64, Problem> {
    u64::try_from(value)
        .ok()
        .filter(|number| *number <= LARGEST)
        .ok_or(Problem::Row { table, what: "a number out of range" })
}

/// A head whose first column is `first`.
pub(super) fn head(row: &SqlRow<'_>, first: usize) -> Result<Head, Problem> {
    let version = number(row, first, HEADS)?;
    let notifying = match row.get::<_, Option<i64>>(first + 2)? {
        None => None,
        Some(newest) => Some(Notifying {
            newest: in_range(newest, HEADS)?,
            actor: row.get(first + 3)?,
            other: number(row, first + 4, HEADS)?,
        }),
    };
    if notifying.as_ref().is_some_and(|n| n.other >= n.newest || n.newest > version) {
        return Err(Problem::Row { table: HEADS, what: "notifying events out of order" });
    }
    Ok(Head {
        version,
        watermark: number(row, first + 1, HEADS)?,
        notifying,
        moved_at: number(row, first + 5, HEADS)?,
    })
}

/// A head that an outer join may have left out.
pub(super) fn optional_head(row: &SqlRow<'_>, first: usize) -> Result<Option<Head>, Problem> {
    match row.get::<_, Option<i64>>(first)? {
        None => Ok(None),
        Some(_) => head(row, first).map(Some),
    }
}

/// A cursor whose first column is the row's first.
pub(super) fn cursor(row: &SqlRow<'_>) -> Result<Cursor, Problem> {
    let state = row.get_ref(3)?.as_str().map_err(rusqlite::Error::from)?;
    let state = match state {
        "live" => CursorState::Live(positions(row)?),
        "unwatched" => CursorState::Unwatched,
        _ => return Err(Problem::Row { table: CURSORS, what: "a state of another name" }),
    };
    Ok(Cursor {
        pair: Pair {
            watcher: row.get(0)?,
            target: Session { key: row.get(1)?, agent: row.get(2)? },
        },
        state,
        moved_at: number(row, 7, CURSORS)?,
    })
}

/// A cursor that an outer join may have left out.
pub(super) fn optional_cursor(row: &SqlRow<'_>) -> Result<Option<Cursor>, Problem> {
    match row.get_ref(0)? {
        rusqlite::types::ValueRef::Null => Ok(None),
        _ => cursor(row).map(Some),
    }
}

fn positions(row: &SqlRow<'_>) -> Result<Positions, Problem> {
    let provenance = match row.get_ref(4)?.as_str().map_err(rusqlite::Error::from)? {
        "spawn" => Provenance::Spawn,
        "explicit" => Provenance::Explicit,
        "ambient" => Provenance::Ambient,
        _ => return Err(Problem::Row { table: CURSORS, what: "a provenance of another name" }),
    };
    let last_seen = number(row, 5, CURSORS)?;
    let notified = number(row, 6, CURSORS)?;
    if last_seen > notified {
        return Err(Problem::Row { table: CURSORS, what: "last_seen after notified" });
    }
    Ok(Positions { last_seen, notified, provenance })
}

/// The word that a provenance is stored as.
pub(super) fn provenance_word(provenance: Provenance) -> &'static str {
    match provenance {
        Provenance::Spawn => "spawn",
        Provenance::Explicit => "explicit",
        Provenance::Ambient => "ambient",
    }
}

/// A row of the log.
pub(super) fn event(row: &SqlRow<'_>) -> Result<Row, Problem> {
    Ok(Row {
        sequence: number(row, 0, EVENTS)?,
        entry: Entry {
            session: Session { key: row.get(1)?, agent: row.get(2)? },
            kind: row.get(3)?,
            actor_type: row.get(4)?,
            actor_id: row.get(5)?,
            occurred_at: number(row, 6, EVENTS)?,
            summary: row.get(7)?,
            session_id: row.get(8)?,
            run_id: row.get(9)?,
            payload: row.get(10)?,
            dedupe_key: row.get(11)?,
        },
    })
}
