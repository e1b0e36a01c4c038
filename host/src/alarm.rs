//! The wake policy on a clock: shared by the calls that open notices and by the thread that looks
//! again when a timer is due.

use std::time::Duration;

use crate::clock::Clock;
use crate::timed::Timed;
use crate::wake::{Answer, Intervals, OpeningId, Question, Wakes};

/// Timers and who waits for them.
pub(crate) struct Alarm {
    wakes: Timed<Wakes>,
}

impl Alarm {
    pub(crate) fn new(clock: &Clock, intervals: Intervals) -> Self {
        Self { wakes: Timed::new(clock, |_| Wakes::new(intervals)) }
    }

    /// A notice opened that may wake its watcher. Returns whether to wake it now.
    pub(crate) fn opened(&self, watcher: &str, opening: OpeningId) -> bool {
        let (wake, sooner) = self.wakes.with(|wakes, now| {
            let before = wakes.next();
            let wake = wakes.opened(watcher, opening, now);
            (wake, wakes.next() != before)
        });
        if sooner {
            self.wakes.hurry();
        }
        wake
    }

    /// A timer that is due, if there is one.
    pub(crate) fn due(&self) -> Option<Question> {
        self.wakes.with(Wakes::due)
    }

    /// Answers what [`due`](Self::due) asked. Returns whether to wake the watcher now.
    pub(crate) fn answer(&self, watcher: &str, answer: Answer) -> bool {
        self.wakes.with(|wakes, now| wakes.answer(watcher, answer, now))
    }

    /// Waits until a timer is due, or this long. Returns false once it was stopped.
    pub(crate) fn wait(&self, at_most: Duration) -> bool {
        self.wakes.wait(at_most, |wakes, now| wakes.next().map(|due| due.saturating_sub(now)))
    }

    /// Ends the waiting.
    pub(crate) fn stop(&self) {
        self.wakes.stop();
    }
}
