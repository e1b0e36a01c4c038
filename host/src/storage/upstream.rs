//! The verbs for sources of adopted sessions: `upstream-of`, `save-upstream`, `claim`, `next-claim`
//! and `upstreams`.

use rusqlite::{Connection, Params, Row as SqlRow, named_params};

use super::failure::Problem;
use super::rows::{number, stored};
use super::statements::{
    CLAIM_DUE, CLAIM_TAKE, DELETE_LINK, DELETE_TURNS, NEXT_CLAIM, SAVE_UPSTREAM_LINK,
    SAVE_UPSTREAM_TURNS, UPSTREAM_OF, UPSTREAMS,
};
use crate::contract::{ClaimRequest, Link, OwnTurns, Session, Source, StorageFault, Upstream};

const LINKS: &str = "session_upstream_links";
const TURNS: &str = "headsup_own_turns";

/// First columns of the parts of a row.
const LINK_COLUMNS: usize = 3;
const TURNS_COLUMNS: usize = LINK_COLUMNS + 15;

/// Hashes of sent texts that a session keeps, and the bytes of each.
const SENT_TEXTS: usize = 10;
const HASH_BYTES: usize = 64;

/// `storage.upstream-of`.
pub(super) fn upstream_of(connection: &Connection, session: &Session) -> Result<Upstream, Problem> {
    let of_session = named_params! { ":session_key": session.key, ":agent_id": session.agent };
    connection.prepare_cached(UPSTREAM_OF)?.query_row(of_session, |row| Ok(decoded(row)))?
}

/// `storage.save-upstream`.
pub(super) fn save(connection: &Connection, upstream: &Upstream) -> Result<(), Problem> {
    let session = &upstream.session;
    let of_session = named_params! { ":session_key": session.key, ":agent_id": session.agent };
    match &upstream.link {
        Some(link) => save_link(connection, session, link)?,
        None => {
            connection.prepare_cached(DELETE_LINK)?.execute(of_session)?;
        }
    }
    match &upstream.turns {
        Some(turns) => save_turns(connection, session, turns),
        None => {
            connection.prepare_cached(DELETE_TURNS)?.execute(of_session)?;
            Ok(())
        }
    }
}

fn save_link(connection: &Connection, session: &Session, link: &Link) -> Result<(), Problem> {
    connection.prepare_cached(SAVE_UPSTREAM_LINK)?.execute(named_params! {
        ":session_key": session.key,
        ":agent_id": session.agent,
        ":source_kind": link.source.kind,
        ":source_place": link.source.place,
        ":source_thread": link.source.thread,
        ":catalog": link.catalog,
        ":host": link.host,
        ":thread": link.thread,
        ":generation": stored(link.generation),
        ":revision": stored(link.revision),
        ":rotations": link.rotations,
        ":misses": link.misses,
        ":adopted_at": stored(link.adopted_at),
        ":checked_at": link.checked_at.map(stored),
        ":claimed_until": stored(link.claimed_until),
        ":trouble": link.trouble,
        ":marker_json": link.marker,
    })?;
    Ok(())
}

fn save_turns(connection: &Connection, session: &Session, turns: &OwnTurns) -> Result<(), Problem> {
    if turns.sent.len() > SENT_TEXTS || turns.sent.iter().any(|hash| hash.len() > HASH_BYTES) {
        let message = format!(
            "the store refuses a value that the core gave (`sent` takes at most {SENT_TEXTS} \
             hashes of at most {HASH_BYTES} bytes)"
        );
        return Err(Problem::known(StorageFault::Failed, message));
    }
    connection.prepare_cached(SAVE_UPSTREAM_TURNS)?.execute(named_params! {
        ":session_key": session.key,
        ":agent_id": session.agent,
        ":sent_json": json(&turns.sent),
        ":running_until": stored(turns.running_until),
        ":moved_at": stored(turns.moved_at),
    })?;
    Ok(())
}

/// `storage.claim`.
pub(super) fn claim(
    connection: &Connection,
    request: &ClaimRequest,
) -> Result<Vec<Upstream>, Problem> {
    let mut due = listed(
        connection,
        CLAIM_DUE,
        named_params! {
            ":kinds": json(&request.kinds),
            ":now": stored(request.now),
            ":until": stored(request.until),
            ":claimed_too": request.claimed_too,
            ":limit": request.limit,
        },
    )?;
    let mut take = connection.prepare_cached(CLAIM_TAKE)?;
    for Upstream { session, link, .. } in &mut due {
        take.execute(named_params! {
            ":session_key": session.key,
            ":agent_id": session.agent,
            ":now": stored(request.now),
            ":until": stored(request.until),
        })?;
        if let Some(link) = link {
            link.checked_at = Some(request.now);
            link.claimed_until = request.until;
        }
    }
    Ok(due)
}

/// `storage.next-claim`.
pub(super) fn next_claim(
    connection: &Connection,
    kinds: &[String],
) -> Result<Option<u64>, Problem> {
    let mut statement = connection.prepare_cached(NEXT_CLAIM)?;
    let mut rows = statement.query(named_params! { ":kinds": json(kinds) })?;
    match rows.next()? {
        Some(row) => optional_number(row, 0),
        None => Ok(None),
    }
}

/// `storage.upstreams`.
pub(super) fn upstreams(
    connection: &Connection,
    after: Option<&Session>,
    limit: u32,
) -> Result<Vec<Upstream>, Problem> {
    let (key, agent) = after.map_or(("", ""), |session| (&session.key, &session.agent));
    listed(
        connection,
        UPSTREAMS,
        named_params! { ":after_session_key": key, ":after_agent_id": agent, ":limit": limit },
    )
}

fn listed(
    connection: &Connection,
    sql: &str,
    params: impl Params,
) -> Result<Vec<Upstream>, Problem> {
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query(params)?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(decoded(row)?);
    }
    Ok(found)
}

fn json(texts: &[String]) -> String {
    serde_json::Value::from(texts).to_string()
}

fn decoded(row: &SqlRow<'_>) -> Result<Upstream, Problem> {
    Ok(Upstream {
        session: Session { key: row.get(0)?, agent: row.get(1)? },
        watched: row.get(2)?,
        link: link(row)?,
        turns: turns(row)?,
    })
}

fn link(row: &SqlRow<'_>) -> Result<Option<Link>, Problem> {
    let first = LINK_COLUMNS;
    let Some(kind) = row.get(first)? else { return Ok(None) };
    Ok(Some(Link {
        source: Source { kind, place: row.get(first + 1)?, thread: row.get(first + 2)? },
        catalog: row.get(first + 3)?,
        host: row.get(first + 4)?,
        thread: row.get(first + 5)?,
        generation: number(row, first + 6, LINKS)?,
        revision: number(row, first + 7, LINKS)?,
        rotations: row.get(first + 8)?,
        misses: row.get(first + 9)?,
        adopted_at: number(row, first + 10, LINKS)?,
        checked_at: optional_number(row, first + 11)?,
        claimed_until: number(row, first + 12, LINKS)?,
        trouble: row.get(first + 13)?,
        marker: row.get(first + 14)?,
    }))
}

fn turns(row: &SqlRow<'_>) -> Result<Option<OwnTurns>, Problem> {
    let first = TURNS_COLUMNS;
    let Some(sent) = row.get_ref(first)?.as_str_or_null().map_err(rusqlite::Error::from)? else {
        return Ok(None);
    };
    let sent = serde_json::from_str(sent).map_err(|_| Problem::Row {
        table: TURNS,
        what: "hashes of sent texts that are no list",
    })?;
    Ok(Some(OwnTurns {
        sent,
        running_until: number(row, first + 1, TURNS)?,
        moved_at: number(row, first + 2, TURNS)?,
    }))
}

fn optional_number(row: &SqlRow<'_>, column: usize) -> Result<Option<u64>, Problem> {
    match row.get::<_, Option<i64>>(column)? {
        Some(_) => number(row, column, LINKS).map(Some),
        None => Ok(None),
    }
}
