//! The verbs that record: `append` and `save`.

use std::collections::BTreeMap;

use rusqlite::{Connection, OptionalExtension as _};

use super::failure::Problem;
use super::rows::{LARGEST, cursor, optional_head, provenance_word, stored};
use super::statements::{
    APPEND_DUPLICATE, APPEND_INSERT, APPEND_NAMED, APPEND_SETTLED, APPEND_TARGET, SAVE_FIRST_HEAD,
    SAVE_HEAD, SAVE_MOVE_CURSOR, SAVE_PUT_CURSOR, bound,
};
use crate::contract::{
    AppendOutcome, AppendRequest, Appended, Changes, Cursor, CursorState, Entry, Head, HeadChange,
    Session, StorageFault,
};

/// Asked only once a recording failed, so that it is not among the statements that are kept.
const COUNTER: &str = include_str!("../../sql/append/counter.sql");

/// `storage.append`.
pub(super) fn append(
    connection: &Connection,
    request: &AppendRequest,
) -> Result<AppendOutcome, Problem> {
    let entry = &request.entry;
    if let Some(sequence) = duplicate_of(connection, entry)? {
        return Ok(AppendOutcome::Duplicate(sequence));
    }
    let target = target(connection, request)?;
    if target.is_unwatched {
        return Ok(AppendOutcome::Unwatched);
    }
    Ok(AppendOutcome::Appended(Appended {
        sequence: insert(connection, entry)?,
        head: target.head,
        cursors: cursors_asked_for(connection, request, target.has_settled)?,
    }))
}

/// The session that a row is appended to, before it is.
struct Target {
    /// Nobody watches it, although somebody has to.
    is_unwatched: bool,
    /// There are settled cursors on it, and they are asked for.
    has_settled: bool,
    head: Option<Head>,
}

fn target(connection: &Connection, request: &AppendRequest) -> Result<Target, Problem> {
    let session = &request.entry.session;
    let mut statement = connection.prepare_cached(APPEND_TARGET)?;
    let mut rows = statement.query(bound!(
        APPEND_TARGET,
        ":only_if_watched": request.only_if_watched,
        ":session_key": &session.key,
        ":agent_id": &session.agent,
        ":settled": request.settled,
    ))?;
    let Some(row) = rows.next()? else {
        return Ok(Target {
            is_unwatched: request.only_if_watched,
            has_settled: false,
            head: None,
        });
    };
    Ok(Target {
        is_unwatched: row.get::<_, Option<bool>>(0)? == Some(false),
        has_settled: row.get::<_, Option<bool>>(1)? == Some(true),
        head: optional_head(row, 2)?,
    })
}

fn duplicate_of(connection: &Connection, entry: &Entry) -> Result<Option<u64>, Problem> {
    let Some(dedupe_key) = &entry.dedupe_key else { return Ok(None) };
    let sequence: Option<i64> = connection
        .prepare_cached(APPEND_DUPLICATE)?
        .query_row(
            bound!(
                APPEND_DUPLICATE,
                ":session_key": &entry.session.key,
                ":agent_id": &entry.session.agent,
                ":dedupe_key": dedupe_key,
            ),
            |row| row.get(0),
        )
        .optional()?;
    Ok(sequence.map(i64::unsigned_abs))
}

fn insert(connection: &Connection, entry: &Entry) -> Result<u64, Problem> {
    let inserted = connection.prepare_cached(APPEND_INSERT)?.execute(bound!(
        APPEND_INSERT,
        ":dedupe_key": &entry.dedupe_key,
        ":session_key": &entry.session.key,
        ":agent_id": &entry.session.agent,
        ":session_id": &entry.session_id,
        ":kind": &entry.kind,
        ":actor_type": &entry.actor_type,
        ":actor_id": &entry.actor_id,
        ":run_id": &entry.run_id,
        ":occurred_at": stored(entry.occurred_at),
        ":summary": &entry.summary,
        ":payload_json": &entry.payload,
    ));
    match inserted {
        // Positive: the table's own range says so.
        Ok(_) => Ok(connection.last_insert_rowid().unsigned_abs()),
        Err(_) if series_is_over(connection).unwrap_or(false) => {
            let message = "its series of sequences has come to its end, 2^53 - 1; bring back a \
                           backup, or start a new store";
            Err(Problem::known(StorageFault::Failed, message))
        }
        Err(error) => Err(error.into()),
    }
}

/// Whether no number is left to give: SQLite would speak of a full disk.
fn series_is_over(connection: &Connection) -> Result<bool, Problem> {
    let given: Option<i64> = connection.query_row(COUNTER, [], |row| row.get(0)).optional()?;
    Ok(given.is_some_and(|given| given.unsigned_abs() >= LARGEST))
}

/// Settled and named cursors, each once: a named watcher may be a settled one.
fn cursors_asked_for(
    connection: &Connection,
    request: &AppendRequest,
    has_settled: bool,
) -> Result<Vec<Cursor>, Problem> {
    let session = &request.entry.session;
    let mut found = if has_settled { settled(connection, session)? } else { Vec::new() };
    if request.named.is_empty() {
        return Ok(found);
    }
    let mut by_watcher: BTreeMap<String, Cursor> =
        found.drain(..).map(|cursor| (cursor.pair.watcher.clone(), cursor)).collect();
    let mut statement = connection.prepare_cached(APPEND_NAMED)?;
    for watcher in &request.named {
        if by_watcher.contains_key(watcher) {
            continue;
        }
        let mut rows = statement.query(bound!(
            APPEND_NAMED,
            ":watcher_key": watcher,
            ":session_key": &session.key,
            ":agent_id": &session.agent,
        ))?;
        if let Some(row) = rows.next()? {
            by_watcher.insert(watcher.clone(), cursor(row)?);
        }
    }
    Ok(by_watcher.into_values().collect())
}

fn settled(connection: &Connection, session: &Session) -> Result<Vec<Cursor>, Problem> {
    let mut statement = connection.prepare_cached(APPEND_SETTLED)?;
    let mut rows = statement.query(bound!(
        APPEND_SETTLED,
        ":session_key": &session.key,
        ":agent_id": &session.agent,
    ))?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(cursor(row)?);
    }
    Ok(found)
}

/// `storage.save`.
pub(super) fn save(connection: &Connection, changes: &Changes) -> Result<(), Problem> {
    for change in &changes.heads {
        save_head(connection, change)?;
    }
    for cursor in &changes.cursors {
        if !move_live_cursor(connection, cursor)? {
            put_cursor(connection, cursor)?;
        }
    }
    Ok(())
}

fn save_head(connection: &Connection, change: &HeadChange) -> Result<(), Problem> {
    let HeadChange { session, head } = change;
    let notifying = head.notifying.as_ref();
    macro_rules! execute {
        ($statement:ident) => {
            connection.prepare_cached($statement)?.execute(bound!(
                $statement,
                ":version": stored(head.version),
                ":watermark": stored(head.watermark),
                ":notifying_newest": notifying.map(|n| stored(n.newest)),
                ":notifying_actor": notifying.and_then(|n| n.actor.as_deref()),
                ":notifying_other": notifying.map(|n| stored(n.other)),
                ":moved_at": stored(head.moved_at),
                ":session_key": &session.key,
                ":agent_id": &session.agent,
            ))?
        };
    }
    if execute!(SAVE_HEAD) == 0 {
        execute!(SAVE_FIRST_HEAD);
    }
    Ok(())
}

/// Whether there was a live cursor, which is now as given.
fn move_live_cursor(connection: &Connection, cursor: &Cursor) -> Result<bool, Problem> {
    let CursorState::Live(positions) = &cursor.state else { return Ok(false) };
    let moved = connection.prepare_cached(SAVE_MOVE_CURSOR)?.execute(bound!(
        SAVE_MOVE_CURSOR,
        ":provenance": provenance_word(positions.provenance),
        ":last_seen": stored(positions.last_seen),
        ":notified": stored(positions.notified),
        ":moved_at": stored(cursor.moved_at),
        ":watcher_key": &cursor.pair.watcher,
        ":target_key": &cursor.pair.target.key,
        ":target_agent_id": &cursor.pair.target.agent,
    ))?;
    Ok(moved > 0)
}

fn put_cursor(connection: &Connection, cursor: &Cursor) -> Result<(), Problem> {
    let (state, positions) = match &cursor.state {
        CursorState::Live(positions) => ("live", Some(positions)),
        CursorState::Unwatched => ("unwatched", None),
    };
    connection.prepare_cached(SAVE_PUT_CURSOR)?.execute(bound!(
        SAVE_PUT_CURSOR,
        ":watcher_key": &cursor.pair.watcher,
        ":target_key": &cursor.pair.target.key,
        ":target_agent_id": &cursor.pair.target.agent,
        ":state": state,
        ":provenance": positions.map(|p| provenance_word(p.provenance)),
        ":last_seen": positions.map(|p| stored(p.last_seen)),
        ":notified": positions.map(|p| stored(p.notified)),
        ":moved_at": stored(cursor.moved_at),
    ))?;
    Ok(())
}
