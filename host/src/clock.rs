//! The time of day, as the core sees it: the system's, or a manual one for replays and tests.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// The largest time there is: 2^53 - 1 ms, so that every language holds it exactly.
pub const LATEST: u64 = (1 << 53) - 1;

/// Where the time comes from, in ms since the Unix epoch, from 0 to [`LATEST`].
#[derive(Clone, Debug)]
pub(crate) enum Clock {
    /// The machine's clock. It may jump, in either direction.
    System,
    /// Stands still until it is moved; shared by all clones.
    Manual(Arc<AtomicU64>),
}

impl Clock {
    /// A clock that stands at this time.
    pub(crate) fn manual(start: u64) -> Self {
        Self::Manual(Arc::new(AtomicU64::new(start.min(LATEST))))
    }

    /// The time now.
    pub(crate) fn now(&self) -> u64 {
        match self {
            // Before 1970 counts as 1970: the protocol knows no negative time.
            Self::System => SystemTime::now()
                .duration_since(UNIX_EPOCH)
                .ok()
                .and_then(|since| u64::try_from(since.as_millis()).ok())
                .unwrap_or(0)
                .min(LATEST),
            Self::Manual(time) => time.load(Ordering::SeqCst),
        }
    }

    /// Whether it can be moved.
    pub(crate) fn is_manual(&self) -> bool {
        matches!(self, Self::Manual(_))
    }

    /// Moves a manual clock, forwards or back. Returns whether this is one.
    pub(crate) fn set(&self, now: u64) -> bool {
        match self {
            Self::System => false,
            Self::Manual(time) => {
                time.store(now.min(LATEST), Ordering::SeqCst);
                true
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manual_clock_stands_until_it_is_moved_and_may_go_back() {
        let clock = Clock::manual(5);
        let other = clock.clone();
        assert_eq!(clock.now(), 5);
        assert!(other.set(90));
        assert_eq!(clock.now(), 90);
        assert!(other.set(7));
        assert_eq!(clock.now(), 7);
    }

    #[test]
    fn a_manual_clock_never_passes_the_latest_time() {
        let clock = Clock::manual(u64::MAX);
        assert_eq!(clock.now(), LATEST);
        clock.set(u64::MAX);
        assert_eq!(clock.now(), LATEST);
    }

    #[test]
    fn the_system_clock_cannot_be_moved() {
        let clock = Clock::System;
        assert!(!clock.set(0));
        assert!(clock.now() > 1_600_000_000_000);
    }
}
