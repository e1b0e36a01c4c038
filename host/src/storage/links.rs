//! The upstream links of a store, for people who look after it.

use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row as SqlRow};
use serde::Serialize;
use serde_json::{Map, Value};

use super::Store;
use super::failure::Problem;
use super::rows::{number, optional_number};
use crate::contract::StorageFailure;

const STATES: &str = include_str!("../../sql/links/states.sql");

const ANY: &str = include_str!("../../sql/links/any.sql");

const LINKS: &str = "session_upstream_links";
const TURNS: &str = "headsup_own_turns";

/// An adopted session and how far its source was read. Times are in ms since the Unix epoch, sizes
/// in bytes. What only the core knows is absent where it does not apply, and where another core has
/// other words for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LinkState {
    /// The key of the adopted session.
    pub session: String,
    /// Its agent.
    pub agent: String,
    /// The kind of source, such as `claude-jsonl`.
    pub kind: String,
    /// Where it is: a path, or the id of a node.
    pub place: String,
    /// The thread on the node; absent for a file.
    pub source_thread: Option<String>,
    /// The catalog the session was adopted from.
    pub catalog: String,
    /// The machine, if the gateway named one.
    pub host: Option<String>,
    /// The thread's id in the catalog, if the gateway named one.
    pub thread: Option<String>,
    /// Which adoption of the session this is.
    pub generation: u64,
    /// When it was.
    pub adopted_at: Option<u64>,
    /// The byte up to which a file was read.
    pub at: Option<u64>,
    /// The size of the file by then.
    pub size: Option<u64>,
    /// The newest time of a row that was passed.
    pub newest: Option<u64>,
    /// How often the source was seen to be replaced, cut or rewritten.
    pub rotations: Option<u64>,
    /// Checks in a row that definitively found nothing.
    pub misses: u32,
    /// Why the source could not be read the last time.
    pub trouble: Option<String>,
    /// When a process last planned to read it; absent before the first time.
    pub checked_at: Option<u64>,
    /// Until when a process checks it; 0 if none ever did.
    pub claimed_until: u64,
    /// Whether anybody watches the session: it is not checked otherwise.
    pub watched: bool,
    /// Until when a turn of the session counts as running, and it is not checked; 0 if none does.
    pub running_until: u64,
}

impl Store {
    /// Every adopted session, by key, then agent. Inside a transaction, like the verbs. Takes time in
    /// proportion to their number.
    pub fn links(&mut self) -> Result<Vec<LinkState>, StorageFailure> {
        self.reading(states)
    }

    /// Whether any session is adopted. Inside a transaction, like the verbs.
    pub fn has_links(&mut self) -> Result<bool, StorageFailure> {
        self.reading(|connection| {
            Ok(connection.prepare_cached(ANY)?.query_row([], |row| row.get(0))?)
        })
    }
}

fn states(connection: &Connection) -> Result<Vec<LinkState>, Problem> {
    let mut statement = connection.prepare(STATES)?;
    let mut rows = statement.query([])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(state(row)?);
    }
    Ok(found)
}

fn state(row: &SqlRow<'_>) -> Result<LinkState, Problem> {
    let kept = kept(row.get_ref(11)?.as_str().map_err(rusqlite::Error::from)?);
    let member = |name: &str| kept.as_ref()?.get(name);
    let text = |name: &str| member(name).and_then(Value::as_str).map(str::to_owned);
    let amount = |name: &str| member(name).and_then(Value::as_u64);
    // The core writes no zeros: an empty file is read up to its end, too.
    let nothing = (kept.is_some() && row.get_ref(5)? == ValueRef::Null).then_some(0);
    Ok(LinkState {
        session: row.get(0)?,
        agent: row.get(1)?,
        watched: row.get(2)?,
        kind: row.get(3)?,
        place: row.get(4)?,
        source_thread: row.get(5)?,
        catalog: row.get(6)?,
        generation: number(row, 7, LINKS)?,
        misses: row.get(8)?,
        checked_at: optional_number(row, 9, LINKS)?,
        claimed_until: number(row, 10, LINKS)?,
        running_until: number(row, 12, TURNS)?,
        host: text("host"),
        thread: text("thread"),
        adopted_at: amount("adoptedAt"),
        at: amount("at").or(nothing),
        size: amount("size").or(nothing),
        newest: amount("newest"),
        rotations: amount("rotations"),
        trouble: text("trouble"),
    })
}

/// What the core keeps of a link. A state that is no object says nothing: `doctor` names it, and a
/// list of all links does not stop at one.
fn kept(state: &str) -> Option<Map<String, Value>> {
    match serde_json::from_str(state) {
        Ok(Value::Object(members)) => Some(members),
        _ => None,
    }
}
