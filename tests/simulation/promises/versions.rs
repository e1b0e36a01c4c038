//! Promise 3: versions only grow, until the session is deleted, and are never given twice; nobody
//! misses one that appears later.

use std::collections::BTreeMap;

use headsup::Event;

use super::{ensure, events};
use crate::check::Verdict;
use crate::history::{Answer, Entry};
use crate::operations::SESSIONS;
use crate::seen::Seen;

#[derive(Default)]
struct Versions {
    /// The highest number given.
    given: u64,
    /// The versions that were seen last, by session as in [`SESSIONS`].
    seen_last: Vec<Option<u64>>,
    /// Every event that was ever seen.
    seen: BTreeMap<u64, Event>,
}

pub fn versions_only_grow(history: &[Entry]) -> Verdict {
    let mut state = Versions { seen_last: vec![None; SESSIONS.len()], ..Versions::default() };
    for entry in history {
        if let Answer::Position(position) = entry.answer {
            ensure(position > state.given, entry, "a number was given twice", || {
                format!("{position} after {}", state.given)
            })?;
            state.given = position;
        }
        for known in events::recorded(entry) {
            ensure(known.sequence > state.given, entry, "a number was given twice", || {
                format!("{known:?} after {}", state.given)
            })?;
            state.given = known.sequence;
        }
        if let Some(session) = events::deleted(entry) {
            let at = SESSIONS
                .iter()
                .position(|(key, agent)| *key == session.key && *agent == session.agent);
            if let Some(at) = at {
                state.seen_last[at] = None;
            }
        }
        if let Some(look) = &entry.look {
            state.look(entry, look)?;
        }
    }
    Ok(())
}

impl Versions {
    fn look(&mut self, entry: &Entry, look: &Seen) -> Verdict {
        for asked in &look.deltas {
            let at = SESSIONS.iter().position(|(key, agent)| {
                *key == asked.session.key && *agent == asked.session.agent
            });
            let seen_to = at.and_then(|at| self.seen_last[at]).unwrap_or(0);
            for event in &asked.delta.events {
                match self.seen.get(&event.sequence) {
                    Some(known) => ensure(known == event, entry, "one number, two events", || {
                        format!("{known:?} and {event:?}")
                    })?,
                    None => ensure(
                        event.sequence > seen_to,
                        entry,
                        "an event appeared behind a version that was seen",
                        || format!("{event:?} behind {seen_to}"),
                    )?,
                }
            }
        }
        for asked in &look.deltas {
            for event in &asked.delta.events {
                self.given = self.given.max(event.sequence);
                self.seen.insert(event.sequence, event.clone());
            }
        }
        for (before, after) in self.seen_last.iter().zip(&look.versions) {
            ensure(before <= after, entry, "a version went back", || {
                format!("from {before:?} to {after:?}")
            })?;
        }
        self.seen_last.clone_from(&look.versions);
        Ok(())
    }
}
