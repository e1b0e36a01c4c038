//! Promise 5: from any version a delta is exact, or says that it is not; and it says so only where
//! something is missing.

use std::collections::{BTreeMap, BTreeSet};

use super::{ensure, events};
use crate::check::Verdict;
use crate::history::{Answer, Entry};
use crate::seen::{Asked, Seen};

/// A session: key and agent.
type Name = (String, String);

#[derive(Default)]
struct Deltas {
    /// The numbers of every event that was ever recorded, as long as something is remembered of its
    /// session.
    ever: BTreeMap<Name, BTreeSet<u64>>,
    /// Those of them of which the store must still know that they were: its retention has not ended.
    known: BTreeMap<Name, BTreeSet<u64>>,
    restored_at: u64,
}

pub fn exact_or_said_not_to_be(history: &[Entry]) -> Verdict {
    let mut state = Deltas::default();
    for entry in history {
        if let Answer::Position(position) = entry.answer {
            state.restored_at = position;
        }
        for known in events::recorded(entry).into_iter().chain(events::seen(entry)) {
            let name = (known.session.key, known.session.agent);
            state.known.entry(name.clone()).or_default().insert(known.sequence);
            state.ever.entry(name).or_default().insert(known.sequence);
        }
        if let Some(look) = &entry.look {
            state.look(entry, look)?;
        }
    }
    Ok(())
}

impl Deltas {
    fn look(&mut self, entry: &Entry, look: &Seen) -> Verdict {
        // The tombstone of a session goes when its time is over. Where everything answers with a gap
        // since a restore, that cannot be seen until the session is there again.
        for asked in &look.deltas {
            let delta = &asked.delta;
            if asked.since == 0 && delta.state_version == 0 && delta.events.is_empty() {
                if !delta.history_gap {
                    self.ever.remove(&name(asked));
                }
                if !delta.history_gap || self.restored_at > 0 {
                    self.known.remove(&name(asked));
                }
            }
        }
        look.deltas.iter().try_for_each(|asked| self.check(entry, look, asked))
    }

    fn check(&self, entry: &Entry, look: &Seen, asked: &Asked) -> Verdict {
        let delta = &asked.delta;
        let words = || format!("{asked:?}, restored at {}", self.restored_at);
        let sequences: Vec<u64> = delta.events.iter().map(|it| it.sequence).collect();
        let bounds = sequences.is_sorted_by(|one, other| one < other)
            && sequences.iter().all(|it| asked.since < *it && *it <= delta.state_version)
            && sequences.len() <= asked.limit as usize
            && (!delta.truncated || sequences.len() == asked.limit as usize);
        ensure(bounds, entry, "a delta out of order or out of bounds", words)?;

        let after = |sequence: &&u64| **sequence > asked.since;
        if !delta.history_gap {
            let known = self.known.get(&name(asked)).into_iter().flatten();
            let mut all: Vec<u64> = known.filter(after).copied().collect();
            let truncated = all.len() > asked.limit as usize;
            all.truncate(asked.limit as usize);
            ensure(
                sequences == all,
                entry,
                "a delta that is not exact and does not say so",
                || format!("{}\n  recorded were {all:?}", words()),
            )?;
            ensure(truncated == delta.truncated, entry, "truncated", words)?;
        }
        let kept: BTreeSet<u64> = look
            .deltas
            .iter()
            .filter(|it| it.session == asked.session)
            .flat_map(|it| it.delta.events.iter().map(|event| event.sequence))
            .collect();
        let ever = self.ever.get(&name(asked)).into_iter().flatten();
        let lost = ever.filter(after).any(|it| !kept.contains(it));
        let cause = lost || asked.since > delta.state_version || asked.since < self.restored_at;
        ensure(cause || !delta.history_gap, entry, "a gap where nothing is missing", words)?;
        ensure(
            delta.history_gap || asked.since >= self.restored_at,
            entry,
            "no gap for a version from before a restore",
            words,
        )
    }
}

fn name(asked: &Asked) -> Name {
    (asked.session.key.clone(), asked.session.agent.clone())
}
