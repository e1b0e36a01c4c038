//! Every rule of the protocol's sections 2 to 9, in its order, on the real component in wasmtime
//! over real SQLite. A test is named as its rule.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod content;
mod contract;
mod keys;
mod kinds;
mod lifecycle;
mod notices;
mod provenance;
mod reconciliation;
mod recording;
mod retention;
mod several_processes;
mod signals;
mod upstreams;
mod wakes;
mod watching;
mod wording;

use headsup::{Actor, GoalChange, SessionRef, Signal};

/// A human sends a turn directly to a session.
fn human(session: impl Into<SessionRef>) -> Signal {
    Signal::human_direct_message(session, Actor::human())
}

/// An actor with this id changes a session's goal.
fn goal(session: impl Into<SessionRef>, actor: &str) -> Signal {
    Signal::goal_changed(session, GoalChange::Updated, Actor::agent(actor))
}

/// A parent spawns a child.
fn spawn(child: impl Into<SessionRef>, parent: &str) -> Signal {
    Signal::child_spawned(child, "r1", Actor::agent(parent))
}

/// A session is compacted: an event that only enters the log.
fn compaction(session: impl Into<SessionRef>, operation: &str) -> Signal {
    Signal::compacted(session, operation, Actor::system())
}
