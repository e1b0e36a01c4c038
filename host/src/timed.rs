//! What has a time to come: a state under a lock, the clock it goes by, and the wait of the thread that
//! looks after it.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::clock::Clock;

/// A state whose next moment a thread waits for.
pub(crate) struct Timed<T> {
    state: Mutex<State<T>>,
    changed: Condvar,
    time: Time,
}

struct State<T> {
    value: T,
    stopped: bool,
}

/// What timers run by, in ms.
enum Time {
    /// The time since this moment, which no change of the machine's clock moves: a timer is neither
    /// early nor late because somebody set the clock.
    Elapsed(Instant),
    /// A manual clock.
    Manual(Clock),
}

impl Time {
    fn of(clock: &Clock) -> Self {
        match clock {
            Clock::System => Self::Elapsed(Instant::now()),
            Clock::Manual(_) => Self::Manual(clock.clone()),
        }
    }

    fn now(&self) -> u64 {
        match self {
            Self::Elapsed(start) => u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX),
            Self::Manual(clock) => clock.now(),
        }
    }
}

impl<T> Timed<T> {
    /// A state that is made at this time, in ms by its own clock.
    pub(crate) fn new(clock: &Clock, make: impl FnOnce(u64) -> T) -> Self {
        let time = Time::of(clock);
        let state = Mutex::new(State { value: make(time.now()), stopped: false });
        Self { state, changed: Condvar::new(), time }
    }

    /// Runs with the state, and the time in ms by its clock.
    pub(crate) fn with<R>(&self, act: impl FnOnce(&mut T, u64) -> R) -> R {
        let mut state = self.lock();
        act(&mut state.value, self.time.now())
    }

    /// Lets the thread that waits look again at how long that is.
    pub(crate) fn hurry(&self) {
        self.changed.notify_all();
    }

    /// Waits this long, or until the state need rest no longer: it says for how many ms, or that it
    /// waits for nothing. Returns false once it was stopped.
    pub(crate) fn wait(&self, at_most: Duration, rest: impl Fn(&T, u64) -> Option<u64>) -> bool {
        let start = Instant::now();
        let mut state = self.lock();
        while !state.stopped {
            let left = at_most.saturating_sub(start.elapsed());
            let left = match rest(&state.value, self.time.now()) {
                Some(rest) => left.min(Duration::from_millis(rest)),
                None => left,
            };
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

    /// What runs under the lock is this crate's own and leaves the state whole, so a poisoned one is.
    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
