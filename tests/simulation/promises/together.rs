//! Promise 2: event, head, cursors, link and marker change together or not at all; and nothing is
//! heard of what was not committed.

use super::{ensure, events};
use crate::check::Verdict;
use crate::history::Entry;
use crate::seen::Seen;

pub fn together_or_not_at_all(history: &[Entry]) -> Verdict {
    let mut before: Option<&Seen> = None;
    for entry in history {
        let early = entry.heard.iter().find(|it| !it.committed);
        ensure(early.is_none(), entry, "heard before it was committed", || format!("{early:?}"))?;
        if entry.failed() {
            let heard = &entry.heard;
            ensure(heard.is_empty(), entry, "heard of what failed", || format!("{heard:?}"))?;
            let same = match (before, &entry.look) {
                (Some(before), Some(after)) => before == after,
                _ => false,
            };
            ensure(same, entry, "what failed changed something", || {
                format!("before {before:?}\n  after {:?}", entry.look)
            })?;
        }
        if let Some(look) = &entry.look {
            heads_reach_what_was_recorded(entry, look)?;
        }
        before = entry.look.as_ref();
    }
    Ok(())
}

/// The event that was just recorded is in the log, and its head and its watchers' cursors know it.
fn heads_reach_what_was_recorded(entry: &Entry, look: &Seen) -> Verdict {
    for known in events::recorded(entry) {
        let of_session = || look.deltas.iter().filter(|it| it.session == known.session);
        let head = of_session().map(|it| it.delta.state_version).max().unwrap_or(0);
        ensure(head >= known.sequence, entry, "an event without its head", || {
            format!("{known:?}")
        })?;
        let kept = of_session().any(|it| {
            it.delta.truncated || it.delta.events.iter().any(|it| it.sequence == known.sequence)
        });
        ensure(kept, entry, "a head without its event", || format!("{known:?}"))?;
        let moved = look.watches.iter().all(|it| {
            it.target != known.session
                || !known.notifies
                || known.actor.as_ref() == Some(&it.watcher)
                || it.material >= known.sequence
        });
        ensure(moved, entry, "an event without its cursors", || format!("{known:?}"))?;
    }
    Ok(())
}
