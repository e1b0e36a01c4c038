//! Delivery: what a committed call opened and logged goes to the listener, on the thread of the
//! call that caused it and before that call returns.
//!
//! The queue of this host is its listener. Nothing is kept here, so nothing can fill up or be lost:
//! pending notices are always listed from the cursors.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use crate::alarm::Alarm;
use crate::contract::{Delivery, Level, Notice, Opening};
use crate::effects::{Effects, Line};

/// Hears what happens. Every function has a default that does nothing.
///
/// A listener is called on the thread of the call that caused the news, after its transaction
/// committed and before it returns; later wakes, and what the monitor of adopted sessions finds,
/// come from threads of the host's own. It may call
/// the same [`Awareness`](crate::Awareness) again. If it panics, that is its own loss: the call
/// returns as if nothing had happened.
pub trait Listener: Send + Sync {
    /// A notice opened for a watcher, or recovery found it pending.
    fn notice(&self, watcher: &str, notice: &Notice) {
        let _ = (watcher, notice);
    }

    /// A watcher should run: it has a notice pending. At most once in 20 s for each watcher.
    fn wake(&self, watcher: &str) {
        let _ = watcher;
    }

    /// Something for the operator: what best-effort recording could not do, or what the core has
    /// to say. One line, never message content.
    fn log(&self, level: Level, message: &str) {
        let _ = (level, message);
    }
}

/// Writes the log to `tracing` and ignores notices and wakes; what an
/// [`Awareness`](crate::Awareness) uses unless it is given a listener.
#[derive(Clone, Copy, Debug, Default)]
pub struct TracingListener;

impl Listener for TracingListener {
    fn log(&self, level: Level, message: &str) {
        match level {
            Level::Error => tracing::error!("{message}"),
            Level::Warn => tracing::warn!("{message}"),
            Level::Info => tracing::info!("{message}"),
            Level::Debug => tracing::debug!("{message}"),
        }
    }
}

/// Several listeners as one. Each hears everything, in this order, and one that panics keeps the
/// news from those after it.
#[derive(Clone)]
pub struct Listeners(pub Vec<Arc<dyn Listener>>);

impl Listener for Listeners {
    fn notice(&self, watcher: &str, notice: &Notice) {
        self.0.iter().for_each(|listener| listener.notice(watcher, notice));
    }

    fn wake(&self, watcher: &str) {
        self.0.iter().for_each(|listener| listener.wake(watcher));
    }

    fn log(&self, level: Level, message: &str) {
        self.0.iter().for_each(|listener| listener.log(level, message));
    }
}

/// Where effects go.
pub(crate) struct Courier {
    listener: Arc<dyn Listener>,
    alarm: Arc<Alarm>,
}

impl Courier {
    pub(crate) fn new(listener: Arc<dyn Listener>, alarm: Arc<Alarm>) -> Self {
        Self { listener, alarm }
    }

    /// Delivers what a call left behind, in its order: log lines, then notices, each followed by
    /// the wake it causes.
    pub(crate) fn deliver(&self, effects: Effects) {
        let (lines, openings) = effects.into_parts();
        for Line { level, message } in lines {
            self.log(level, &message);
        }
        for opening in openings {
            self.open(opening);
        }
    }

    fn open(&self, opening: Opening) {
        let Opening { watcher, notice, delivery } = opening;
        if delivery != Delivery::Wake {
            self.tell(|listener| listener.notice(&watcher, &notice));
        }
        if delivery != Delivery::Announce {
            let id = (notice.target.key, notice.target.agent, notice.since);
            if self.alarm.opened(&watcher, id) {
                self.wake(&watcher);
            }
        }
    }

    pub(crate) fn wake(&self, watcher: &str) {
        self.tell(|listener| listener.wake(watcher));
    }

    pub(crate) fn log(&self, level: Level, message: &str) {
        self.tell(|listener| listener.log(level, message));
    }

    fn tell(&self, news: impl FnOnce(&dyn Listener)) {
        // The panic hook has reported it; the state behind a listener is its own.
        let _ = catch_unwind(AssertUnwindSafe(|| news(&*self.listener)));
    }
}
