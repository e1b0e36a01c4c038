//! What histories have to lead to now and then, or the checks would look at nothing.

use headsup::WatchEntry;

use crate::operations::Operation;
use crate::seen::Seen;

/// Whether a step is there.
type Corner = fn(&Operation, &Seen) -> bool;

const CORNERS: [(&str, Corner); 18] = [
    ("a duplicate", |_, seen| seen.answer.starts_with("Duplicate")),
    ("an unwatched message", |_, seen| seen.answer == "Unwatched"),
    ("a drain that reopens", |operation, seen| {
        matches!(operation, Operation::Drain(_)) && !seen.news.is_empty()
    }),
    ("a late acknowledgement", |operation, seen| {
        matches!(operation, Operation::AcknowledgeTaken { .. }) && seen.answer == "(0, [])"
    }),
    ("an acknowledgement that reopens", |operation, seen| {
        matches!(operation, Operation::AcknowledgeTaken { .. }) && !seen.news.is_empty()
    }),
    ("pruned events", |operation, seen| prunes(operation, seen) && !seen.answer.contains("(0,")),
    ("expired cursors", |operation, seen| prunes(operation, seen) && !seen.answer.contains(", 0)")),
    ("a prune that is not due", |operation, seen| {
        matches!(operation, Operation::Prune(_)) && seen.answer == "None"
    }),
    ("a recovered notice", |operation, seen| {
        matches!(operation, Operation::Recover | Operation::Reopen) && !seen.news.is_empty()
    }),
    ("a wake by the clock", |operation, seen| {
        matches!(operation, Operation::Clock(_)) && !seen.news.is_empty()
    }),
    ("a wake by a stronger provenance", |operation, seen| {
        matches!(operation, Operation::Watch { .. }) && !seen.news.is_empty()
    }),
    ("three different positions", |_, seen| {
        seen.watches.iter().any(|it| it.last_seen < it.notified && it.notified < it.material)
    }),
    ("one's own acts on top of somebody else's", |operation, seen| {
        let Operation::Record(signal, _) = operation else { return false };
        let own = |it: &&WatchEntry| Some(&it.watcher) == signal.actor.id.as_ref();
        let version = |it: &WatchEntry| it.state_version.unwrap_or(0);
        let mut theirs = seen.watches.iter().filter(own);
        theirs.any(|it| it.target.key == signal.session.key && version(it) > it.material + 1)
    }),
    ("one of two sessions of the same key pending", |_, seen| {
        seen.watches.iter().any(|one| {
            let twin = |other: &&WatchEntry| {
                other.watcher == one.watcher
                    && other.target.key == one.target.key
                    && other.target.agent != one.target.agent
                    && other.pending != one.pending
            };
            seen.watches.iter().any(|other| twin(&other))
        })
    }),
    ("a gap with events", |_, seen| {
        seen.deltas.iter().any(|it| it.delta.history_gap && !it.delta.events.is_empty())
    }),
    ("a truncated delta", |_, seen| seen.deltas.iter().any(|it| it.delta.truncated)),
    ("an ended watch", |operation, seen| {
        matches!(operation, Operation::Unwatch { .. }) && seen.answer == "true"
    }),
    ("a deleted watched session", |operation, seen| {
        matches!(operation, Operation::Delete(_)) && !seen.answer.starts_with("(0,")
    }),
];

fn prunes(operation: &Operation, seen: &Seen) -> bool {
    matches!(operation, Operation::Prune(_)) && seen.answer != "None"
}

/// How often each corner was reached.
#[derive(Default)]
pub struct Corners {
    counts: [u32; CORNERS.len()],
}

impl Corners {
    pub fn look(&mut self, operation: &Operation, seen: &Seen) {
        for (count, (_, corner)) in self.counts.iter_mut().zip(CORNERS) {
            *count += u32::from(corner(operation, seen));
        }
    }

    /// The corners that were not reached.
    pub fn missed(&self) -> Vec<&'static str> {
        let all = self.counts.iter().zip(CORNERS);
        all.filter(|(count, _)| **count == 0).map(|(_, (name, _))| name).collect()
    }
}
