//! Promise 4: for every watcher and target there is exactly one pending notice precisely when another
//! actor's notifying event lies beyond what was acknowledged. It is announced, and after one
//! acknowledgement shown by nobody again.

use std::collections::BTreeSet;

use headsup::{Session, WatchEntry};

use super::ensure;
use super::events::{self, Known};
use crate::check::{self, Ledger, Verdict};
use crate::history::{Acknowledged, Entry};
use crate::operations::resolved;
use crate::seen::Seen;

#[derive(Default)]
struct Notices {
    /// Notifying events of sessions that were not deleted since.
    events: BTreeSet<(u64, Name, Option<String>)>,
    /// What was announced: watcher, target and `since`.
    announced: BTreeSet<(String, Name, u64)>,
    ledger: Ledger,
}

/// A session: key and agent.
type Name = (String, String);

fn pair(session: &Session) -> Name {
    (session.key.clone(), session.agent.clone())
}

pub fn one_notice_exactly_while_something_is_unseen(history: &[Entry]) -> Verdict {
    let mut state = Notices::default();
    let mut before: Option<&Seen> = None;
    for entry in history {
        state.learn(events::recorded(entry));
        state.learn(events::seen(entry));
        for (watcher, notice) in entry.announced() {
            let foreign = state.foreign(watcher, &notice.target, notice.since);
            ensure(foreign.is_some(), entry, "told of nothing, or of one's own act", || {
                format!("{watcher}: {notice:?}")
            })?;
            let about = pair(&notice.target);
            state.announced.insert((watcher.to_owned(), about, notice.since));
        }
        if let Some(session) = events::deleted(entry) {
            state.events.retain(|(_, it, _)| *it != pair(&session));
        }
        if let Some(acknowledged) = entry.acknowledged() {
            state.acknowledge(entry, acknowledged)?;
        }
        if let Some(look) = &entry.look {
            state.look(entry, look)?;
            if let Some(before) = before {
                check::text_unchanged_while_pending(before, look)?;
            }
            before = Some(look);
        }
    }
    Ok(())
}

impl Notices {
    fn learn(&mut self, known: Vec<Known>) {
        let notifying = known.into_iter().filter(|it| it.notifies);
        self.events.extend(notifying.map(|it| (it.sequence, pair(&it.session), it.actor)));
    }

    /// The newest change of a session by anybody but this watcher, beyond a version.
    fn foreign(&self, watcher: &str, session: &Session, beyond: u64) -> Option<u64> {
        let session = pair(session);
        let mut newest = self.events.iter().rev();
        let found =
            newest.find(|(_, it, actor)| *it == session && actor.as_deref() != Some(watcher));
        found.map(|(sequence, ..)| *sequence).filter(|sequence| *sequence > beyond)
    }

    /// Positions move exactly to what was acknowledged, and the rest opens again.
    fn acknowledge(&mut self, entry: &Entry, done: &Acknowledged) -> Verdict {
        let Acknowledged { watcher, receipts, count, reopened, before, after } = done;
        let mut counted = 0;
        for cursor in before {
            let receipt = receipts.iter().find(|it| {
                resolved(&it.target) == cursor.target
                    && it.since == cursor.last_seen
                    && it.since < it.up_to
                    && it.up_to <= cursor.notified
            });
            counted += u32::from(receipt.is_some());
            let seen = receipt.map_or(cursor.last_seen, |it| it.up_to);
            let same = |it: &&WatchEntry| it.target == cursor.target;
            let moved = after.iter().find(same);
            let words = || format!("{cursor:?}\n  became {moved:?}, acknowledged up to {seen}");
            ensure(
                moved.is_some_and(|it| it.last_seen == seen),
                entry,
                "a position is not what was acknowledged",
                words,
            )?;
            let rest = self.foreign(watcher, &cursor.target, seen);
            ensure(
                moved.is_some_and(|it| it.pending == rest.is_some()),
                entry,
                "an acknowledgement swallowed the rest, or opened nothing",
                words,
            )?;
            let opens = receipt.is_some() && rest.is_some();
            let told = reopened.iter().filter(|it| it.target == cursor.target).count();
            let mut heard = entry.announced();
            let heard = heard.any(|(it, notice)| {
                it == watcher && notice.target == cursor.target && notice.since == seen
            });
            ensure(
                told == usize::from(opens) && heard == opens,
                entry,
                "a notice for the rest was lost, or opened twice",
                words,
            )?;
            if receipt.is_some() {
                for notice in receipts.iter().filter(|it| resolved(&it.target) == cursor.target) {
                    let shown = headsup::Notice {
                        target: cursor.target.clone(),
                        since: notice.since,
                        up_to: seen,
                        text: String::new(),
                    };
                    self.ledger.acknowledge(watcher, &shown);
                }
            }
        }
        ensure(*count == counted, entry, "a late or repeated acknowledgement counted", || {
            format!("{count} counted, not {counted}")
        })
    }

    fn look(&mut self, entry: &Entry, look: &Seen) -> Verdict {
        let at = |wrong: String| format!("{wrong}\n  at step {}, {:?}", entry.step, entry.act);
        check::positions(look).map_err(at)?;
        self.ledger.check(look).map_err(at)?;
        for cursor in &look.watches {
            let foreign = self.foreign(&cursor.watcher, &cursor.target, cursor.last_seen);
            ensure(
                cursor.pending == foreign.is_some(),
                entry,
                "pending exactly while somebody else's change is unseen",
                || format!("{cursor:?}, newest change by others {foreign:?}"),
            )?;
        }
        for (watcher, pending) in &look.pending {
            for notice in pending.iter().map(|it| &it.notice) {
                let key = (watcher.clone(), pair(&notice.target), notice.since);
                ensure(
                    self.announced.contains(&key),
                    entry,
                    "pending, and never announced",
                    || format!("{watcher}: {notice:?}"),
                )?;
            }
        }
        Ok(())
    }
}
