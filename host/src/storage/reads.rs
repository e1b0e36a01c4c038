//! The verbs that only read: `cursors`, `pairs`, `open-counts`, `heads`, `history`, and `get` of
//! the settings.

use rusqlite::{CachedStatement, Connection, OptionalExtension as _, Params, named_params};

use super::failure::Problem;
use super::rows::{
    CURSOR_COLUMNS, LARGEST, count, cursor, event, head, optional_cursor, optional_head, stored,
};
use super::statements::{
    CURSORS_OF_WATCHER, CURSORS_ON_TARGET, CURSORS_OPEN, CURSORS_OPEN_OF, HEADS,
    HISTORY_RESTORED_AT, HISTORY_ROWS, OPEN_COUNTS, PAIRS, SETTINGS_GET,
};
use crate::contract::{
    CursorQuery, CursorState, Head, LogPage, Pair, PairState, PendingCount, Session, Watched,
};

/// `storage.cursors`.
pub(super) fn cursors(
    connection: &Connection,
    query: &CursorQuery,
    after: Option<&Pair>,
    limit: u32,
) -> Result<Vec<Watched>, Problem> {
    match query {
        CursorQuery::OfWatcher(watcher) => {
            of_one_watcher(connection, CURSORS_OF_WATCHER, watcher, after, limit)
        }
        CursorQuery::OpenOf(watcher) => {
            of_one_watcher(connection, CURSORS_OPEN_OF, watcher, after, limit)
        }
        CursorQuery::OnTarget(target) => on_target(connection, target, after, limit),
        CursorQuery::Open => all_open(connection, after, limit),
    }
}

fn of_one_watcher(
    connection: &Connection,
    sql: &str,
    watcher: &str,
    after: Option<&Pair>,
    limit: u32,
) -> Result<Vec<Watched>, Problem> {
    // The list goes by watcher first: this watcher's cursors are all after an earlier watcher's
    // and all before a later one's.
    let (key, agent) = match after {
        Some(pair) if pair.watcher.as_str() > watcher => return Ok(Vec::new()),
        Some(pair) if pair.watcher == watcher => {
            (pair.target.key.as_str(), pair.target.agent.as_str())
        }
        _ => ("", ""),
    };
    watched(
        &mut connection.prepare_cached(sql)?,
        named_params! {
            ":watcher_key": watcher,
            ":after_target_key": key,
            ":after_target_agent_id": agent,
            ":limit": limit,
        },
    )
}

fn on_target(
    connection: &Connection,
    target: &Session,
    after: Option<&Pair>,
    limit: u32,
) -> Result<Vec<Watched>, Problem> {
    let mut found = Vec::new();
    // Where `after` names a target before this one, its watcher's cursor on this one comes first.
    if let Some(pair) = after.filter(|pair| limit > 0 && is_before(&pair.target, target)) {
        let PairState { cursor, head } = pair_state(connection, &pair.watcher, target)?;
        let live = cursor.filter(|cursor| cursor.state != CursorState::Unwatched);
        found.extend(live.map(|cursor| Watched { cursor, head }));
    }
    let rest = watched(
        &mut connection.prepare_cached(CURSORS_ON_TARGET)?,
        named_params! {
            ":target_key": target.key,
            ":target_agent_id": target.agent,
            ":after_watcher_key": after.map_or("", |pair| pair.watcher.as_str()),
            ":limit": limit - count(found.len()),
        },
    )?;
    found.extend(rest);
    Ok(found)
}

fn is_before(one: &Session, other: &Session) -> bool {
    (&one.key, &one.agent) < (&other.key, &other.agent)
}

fn all_open(
    connection: &Connection,
    after: Option<&Pair>,
    limit: u32,
) -> Result<Vec<Watched>, Problem> {
    let (watcher, key, agent) = after.map_or(("", "", ""), |pair| {
        (pair.watcher.as_str(), pair.target.key.as_str(), pair.target.agent.as_str())
    });
    watched(
        &mut connection.prepare_cached(CURSORS_OPEN)?,
        named_params! {
            ":after_watcher_key": watcher,
            ":after_target_key": key,
            ":after_target_agent_id": agent,
            ":limit": limit,
        },
    )
}

fn watched(
    statement: &mut CachedStatement<'_>,
    params: impl Params,
) -> Result<Vec<Watched>, Problem> {
    let mut rows = statement.query(params)?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(Watched { cursor: cursor(row)?, head: optional_head(row, CURSOR_COLUMNS)? });
    }
    Ok(found)
}

/// `storage.pairs`.
pub(super) fn pairs(connection: &Connection, pairs: &[Pair]) -> Result<Vec<PairState>, Problem> {
    pairs.iter().map(|pair| pair_state(connection, &pair.watcher, &pair.target)).collect()
}

fn pair_state(
    connection: &Connection,
    watcher: &str,
    target: &Session,
) -> Result<PairState, Problem> {
    let mut statement = connection.prepare_cached(PAIRS)?;
    let mut rows = statement.query(named_params! {
        ":watcher_key": watcher,
        ":target_key": target.key,
        ":target_agent_id": target.agent,
    })?;
    match rows.next()? {
        Some(row) => Ok(PairState {
            cursor: optional_cursor(row)?,
            head: optional_head(row, CURSOR_COLUMNS)?,
        }),
        None => Ok(PairState { cursor: None, head: None }),
    }
}

/// `storage.open-counts`.
pub(super) fn open_counts(connection: &Connection) -> Result<Vec<PendingCount>, Problem> {
    let mut statement = connection.prepare_cached(OPEN_COUNTS)?;
    let counts = statement
        .query_map([], |row| Ok(PendingCount { watcher: row.get(0)?, notices: row.get(1)? }))?
        .collect::<Result<_, _>>()?;
    Ok(counts)
}

/// `storage.heads`.
pub(super) fn heads(
    connection: &Connection,
    sessions: &[Session],
) -> Result<Vec<Option<Head>>, Problem> {
    sessions.iter().map(|session| session_head(connection, session)).collect()
}

fn session_head(connection: &Connection, session: &Session) -> Result<Option<Head>, Problem> {
    let mut statement = connection.prepare_cached(HEADS)?;
    let mut rows = statement
        .query(named_params! { ":session_key": session.key, ":agent_id": session.agent })?;
    rows.next()?.map(|row| head(row, 0)).transpose()
}

/// `storage.history`.
pub(super) fn history(
    connection: &Connection,
    session: &Session,
    after: u64,
    limit: u32,
) -> Result<LogPage, Problem> {
    let mut statement = connection.prepare_cached(HISTORY_ROWS)?;
    let mut found = statement.query(named_params! {
        ":session_key": session.key,
        ":agent_id": session.agent,
        ":after": stored(after),
        ":limit": limit,
    })?;
    let mut rows = Vec::new();
    while let Some(row) = found.next()? {
        rows.push(event(row)?);
    }
    Ok(LogPage {
        head: session_head(connection, session)?,
        restored_at: restored_at(connection)?,
        rows,
    })
}

fn restored_at(connection: &Connection) -> Result<u64, Problem> {
    let mut statement = connection.prepare_cached(HISTORY_RESTORED_AT)?;
    let value: Option<String> = statement.query_row([], |row| row.get(0)).optional()?;
    value.map_or(Ok(0), |text| {
        text.parse().ok().filter(|number| *number <= LARGEST).ok_or(Problem::Row {
            table: "headsup_settings",
            what: "a restored-at that is no sequence",
        })
    })
}

/// `settings.get`.
pub(super) fn settings(
    connection: &Connection,
    names: &[impl AsRef<str>],
) -> Result<Vec<Option<String>>, Problem> {
    let mut statement = connection.prepare_cached(SETTINGS_GET)?;
    let mut values = Vec::with_capacity(names.len());
    for name in names {
        let value = statement
            .query_row(named_params! { ":name": name.as_ref() }, |row| row.get(0))
            .optional()?;
        values.push(value);
    }
    Ok(values)
}
