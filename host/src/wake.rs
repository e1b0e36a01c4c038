//! When a watcher is woken: a pure state machine over times, without clock, thread or store.
//!
//! The first opening wakes at once. Openings in the 20 s after a wake share one more wake at the
//! end of that window, sent only if one of them is still pending. While a notice that may wake
//! stays pending, its watcher is woken again 15 minutes after the last wake. So no watcher is
//! woken twice within 20 s, whatever happens.
//!
//! All of it can be lost at any moment without harm: it decides when to look, not what is pending.

use std::collections::{BTreeSet, HashMap, HashSet};

/// A watcher is not woken twice within this, in ms.
pub(crate) const WINDOW: u64 = 20_000;

/// A watcher with a pending notice is woken again after this, in ms.
pub(crate) const REMINDER: u64 = 15 * 60_000;

/// If it could not be found out what is pending, it is tried again after this, in ms.
const RETRY: u64 = 1_000;

/// Watchers that are remembered; beyond, one whose window is over is forgotten.
const WATCHERS: usize = 100_000;

/// Openings remembered in one window; beyond, any pending notice justifies the wake.
const OPENINGS: usize = 256;

/// A notice, as far as its identity goes: its target's key and agent, and its `since`.
pub(crate) type OpeningId = (String, String, u64);

/// What a due timer needs to know before it may wake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Question {
    pub(crate) watcher: String,
    /// Which notices justify the wake; absent: any that may wake.
    pub(crate) any_of: Option<HashSet<OpeningId>>,
}

/// The answer to a [`Question`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// One of them is pending and may wake.
    Pending,
    /// None is.
    Settled,
    /// It could not be found out.
    Unknown,
}

/// How often watchers are woken, in ms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Intervals {
    /// A watcher is not woken twice within this.
    pub(crate) window: u64,
    /// A watcher with a pending notice is woken again after this.
    pub(crate) reminder: u64,
}

impl Default for Intervals {
    fn default() -> Self {
        Self { window: WINDOW, reminder: REMINDER }
    }
}

/// All watchers that were woken in the last quarter of an hour, and those that have to be again.
#[derive(Debug, Default)]
pub(crate) struct Wakes {
    intervals: Intervals,
    watchers: HashMap<String, Watcher>,
    /// When to look at whom again, soonest first.
    timers: BTreeSet<(u64, String)>,
    /// The latest time heard of.
    now: u64,
}

#[derive(Debug)]
struct Watcher {
    woken: u64,
    window: Window,
    timer: u64,
}

/// What came in since the last wake.
#[derive(Debug)]
enum Window {
    /// Nothing, or the window is over: the next timer is the reminder.
    Quiet,
    /// These openings.
    Openings(HashSet<OpeningId>),
    /// More than are remembered.
    Many,
}

impl Wakes {
    pub(crate) fn new(intervals: Intervals) -> Self {
        Self { intervals, ..Self::default() }
    }

    /// A notice opened that may wake its watcher. Returns whether to wake it now.
    pub(crate) fn opened(&mut self, watcher: &str, opening: OpeningId, now: u64) -> bool {
        self.advance(now);
        if let Some(known) = self.watchers.get_mut(watcher)
            && now < known.woken + self.intervals.window
        {
            known.remember(opening);
            let due = known.woken + self.intervals.window;
            self.set_timer(watcher, due);
            return false;
        }
        if !self.watchers.contains_key(watcher) && !self.make_room() {
            return false;
        }
        self.woken(watcher, now);
        true
    }

    /// The next timer that is due, if there is one. Each has to be [`answer`](Self::answer)ed.
    pub(crate) fn due(&mut self, now: u64) -> Option<Question> {
        self.advance(now);
        let (due, watcher) = self.timers.first()?;
        if *due > now {
            return None;
        }
        let known = self.watchers.get(watcher)?;
        let any_of = match &known.window {
            Window::Openings(openings) => Some(openings.clone()),
            Window::Quiet | Window::Many => None,
        };
        Some(Question { watcher: watcher.clone(), any_of })
    }

    /// What is pending for the watcher of a due timer. Returns whether to wake it now.
    pub(crate) fn answer(&mut self, watcher: &str, answer: Answer, now: u64) -> bool {
        self.advance(now);
        let Some(known) = self.watchers.get_mut(watcher) else {
            return false;
        };
        // Another thread may have answered meanwhile: then the timer moved on.
        if known.timer > now {
            return false;
        }
        match (answer, &known.window) {
            (Answer::Pending, _) => {
                self.woken(watcher, now);
                return true;
            }
            (Answer::Unknown, _) => self.set_timer(watcher, now + RETRY),
            (Answer::Settled, Window::Quiet) => self.forget(watcher),
            (Answer::Settled, _) => {
                known.window = Window::Quiet;
                let due = known.woken + self.intervals.reminder;
                self.set_timer(watcher, due);
            }
        }
        false
    }

    /// When the next timer is due.
    pub(crate) fn next(&self) -> Option<u64> {
        self.timers.first().map(|(due, _)| *due)
    }

    /// Follows the clock. If it went back, whoever was woken "later than now" counts as woken
    /// now, so that neither a storm of wakes follows nor a silence as long as the jump.
    fn advance(&mut self, now: u64) {
        if now < self.now {
            let shifted = self.watchers.iter_mut().filter_map(|(watcher, known)| {
                let before = known.timer;
                let back = known.woken.saturating_sub(now);
                known.woken -= back;
                known.timer = known.timer.saturating_sub(back).min(now + self.intervals.reminder);
                (known.timer != before).then(|| (before, known.timer, watcher.clone()))
            });
            for (before, after, watcher) in shifted.collect::<Vec<_>>() {
                let entry = (before, watcher);
                self.timers.remove(&entry);
                self.timers.insert((after, entry.1));
            }
        }
        self.now = now;
    }

    fn woken(&mut self, watcher: &str, now: u64) {
        let due = now + self.intervals.reminder;
        if let Some(known) = self.watchers.get_mut(watcher) {
            known.woken = now;
            known.window = Window::Quiet;
        } else {
            let known = Watcher { woken: now, window: Window::Quiet, timer: due };
            self.watchers.insert(watcher.to_owned(), known);
        }
        self.set_timer(watcher, due);
    }

    fn set_timer(&mut self, watcher: &str, due: u64) {
        if let Some(known) = self.watchers.get_mut(watcher) {
            let mut entry = (known.timer, watcher.to_owned());
            self.timers.remove(&entry);
            known.timer = due;
            entry.0 = due;
            self.timers.insert(entry);
        }
    }

    fn forget(&mut self, watcher: &str) {
        if let Some(known) = self.watchers.remove(watcher) {
            self.timers.remove(&(known.timer, watcher.to_owned()));
        }
    }

    /// Forgets a watcher whose window is over, if there are too many. Returns false if nobody may
    /// be forgotten: without its window a watcher could be woken twice within 20 s.
    fn make_room(&mut self) -> bool {
        if self.watchers.len() < WATCHERS {
            return true;
        }
        let now = self.now;
        let quiet = self
            .timers
            .iter()
            .find(|(_, watcher)| {
                let known = self.watchers.get(watcher);
                known.is_some_and(|known| known.woken + self.intervals.window <= now)
            })
            .map(|(_, watcher)| watcher.clone());
        if let Some(watcher) = &quiet {
            self.forget(watcher);
        }
        quiet.is_some()
    }
}

impl Watcher {
    fn remember(&mut self, opening: OpeningId) {
        match &mut self.window {
            Window::Quiet => self.window = Window::Openings(HashSet::from([opening])),
            Window::Openings(openings) if openings.len() < OPENINGS => {
                openings.insert(opening);
            }
            Window::Openings(_) => self.window = Window::Many,
            Window::Many => {}
        }
    }
}

#[cfg(test)]
mod tests;
