//! The wake policy on a clock: shared by the calls that open notices and by the thread that looks
//! again when a timer is due.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::clock::Clock;
use crate::wake::{Answer, Intervals, OpeningId, Question, Wakes};

/// Timers and who waits for them.
pub(crate) struct Alarm {
    state: Mutex<State>,
    changed: Condvar,
    time: Time,
}

struct State {
    wakes: Wakes,
    stopped: bool,
}

/// What timers run by, in ms.
pub(crate) enum Time {
    /// The time since this moment, which no change of the machine's clock moves: a wake is neither
    /// early nor late because somebody set the clock.
    Elapsed(Instant),
    /// A manual clock.
    Manual(Clock),
}

impl Time {
    /// What timers run by that belong to this clock.
    pub(crate) fn of(clock: &Clock) -> Self {
        match clock {
            Clock::System => Self::Elapsed(Instant::now()),
            Clock::Manual(_) => Self::Manual(clock.clone()),
        }
    }

    pub(crate) fn now(&self) -> u64 {
        match self {
            Self::Elapsed(start) => u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX),
            Self::Manual(clock) => clock.now(),
        }
    }
}

impl Alarm {
    pub(crate) fn new(clock: &Clock, intervals: Intervals) -> Self {
        let time = Time::of(clock);
        let state = Mutex::new(State { wakes: Wakes::new(intervals), stopped: false });
        Self { state, changed: Condvar::new(), time }
    }

    /// A notice opened that may wake its watcher. Returns whether to wake it now.
    pub(crate) fn opened(&self, watcher: &str, opening: OpeningId) -> bool {
        let mut state = self.lock();
        let before = state.wakes.next();
        let now = self.time.now();
        let wake = state.wakes.opened(watcher, opening, now);
        if state.wakes.next() != before {
            self.changed.notify_all();
        }
        wake
    }

    /// A timer that is due, if there is one.
    pub(crate) fn due(&self) -> Option<Question> {
        let mut state = self.lock();
        let now = self.time.now();
        state.wakes.due(now)
    }

    /// Answers what [`due`](Self::due) asked. Returns whether to wake the watcher now.
    pub(crate) fn answer(&self, watcher: &str, answer: Answer) -> bool {
        let mut state = self.lock();
        let now = self.time.now();
        state.wakes.answer(watcher, answer, now)
    }

    /// Waits until a timer is due, or this long. Returns false once it was stopped.
    pub(crate) fn wait(&self, at_most: Duration) -> bool {
        let end = Instant::now() + at_most;
        let mut state = self.lock();
        while !state.stopped {
            let timer = match state.wakes.next() {
                Some(due) => Duration::from_millis(due.saturating_sub(self.time.now())),
                None => at_most,
            };
            let left = timer.min(end.saturating_duration_since(Instant::now()));
            if left.is_zero() {
                return true;
            }
            (state, _) =
                self.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner);
        }
        false
    }

    /// Ends the waiting.
    pub(crate) fn stop(&self) {
        self.lock().stopped = true;
        self.changed.notify_all();
    }

    /// The lock is never held while anybody else's code runs, so a poisoned one is whole.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
