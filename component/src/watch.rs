//! Watching and no longer watching (protocol, section 5).

use alloc::vec;
use alloc::vec::Vec;

use crate::contract::{
    Changes, Cursor, CursorQuery, CursorState, Error, Pair, PairState, Provenance, Session,
    SessionRef, Unwatchable, WatchAnswer, WatchEntry, Watched,
};
use crate::cursor::{self, material, moved};
use crate::notice::{Opened, all_cursors, marked};
use crate::policy;
use crate::ports::{Ports, Stored};
use crate::refusal::MAX_INTEGER;
use crate::retention::DAY_MS;
use crate::rules::Rules;
use crate::session::{self, Key};

/// Starts watching. See `watches.watch` in the contract.
pub fn watch<P: Ports>(
    ports: &mut P,
    watcher: &str,
    target: &SessionRef,
    ambient: bool,
) -> Result<WatchAnswer, Error> {
    let (watcher, target) = named(watcher, target)?;
    if let Err(why) = may_watch::<P::Rules>(&watcher, &target) {
        return Ok(WatchAnswer::NotWatchable(why));
    }
    let pair = Pair { watcher: watcher.into_string(), target };
    let provenance = if ambient { Provenance::Ambient } else { Provenance::Explicit };
    let PairState { cursor: before, head } = state(ports, &pair)?;
    let version = head.map_or(0, |head| head.version);
    let positions = cursor::watch(before.as_ref().map(|c| &c.state), version, provenance);
    let after = Cursor {
        pair,
        state: CursorState::Live(positions),
        moved_at: moved(before.as_ref().map(|before| before.moved_at), ports.now()),
    };
    let mut opened = Opened::default();
    if let Some(before) = &before {
        opened.strengthened(before, &after);
    }
    ports.save(&Changes { heads: Vec::new(), cursors: vec![after] })?;
    opened.enqueue(ports)?;
    Ok(WatchAnswer::Watched)
}

/// Ends a watch and leaves a mark. See `watches.unwatch` in the contract.
pub fn unwatch(ports: &mut impl Ports, watcher: &str, target: &SessionRef) -> Result<bool, Error> {
    let (watcher, target) = named(watcher, target)?;
    if can_watch(&watcher, &target).is_err() {
        return Ok(false);
    }
    let pair = Pair { watcher: watcher.into_string(), target };
    let before = state(ports, &pair)?.cursor;
    let mark = Cursor {
        pair,
        state: CursorState::Unwatched,
        moved_at: moved(before.as_ref().map(|before| before.moved_at), ports.now()),
    };
    ports.save(&Changes { heads: Vec::new(), cursors: vec![mark] })?;
    Ok(before.is_some_and(|before| matches!(before.state, CursorState::Live(_))))
}

/// The live watches of a watcher.
pub fn of_watcher(ports: &mut impl Ports, watcher: &str) -> Result<Vec<WatchEntry>, Error> {
    let watcher = Key::parse("watcher", watcher)?;
    list(ports, &CursorQuery::OfWatcher(watcher.into_string()))
}

/// The live watches on a target.
pub fn on_target(ports: &mut impl Ports, target: &SessionRef) -> Result<Vec<WatchEntry>, Error> {
    let target = session::resolve("target", target)?;
    list(ports, &CursorQuery::OnTarget(target))
}

fn list(ports: &mut impl Ports, query: &CursorQuery) -> Result<Vec<WatchEntry>, Error> {
    let all = all_cursors(ports, query)?;
    let keep_ms = u64::from(policy::current(ports)?.cursor_days) * DAY_MS;
    let mut entries = Vec::with_capacity(all.len());
    for watched in all {
        entries.push(entry(watched, keep_ms)?);
    }
    Ok(entries)
}

fn entry(watched: Watched, keep_ms: u64) -> Stored<WatchEntry> {
    let Watched { cursor, head } = watched;
    let CursorState::Live(positions) = cursor.state else {
        return Err(marked());
    };
    let Pair { watcher, target } = cursor.pair;
    let material = material(head.as_ref(), &watcher, positions.last_seen);
    let last_move = moved(head.as_ref().map(|head| head.moved_at), cursor.moved_at);
    Ok(WatchEntry {
        watcher,
        target,
        provenance: positions.provenance,
        last_seen: positions.last_seen,
        notified: positions.notified,
        material,
        pending: material > positions.last_seen,
        expires_at: (last_move + keep_ms).min(MAX_INTEGER),
        state_version: head.map(|head| head.version).filter(|version| *version > 0),
    })
}

fn state(ports: &mut impl Ports, pair: &Pair) -> Stored<PairState> {
    let states = ports.pairs(core::slice::from_ref(pair))?;
    Ok(states.into_iter().next().unwrap_or(PairState { cursor: None, head: None }))
}

fn named(watcher: &str, target: &SessionRef) -> Result<(Key, Session), Error> {
    Ok((Key::parse("watcher", watcher)?, session::resolve("target", target)?))
}

/// Whether a session can watch another, and the rules let it.
///
/// # Errors
/// Why not.
pub fn may_watch<R: Rules>(watcher: &Key, target: &Session) -> Result<(), Unwatchable> {
    can_watch(watcher, target)?;
    R::may_watch(watcher.as_str(), target)
}

fn can_watch(watcher: &Key, target: &Session) -> Result<(), Unwatchable> {
    if !watcher.is_qualified() {
        return Err(Unwatchable::NotAgentQualified);
    }
    if watcher.as_str() == target.key {
        return Err(Unwatchable::WatcherIsTarget);
    }
    Ok(())
}
