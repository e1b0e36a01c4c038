//! Catching up exactly: the changes of a session since a version (protocol, section 7).

use alloc::string::String;
use alloc::vec::Vec;

use crate::contract::{
    Actor, ActorType, Delta, Entry, Error, Event, InvalidReason, Kind, LogPage, Row, SessionRef,
};
use crate::ports::{Ports, Stored};
use crate::refusal::{MAX_INTEGER, corrupt, refuse};
use crate::session;
use crate::text::{element, joined, number};

/// The most events in one delta, and how many there are if nobody says otherwise.
pub const MAX_EVENTS: u32 = 200;
/// The most sessions in one `versions`.
pub const MAX_SESSIONS: usize = 1_000;

/// The events after a version. See `reconciliation.changes-since` in the contract.
pub fn changes_since(
    ports: &mut impl Ports,
    session: &SessionRef,
    version: u64,
    limit: Option<u32>,
) -> Result<Delta, Error> {
    let session = session::resolve("session", session)?;
    if version > MAX_INTEGER {
        return Err(refuse(
            InvalidReason::InvalidVersion,
            "changesSince",
            "a version is an integer from 0 to 9007199254740991",
        )
        .into());
    }
    let limit = limit.unwrap_or(MAX_EVENTS);
    if !(1..=MAX_EVENTS).contains(&limit) {
        return Err(refuse(
            InvalidReason::OutOfRange,
            "limit",
            "a delta has from 1 to 200 events; ask again for more",
        )
        .into());
    }
    // One row more than asked tells whether there are more.
    let mut page = ports.history(&session, version, limit + 1)?;
    let truncated = page.rows.len() > limit as usize;
    page.rows.truncate(limit as usize);
    let history_gap = has_gap(&page, version);
    let mut events = Vec::with_capacity(page.rows.len());
    for row in page.rows {
        events.push(event(row)?);
    }
    let state_version = page.head.map_or(0, |head| head.version);
    Ok(Delta { state_version, events, truncated, history_gap })
}

/// Whether the events after `version` may not be all that happened: some were pruned or deleted,
/// the version is from another database or from before the store was restored.
fn has_gap(page: &LogPage, version: u64) -> bool {
    let (head, watermark) =
        page.head.as_ref().map_or((0, 0), |head| (head.version, head.watermark));
    version < watermark || version < page.restored_at || version > head
}

/// The state versions of sessions. See `reconciliation.versions` in the contract.
pub fn versions(
    ports: &mut impl Ports,
    sessions: &[SessionRef],
) -> Result<Vec<Option<u64>>, Error> {
    if sessions.len() > MAX_SESSIONS {
        return Err(refuse(
            InvalidReason::TooMany,
            "sessions",
            "one call answers at most 1,000 sessions; split the list",
        )
        .into());
    }
    let mut resolved = Vec::with_capacity(sessions.len());
    for (at, session) in sessions.iter().enumerate() {
        resolved.push(session::resolve(&element("sessions", at), session)?);
    }
    let mut versions = Vec::with_capacity(sessions.len());
    for head in ports.heads(&resolved)? {
        versions.push(head.map(|head| head.version).filter(|version| *version > 0));
    }
    Ok(versions)
}

/// A row as an event. One whose words are not the protocol's is corruption, never served.
fn event(row: Row) -> Stored<Event> {
    let Row { sequence, entry } = row;
    let (Some(kind), Some(actor_type)) = (Kind::of(&entry.kind), ActorType::of(&entry.actor_type))
    else {
        return Err(corrupt(&unknown_words(&entry, sequence)));
    };
    Ok(Event {
        sequence,
        session: entry.session,
        kind,
        actor: Actor { type_: actor_type, id: entry.actor_id },
        occurred_at: entry.occurred_at,
        summary: entry.summary,
        session_id: entry.session_id,
        run_id: entry.run_id,
        payload: entry.payload,
    })
}

fn unknown_words(entry: &Entry, sequence: u64) -> String {
    let word = if Kind::of(&entry.kind).is_none() { "kind" } else { "actor type" };
    joined(&["event ", &number(sequence), " has an unknown ", word])
}
