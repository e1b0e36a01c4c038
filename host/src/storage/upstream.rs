//! The verbs for sources of adopted sessions: `upstream-of`, `save-upstream` and `claim`.

use rusqlite::{Connection, Row as SqlRow, named_params};

use super::failure::Problem;
use super::rows::{number, optional_number, stored};
use super::statements::{
    CLAIM_DUE, CLAIM_TAKE, DELETE_LINK, DELETE_TURNS, SAVE_UPSTREAM_LINK, SAVE_UPSTREAM_TURNS,
    UPSTREAM_OF,
};
use crate::contract::{ClaimRequest, Link, Session, Source, Upstream};

const LINKS: &str = "session_upstream_links";
const TURNS: &str = "headsup_own_turns";

/// `storage.upstream-of`.
pub(super) fn upstream_of(connection: &Connection, session: &Session) -> Result<Upstream, Problem> {
    let of_session = named_params! { ":session_key": session.key, ":agent_id": session.agent };
    connection.prepare_cached(UPSTREAM_OF)?.query_row(of_session, |row| Ok(upstream(row)))?
}

/// `storage.save-upstream`.
pub(super) fn save(connection: &Connection, upstream: &Upstream, now: u64) -> Result<(), Problem> {
    let session = &upstream.session;
    let of_session = named_params! { ":session_key": session.key, ":agent_id": session.agent };
    match &upstream.link {
        Some(link) => save_link(connection, session, link)?,
        None => {
            connection.prepare_cached(DELETE_LINK)?.execute(of_session)?;
        }
    }
    if upstream.sent.is_empty() && upstream.running_until <= now {
        connection.prepare_cached(DELETE_TURNS)?.execute(of_session)?;
        return Ok(());
    }
    connection.prepare_cached(SAVE_UPSTREAM_TURNS)?.execute(named_params! {
        ":session_key": session.key,
        ":agent_id": session.agent,
        ":sent": upstream.sent,
        ":running_until": stored(upstream.running_until),
        ":now": stored(now),
    })?;
    Ok(())
}

fn save_link(connection: &Connection, session: &Session, link: &Link) -> Result<(), Problem> {
    connection.prepare_cached(SAVE_UPSTREAM_LINK)?.execute(named_params! {
        ":session_key": session.key,
        ":agent_id": session.agent,
        ":source_kind": link.source.kind,
        ":source_place": link.source.place,
        ":source_thread": link.source.thread,
        ":catalog": link.catalog,
        ":generation": stored(link.generation),
        ":revision": stored(link.revision),
        ":misses": link.misses,
        ":claimed": link.claimed,
        ":state_json": link.state,
    })?;
    Ok(())
}

/// `storage.claim`.
pub(super) fn claim(
    connection: &Connection,
    request: &ClaimRequest,
) -> Result<Vec<Upstream>, Problem> {
    let due = due(connection, request)?;
    let mut take = connection.prepare_cached(CLAIM_TAKE)?;
    for Upstream { session, .. } in &due {
        take.execute(named_params! {
            ":session_key": session.key,
            ":agent_id": session.agent,
            ":now": stored(request.now),
            ":until": stored(request.until),
        })?;
    }
    Ok(due)
}

fn due(connection: &Connection, request: &ClaimRequest) -> Result<Vec<Upstream>, Problem> {
    let mut statement = connection.prepare_cached(CLAIM_DUE)?;
    let mut rows = statement.query(named_params! {
        ":kinds": serde_json::Value::from(request.kinds.as_slice()).to_string(),
        ":now": stored(request.now),
        ":until": stored(request.until),
        ":running_at_most": stored(request.running_at_most),
        ":claimed_too": request.claimed_too,
    })?;
    let mut due = Vec::new();
    while let Some(row) = rows.next()? {
        due.push(upstream(row)?);
    }
    Ok(due)
}

fn upstream(row: &SqlRow<'_>) -> Result<Upstream, Problem> {
    Ok(Upstream {
        session: Session { key: row.get(0)?, agent: row.get(1)? },
        watched: row.get(2)?,
        link: link(row)?,
        sent: row.get::<_, Option<String>>(11)?.unwrap_or_default(),
        running_until: optional_number(row, 12, TURNS)?.unwrap_or_default(),
    })
}

fn link(row: &SqlRow<'_>) -> Result<Option<Link>, Problem> {
    let Some(kind) = row.get(3)? else { return Ok(None) };
    Ok(Some(Link {
        source: Source { kind, place: row.get(4)?, thread: row.get(5)? },
        catalog: row.get(6)?,
        generation: number(row, 7, LINKS)?,
        revision: number(row, 8, LINKS)?,
        misses: row.get(9)?,
        claimed: true,
        state: row.get(10)?,
    }))
}
