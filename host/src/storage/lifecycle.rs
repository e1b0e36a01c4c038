//! The verbs that remove and mark: `reset`, `delete`, `prune`, `restored`, and `set` of the
//! settings.

use rusqlite::{Connection, OptionalExtension as _, named_params};

use super::failure::Problem;
use super::rows::{LARGEST, count, stored};
use super::statements::{
    DELETE_CURSORS_IT_HOLDS, DELETE_CURSORS_ON_IT, DELETE_EVENTS, DELETE_LINK, DELETE_TOMBSTONE,
    DELETE_TURNS, PRUNE_BATCH, PRUNE_CURSORS, PRUNE_EVENTS, PRUNE_MORE, PRUNE_SURPLUS,
    PRUNE_TOMBSTONES, PRUNE_TURNS, PRUNE_WATERMARKS, RESET, RESTORED_COUNTER,
    RESTORED_FIRST_COUNTER, RESTORED_HEADS, RESTORED_MARK, RESTORED_POSITION, SETTINGS_SET,
};
use crate::contract::{PruneRequest, Pruning, Removal, Session, Setting, StorageFault};

/// `storage.reset`.
pub(super) fn reset(connection: &Connection, watcher: &str) -> Result<u32, Problem> {
    let gone =
        connection.prepare_cached(RESET)?.execute(named_params! { ":watcher_key": watcher })?;
    Ok(count(gone))
}

/// `storage.delete`.
pub(super) fn delete(
    connection: &Connection,
    session: &Session,
    now: u64,
) -> Result<Removal, Problem> {
    let (key, agent) = (&session.key, &session.agent);
    let of_session = named_params! { ":session_key": key, ":agent_id": agent };
    let events = connection.prepare_cached(DELETE_EVENTS)?.execute(of_session)?;
    let cursors = delete_cursors(connection, session, "live")?;
    delete_cursors(connection, session, "unwatched")?;
    connection.prepare_cached(DELETE_LINK)?.execute(of_session)?;
    connection.prepare_cached(DELETE_TURNS)?.execute(of_session)?;
    connection.prepare_cached(DELETE_TOMBSTONE)?.execute(named_params! {
        ":session_key": key,
        ":agent_id": agent,
        ":now": stored(now),
    })?;
    Ok(Removal { cursors: count(cursors), events: count(events) })
}

fn delete_cursors(
    connection: &Connection,
    session: &Session,
    state: &str,
) -> Result<usize, Problem> {
    let on_it = connection.prepare_cached(DELETE_CURSORS_ON_IT)?.execute(named_params! {
        ":session_key": session.key,
        ":agent_id": session.agent,
        ":state": state,
    })?;
    let it_holds = connection
        .prepare_cached(DELETE_CURSORS_IT_HOLDS)?
        .execute(named_params! { ":session_key": session.key, ":state": state })?;
    Ok(on_it + it_holds)
}

/// `storage.prune`.
pub(super) fn prune(connection: &Connection, request: &PruneRequest) -> Result<Pruning, Problem> {
    let (events, more) = prune_log(connection, request)?;
    let mut cursors = 0;
    if let Some(before) = request.moved_before.map(stored) {
        // Cursors first: a tombstone's last move still counts for the cursors on it.
        let cutoff = named_params! { ":moved_before": before };
        cursors = connection.prepare_cached(PRUNE_CURSORS)?.execute(cutoff)?;
        connection.prepare_cached(PRUNE_TOMBSTONES)?.execute(cutoff)?;
        connection.prepare_cached(PRUNE_TURNS)?.execute(cutoff)?;
    }
    Ok(Pruning { events: count(events), cursors: count(cursors), more })
}

/// One batch of the log: how many rows went, and whether more are due.
fn prune_log(connection: &Connection, request: &PruneRequest) -> Result<(usize, bool), Problem> {
    let occurred_before = request.occurred_before.map(stored);
    let surplus: Option<i64> = connection
        .prepare_cached(PRUNE_SURPLUS)?
        .query_row(named_params! { ":keep_rows": request.keep_rows }, |row| row.get(0))
        .optional()?;
    let (last, due): (Option<i64>, u32) = connection.prepare_cached(PRUNE_BATCH)?.query_row(
        named_params! {
            ":occurred_before": occurred_before,
            ":surplus": surplus,
            ":at_most": request.at_most,
        },
        |row| Ok((row.get(0)?, row.get(1)?)),
    )?;
    let batch = named_params! {
        ":last": last.unwrap_or(0),
        ":occurred_before": occurred_before,
        ":surplus": surplus,
    };
    let mut gone = 0;
    if last.is_some() {
        connection.prepare_cached(PRUNE_WATERMARKS)?.execute(batch)?;
        gone = connection.prepare_cached(PRUNE_EVENTS)?.execute(batch)?;
    }
    // A batch that was not cut has no rest.
    let more = due == request.at_most && connection.prepare_cached(PRUNE_MORE)?.exists(batch)?;
    Ok((gone, more))
}

/// `storage.restored`.
pub(super) fn restored(connection: &Connection, by: u64) -> Result<u64, Problem> {
    let highest: i64 =
        connection.prepare_cached(RESTORED_POSITION)?.query_row([], |row| row.get(0))?;
    let position =
        highest.unsigned_abs().checked_add(by).filter(|position| *position <= LARGEST).ok_or_else(
            || Problem::known(StorageFault::Failed, "its series of sequences would pass 2^53 - 1"),
        )?;
    let to = named_params! { ":position": stored(position) };
    for sql in [RESTORED_COUNTER, RESTORED_FIRST_COUNTER, RESTORED_HEADS, RESTORED_MARK] {
        connection.prepare_cached(sql)?.execute(to)?;
    }
    Ok(position)
}

/// `settings.set`.
pub(super) fn set(connection: &Connection, settings: &[Setting]) -> Result<(), Problem> {
    let mut statement = connection.prepare_cached(SETTINGS_SET)?;
    for setting in settings {
        statement.execute(named_params! { ":name": setting.name, ":value": setting.value })?;
    }
    Ok(())
}
