//! The monitor of adopted sessions: a timer that lets a round of checks run. Which sessions are due in
//! it, over all processes of a store, the core decides.

use std::sync::Weak;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::Error;
use crate::checks::Checks;
use crate::clock::Clock;
use crate::contract::Selection;
use crate::inner::Inner;
use crate::storage::Store;
use crate::timed::Timed;

/// When the monitor looks, in ms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rhythm {
    /// After opening, for the first time.
    pub(crate) first: u64,
    /// After that, this often.
    pub(crate) interval: u64,
}

impl Default for Rhythm {
    fn default() -> Self {
        Self { first: 15_000, interval: 60_000 }
    }
}

/// When to look next: pure, over times in ms.
#[derive(Debug)]
struct Timer {
    rhythm: Rhythm,
    due: u64,
}

impl Timer {
    fn new(rhythm: Rhythm, now: u64) -> Self {
        Self { rhythm, due: now.saturating_add(rhythm.first) }
    }

    /// Whether it is time to look. Who is told so is the only one until the next time.
    fn take(&mut self, now: u64) -> bool {
        // A clock that went back does not make for a silence as long as the jump.
        self.due = self.due.min(now.saturating_add(self.rhythm.first.max(self.rhythm.interval)));
        if now < self.due {
            return false;
        }
        self.due = now.saturating_add(self.rhythm.interval);
        true
    }

    fn rest(&self, now: u64) -> u64 {
        self.due.saturating_sub(now)
    }
}

/// The timer on a clock, and who waits for it.
pub(crate) struct Monitor {
    timer: Timed<Timer>,
    /// Whether the last round failed: that is said once.
    failing: AtomicBool,
}

impl Monitor {
    pub(crate) fn new(clock: &Clock, rhythm: Rhythm) -> Self {
        let timer = Timed::new(clock, |now| Timer::new(rhythm, now));
        Self { timer, failing: AtomicBool::new(false) }
    }

    /// Checks what is due, if it is time to look; once, however late it is.
    pub(crate) fn fire(&self, inner: &Weak<Inner>, checks: &Checks) {
        if !self.timer.with(Timer::take) {
            return;
        }
        let failed = check(inner, checks).err();
        let known = self.failing.swap(failed.is_some(), Ordering::Relaxed);
        if let (Some(error), false, Some(inner)) = (failed, known, inner.upgrade()) {
            inner.log_unchecked(&error);
        }
    }

    /// Looks whenever it is time, until it is stopped.
    pub(crate) fn keep_watch(&self, inner: &Weak<Inner>, checks: &Checks) {
        while self.timer.wait(Duration::MAX, |timer, now| Some(timer.rest(now))) {
            self.fire(inner, checks);
        }
    }

    /// Ends the waiting.
    pub(crate) fn stop(&self) {
        self.timer.stop();
    }
}

/// Checks what is due. Where nothing is adopted nobody takes the write lock to find that out.
fn check(inner: &Weak<Inner>, checks: &Checks) -> Result<(), Error> {
    let adopted = match inner.upgrade() {
        Some(inner) => inner.look(Store::has_links)?,
        None => false,
    };
    if adopted {
        checks.run(inner, Selection::Due)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const RHYTHM: Rhythm = Rhythm { first: 15_000, interval: 60_000 };

    #[test]
    fn the_first_look_is_after_15_s_and_then_one_a_minute() {
        let mut timer = Timer::new(RHYTHM, 1_000);
        assert!(!timer.take(15_999));
        assert!(timer.take(16_000));
        assert!(!timer.take(16_000) && !timer.take(75_999));
        assert!(timer.take(76_000));
    }

    #[test]
    fn however_late_it_is_there_is_one_look() {
        let mut timer = Timer::new(RHYTHM, 0);
        assert!(timer.take(10_000_000));
        assert!(!timer.take(10_000_000));
        assert_eq!(timer.rest(10_000_000), 60_000);
    }

    #[test]
    fn a_clock_that_went_back_makes_for_no_long_silence() {
        let mut timer = Timer::new(RHYTHM, 1_000_000);
        assert!(timer.take(1_015_000));
        assert!(!timer.take(10));
        assert!(!timer.take(60_009));
        assert!(timer.take(60_010));
    }
}
