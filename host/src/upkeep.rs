//! Pruning by the hour. Whether it is due is asked of a reader, and only when it can be; so it costs
//! the calls in between nothing, and nobody takes the write lock only to ask.

use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::contract::{Level, Urgency};
use crate::error::Error;
use crate::inner::Inner;

/// The store is looked after at least this often, however the clock moves; and after a failure not
/// before this has passed.
pub(crate) const ROUND: Duration = Duration::from_mins(1);

/// The same in ms.
const ROUND_MS: u64 = 60_000;

/// Most batches of one pruning, of 5,000 events each; the rest waits for the next round.
const PRUNE_BATCHES: u32 = 10_000;

/// What is known of the next prune.
#[derive(Debug, Default)]
pub(crate) struct Upkeep {
    /// At these times, in ms by the clock, none is due.
    quiet: Mutex<Range<u64>>,
}

impl Upkeep {
    /// How long there is nothing to do, a round at most.
    pub(crate) fn rest(&self, now: u64) -> Duration {
        let quiet = self.quiet();
        if quiet.contains(&now) { Duration::from_millis(quiet.end - now).min(ROUND) } else { ROUND }
    }

    /// Whether it has to be asked if a prune is due. Who is told so is the only one for a round.
    fn ask(&self, now: u64) -> bool {
        let mut quiet = self.quiet();
        if quiet.contains(&now) {
            return false;
        }
        *quiet = now..now + ROUND_MS;
        true
    }

    fn set(&self, quiet: Range<u64>) {
        *self.quiet() = quiet;
    }

    /// Nobody else's code runs under the lock, so a poisoned one is whole.
    fn quiet(&self) -> MutexGuard<'_, Range<u64>> {
        self.quiet.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    /// Prunes if it is due.
    pub(crate) fn tidy(&self) {
        let now = self.clock.now();
        if self.writer.is_none() || !self.upkeep.ask(now) {
            return;
        }
        match self.next_prune() {
            Ok(next) if next > now => self.upkeep.set(now..next),
            Ok(_) => {
                if self.prune_all(Urgency::IfDue) {
                    self.upkeep.set(0..0);
                }
            }
            Err(error) => self.log_unpruned(&error),
        }
    }

    /// From when on a prune is due.
    fn next_prune(&self) -> Result<u64, Error> {
        let done =
            self.read(|core, guest| core.headsup_awareness_maintenance().call_next_prune(guest));
        self.courier.deliver(done.effects);
        Ok(done.answer??)
    }

    /// Prunes batch by batch, so that other writers come in between. Returns whether all is done.
    pub(crate) fn prune_all(&self, urgency: Urgency) -> bool {
        for _ in 0..PRUNE_BATCHES {
            let done = self.write(self.limits.long_deadline, move |core, guest| {
                core.headsup_awareness_maintenance().call_prune(guest, urgency)
            });
            self.courier.deliver(done.effects);
            let error: Error = match done.answer {
                Ok(Ok(Some(pruning))) if pruning.more => continue,
                Ok(Ok(_)) => return true,
                Ok(Err(error)) => error.into(),
                Err(failure) => failure.into(),
            };
            self.log_unpruned(&error);
            return false;
        }
        false
    }

    fn log_unpruned(&self, error: &Error) {
        let line = format!("nothing was pruned ({}): {error}", error.reason());
        self.courier.log(Level::Warn, &line);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NEXT: u64 = 1_000_000;

    fn upkeep(quiet: Range<u64>) -> Upkeep {
        Upkeep { quiet: Mutex::new(quiet) }
    }

    #[test]
    fn nobody_asks_before_the_next_prune_can_be_due() {
        let upkeep = upkeep(400..NEXT);
        assert!(!upkeep.ask(400) && !upkeep.ask(NEXT - 1));
        assert!(upkeep.ask(NEXT));
    }

    #[test]
    fn a_clock_that_went_back_has_it_asked_again() {
        assert!(upkeep(400..NEXT).ask(399));
    }

    #[test]
    fn one_asks_and_the_others_leave_it_to_him_for_a_round() {
        let upkeep = Upkeep::default();
        assert!(upkeep.ask(NEXT));
        assert!(!upkeep.ask(NEXT) && !upkeep.ask(NEXT + ROUND_MS - 1));
        assert!(upkeep.ask(NEXT + ROUND_MS));
    }

    #[test]
    fn a_rest_ends_when_the_next_prune_is_due_and_after_a_round_at_the_latest() {
        let upkeep = upkeep(0..NEXT);
        assert_eq!(upkeep.rest(NEXT - 1), Duration::from_millis(1));
        assert_eq!(upkeep.rest(0), ROUND);
        assert_eq!(upkeep.rest(NEXT), ROUND);
    }
}
