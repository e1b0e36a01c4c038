//! The watcher's state machine (protocol, sections 5 and 6): pure functions over the positions
//! `last_seen ≤ notified ≤ material`.
//!
//! | from \ event | notified at n | acknowledged (since, up to) | watched at v | spawned at n |
//! | --- | --- | --- | --- | --- |
//! | none | at 0, open up to n (only if named) | – | settled at v | settled at n |
//! | unwatched | unwatched | – | settled at v | settled at n |
//! | settled | open up to n | ignored | same positions | settled at n |
//! | open | same | settled, or open for the rest; ignored if late | same positions | same positions |
//!
//! *material* is not stored: it follows from the head of the target, so that recording costs
//! nothing for a watcher whose notice is already open.

use crate::contract::{CursorState, Head, Notifying, Positions, Provenance};

impl Positions {
    /// Nothing open, everything up to `version` seen.
    #[must_use]
    pub fn settled(version: u64, provenance: Provenance) -> Self {
        Self { last_seen: version, notified: version, provenance }
    }

    /// Whether a notice is open.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.notified > self.last_seen
    }

    /// A notifying event by somebody else: opens a notice if none is open. `None`: no change.
    #[must_use]
    pub fn notify(&self, sequence: u64) -> Option<Self> {
        (!self.is_open()).then_some(Self { notified: sequence, ..*self })
    }

    /// The watcher acknowledged the notice that it took. If `material` is still ahead, the result
    /// is open again, for the rest. `None`: late or repeated, no change.
    #[must_use]
    pub fn acknowledge(&self, since: u64, up_to: u64, material: u64) -> Option<Self> {
        let counts = self.last_seen == since && since < up_to && up_to <= self.notified;
        counts.then_some(Self { last_seen: up_to, notified: material.max(up_to), ..*self })
    }

    /// Recovery: the open notice stands for everything up to `material`.
    #[must_use]
    pub fn recover(&self, material: u64) -> Self {
        Self { notified: self.notified.max(material), ..*self }
    }
}

/// The positions of the newest notifying event that is not the watcher's own, never below
/// `last_seen`.
#[must_use]
pub fn material(head: Option<&Head>, watcher: &str, last_seen: u64) -> u64 {
    let newest = match head.and_then(|head| head.notifying.as_ref()) {
        Some(notifying) if notifying.actor.as_deref() == Some(watcher) => notifying.other,
        Some(notifying) => notifying.newest,
        None => 0,
    };
    newest.max(last_seen)
}

/// What the head remembers once `actor` caused the notifying event `sequence`.
#[must_use]
pub fn remember(before: Option<&Notifying>, sequence: u64, actor: Option<&str>) -> Notifying {
    let other = match before {
        Some(before) if before.actor.as_deref() == actor => before.other,
        Some(before) => before.newest,
        None => 0,
    };
    Notifying { newest: sequence, actor: actor.map(Into::into), other }
}

/// The cursor of a watcher that a producer named and that has none: it has seen nothing.
#[must_use]
pub fn named(sequence: u64) -> Positions {
    Positions { last_seen: 0, notified: sequence, provenance: Provenance::Spawn }
}

/// `child_spawned` at `sequence`: seeds the parent's cursor; an open one keeps its positions.
#[must_use]
pub fn spawn(before: Option<&CursorState>, sequence: u64) -> Positions {
    match before {
        Some(CursorState::Live(live)) if live.is_open() => {
            Positions { provenance: Provenance::Spawn, ..*live }
        }
        _ => Positions::settled(sequence, Provenance::Spawn),
    }
}

/// A watch of a target at `version`: a live cursor keeps its positions, and its provenance unless
/// the new one is stronger.
#[must_use]
pub fn watch(before: Option<&CursorState>, version: u64, provenance: Provenance) -> Positions {
    match before {
        Some(CursorState::Live(live)) => {
            Positions { provenance: stronger(live.provenance, provenance), ..*live }
        }
        _ => Positions::settled(version, provenance),
    }
}

/// Spawn replaces any, explicit replaces ambient, ambient replaces none.
fn stronger(old: Provenance, new: Provenance) -> Provenance {
    match (old, new) {
        (_, Provenance::Spawn) | (Provenance::Spawn, _) => Provenance::Spawn,
        (Provenance::Explicit, _) | (_, Provenance::Explicit) => Provenance::Explicit,
        (Provenance::Ambient, Provenance::Ambient) => Provenance::Ambient,
    }
}

/// When something that moved at `before` has moved last, if it moves now. A clock that jumped
/// back must not let it expire early.
#[must_use]
pub fn moved(before: Option<u64>, now: u64) -> u64 {
    before.map_or(now, |before| before.max(now))
}

#[cfg(test)]
mod tests;
