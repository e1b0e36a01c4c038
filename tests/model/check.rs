//! What must hold whatever the model says, and that both agree.

use harness::News;
use headsup::{Kind, Notice, Session};

use crate::seen::Seen;

const NOTIFYING: [Kind; 3] = [Kind::HumanDirectMessage, Kind::UpstreamMissing, Kind::GoalChanged];

/// What went wrong.
pub type Verdict = Result<(), String>;

fn ensure(holds: bool, rule: &str, what: impl std::fmt::Debug) -> Verdict {
    if holds { Ok(()) } else { Err(format!("{rule}: {what:?}")) }
}

/// Positions are in order, and a notice is pending exactly where something is unseen.
pub fn positions(seen: &Seen) -> Verdict {
    for entry in &seen.watches {
        let in_order = entry.last_seen <= entry.notified && entry.notified <= entry.material;
        ensure(in_order, "last_seen <= notified <= material", entry)?;
        ensure(
            entry.pending == (entry.material > entry.last_seen)
                && entry.pending == (entry.notified > entry.last_seen),
            "pending exactly while material is ahead, and then a notice is open",
            entry,
        )?;
        let shown = seen.pending.iter().filter(|(watcher, _)| *watcher == entry.watcher);
        let notices = shown.flat_map(|(_, pending)| pending);
        let count = notices.filter(|pending| pending.notice.target == entry.target).count();
        ensure(count == usize::from(entry.pending), "one notice for a pending pair", entry)?;
    }
    Ok(())
}

/// Nobody hears a notice of something of which every unseen event is its own act.
pub fn no_notice_for_ones_own_act(seen: &Seen) -> Verdict {
    for news in &seen.news {
        let News::Notice { watcher, notice } = news else { continue };
        let about = |it: &&crate::seen::Asked| {
            it.session == notice.target && it.since <= notice.since && !it.delta.history_gap
        };
        let Some(asked) = seen.deltas.iter().find(about) else { continue };
        let foreign = asked.delta.events.iter().any(|event| {
            event.sequence > notice.since
                && event.actor.id.as_ref() != Some(watcher)
                && NOTIFYING.contains(&event.kind)
        });
        ensure(foreign || asked.delta.truncated, "no notice for one's own act", news)?;
    }
    Ok(())
}

/// While a notice is pending its text stays what it is.
pub fn text_unchanged_while_pending(before: &Seen, after: &Seen) -> Verdict {
    for (watcher, pending) in &after.pending {
        for notice in pending.iter().map(|pending| &pending.notice) {
            let earlier = before.pending.iter().filter(|(it, _)| it == watcher);
            let same = earlier.flat_map(|(_, pending)| pending).find(|earlier| {
                earlier.notice.target == notice.target && earlier.notice.since == notice.since
            });
            if let Some(same) = same {
                ensure(same.notice.text == notice.text, "text unchanged while pending", notice)?;
            }
        }
    }
    Ok(())
}

/// What was acknowledged by whom, as long as the cursor lives.
#[derive(Default)]
pub struct Ledger {
    acknowledged: Vec<(String, Session, u64)>,
}

impl Ledger {
    pub fn acknowledge(&mut self, watcher: &str, notice: &Notice) {
        self.acknowledged.push((watcher.to_owned(), notice.target.clone(), notice.up_to));
    }

    /// What was acknowledged is never shown again.
    pub fn check(&mut self, seen: &Seen) -> Verdict {
        self.acknowledged.retain(|(watcher, target, _)| {
            seen.watches.iter().any(|it| it.watcher == *watcher && it.target == *target)
        });
        for (watcher, target, up_to) in &self.acknowledged {
            let shown = seen.pending.iter().filter(|(it, _)| it == watcher);
            let mut notices = shown.flat_map(|(_, pending)| pending);
            let again = notices.find(|it| it.notice.target == *target && it.notice.up_to <= *up_to);
            ensure(again.is_none(), "acknowledged and shown again", again)?;
        }
        Ok(())
    }
}

/// The store and the model agree on everything.
pub fn agreement(seen: &Seen, expected: &Seen) -> Verdict {
    let differ = |what: &str, seen: String, expected: String| {
        Err(format!("{what}\n  the store: {seen}\n  the model: {expected}"))
    };
    let text = |it: &dyn std::fmt::Debug| format!("{it:?}");
    for (what, one, other) in [
        ("the answer", text(&seen.answer), text(&expected.answer)),
        ("the news", text(&seen.news), text(&expected.news)),
        ("the watches", text(&seen.watches), text(&expected.watches)),
        ("watches by target", text(&seen.watches_by_target), text(&expected.watches_by_target)),
        ("what is pending", text(&seen.pending), text(&expected.pending)),
        ("counts", text(&seen.counts), text(&expected.counts)),
        ("versions", text(&seen.versions), text(&expected.versions)),
    ] {
        if one != other {
            return differ(what, one, other);
        }
    }
    for (one, other) in seen.deltas.iter().zip(&expected.deltas) {
        if one != other {
            return differ("a delta", text(one), text(other));
        }
    }
    ensure(seen == expected, "something else differs", ())
}
