//! What all clones of an [`Awareness`](crate::Awareness) share, and what happens without a call:
//! wakes that are due, and pruning by the hour.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, PoisonError, RwLock, Weak};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::alarm::Alarm;
use crate::clock::Clock;
use crate::contract::{Core, Failure, Level, PendingNotice, StorageFailure, StorageFault, Urgency};
use crate::instance::{Guest, Limits};
use crate::plugin::Plugin;
use crate::queue::Courier;
use crate::readers::Readers;
use crate::wake::{Answer, Question};
use crate::writer::{Done, Writer};

/// How often, in ms, it is looked whether an hour has passed since the last prune.
const TIDY_EVERY: u64 = 10_000;

/// Most batches of one pruning, of 5,000 events each; the rest waits for the next hour.
const PRUNE_BATCHES: u32 = 10_000;

/// Everything behind an `Awareness`.
pub(crate) struct Inner {
    /// Absent in a store that was opened to be looked at.
    pub(crate) writer: Option<Writer>,
    /// Absent where the store lives in one connection; the writer reads then.
    pub(crate) readers: Option<Readers>,
    pub(crate) plugin: RwLock<Plugin>,
    /// Words failures if the plugin cannot; loaded when it is needed.
    pub(crate) fallback: OnceLock<Option<Plugin>>,
    pub(crate) clock: Clock,
    pub(crate) limits: Limits,
    /// Longest JSON request, in bytes.
    pub(crate) request_limit: usize,
    pub(crate) courier: Courier,
    pub(crate) alarm: Arc<Alarm>,
    /// When `tidy` last looked, by the clock.
    pub(crate) tidied: AtomicU64,
    pub(crate) scheduler: OnceLock<JoinHandle<()>>,
}

impl Inner {
    /// The core that serves now.
    pub(crate) fn plugin(&self) -> Plugin {
        let plugin = self.plugin.read().unwrap_or_else(PoisonError::into_inner);
        plugin.clone()
    }

    /// Runs a call on a snapshot.
    pub(crate) fn read<T, E>(
        &self,
        body: impl FnOnce(&Core, Guest) -> wasmtime::Result<Result<T, E>> + Send + 'static,
    ) -> Done<T, E>
    where
        T: Send + 'static,
        E: Send + 'static,
    {
        match &self.readers {
            Some(readers) => readers.run(body),
            None => self.write(self.limits.deadline, body),
        }
    }

    /// Runs a call in a transaction that can write.
    pub(crate) fn write<T, E>(
        &self,
        deadline: Duration,
        body: impl FnOnce(&Core, Guest) -> wasmtime::Result<Result<T, E>> + Send + 'static,
    ) -> Done<T, E>
    where
        T: Send + 'static,
        E: Send + 'static,
    {
        match &self.writer {
            Some(writer) => writer.run(deadline, body),
            None => Done::failed(Failure::Storage(StorageFailure {
                fault: StorageFault::ReadOnly,
                message: "the store was opened read-only: open it for writing".into(),
            })),
        }
    }

    /// Fires every timer that is due, each once.
    pub(crate) fn fire_due(&self) {
        while let Some(question) = self.alarm.due() {
            let answer = self.ask(&question);
            if self.alarm.answer(&question.watcher, answer) {
                self.courier.wake(&question.watcher);
            }
        }
    }

    /// Looks whether a notice is pending that justifies a wake.
    fn ask(&self, question: &Question) -> Answer {
        let watcher = question.watcher.clone();
        let done = self.read(move |core, guest| {
            core.headsup_awareness_notices().call_pending_of(guest, &watcher)
        });
        self.courier.deliver(done.effects);
        let counts = |pending: &PendingNotice| {
            let notice = &pending.notice;
            pending.wakes
                && question.any_of.as_ref().is_none_or(|openings| {
                    let target = &notice.target;
                    openings.contains(&(target.key.clone(), target.agent.clone(), notice.since))
                })
        };
        match done.answer {
            Ok(Ok(pending)) if pending.iter().any(counts) => Answer::Pending,
            Ok(Ok(_)) => Answer::Settled,
            Ok(Err(_)) | Err(_) => Answer::Unknown,
        }
    }

    /// Prunes if it is due; looks at most every few seconds.
    pub(crate) fn tidy(&self) {
        let now = self.clock.now();
        let last = self.tidied.load(Ordering::Relaxed);
        if now.abs_diff(last) < TIDY_EVERY || self.writer.is_none() {
            return;
        }
        self.tidied.store(now, Ordering::Relaxed);
        self.prune_all(Urgency::IfDue);
    }

    /// Prunes batch by batch, so that other writers come in between.
    pub(crate) fn prune_all(&self, urgency: Urgency) {
        for _ in 0..PRUNE_BATCHES {
            let done = self.write(self.limits.long_deadline, move |core, guest| {
                core.headsup_awareness_maintenance().call_prune(guest, urgency)
            });
            self.courier.deliver(done.effects);
            let error: crate::Error = match done.answer {
                Ok(Ok(Some(pruning))) if pruning.more => continue,
                Ok(Ok(_)) => return,
                Ok(Err(error)) => error.into(),
                Err(failure) => failure.into(),
            };
            let reason = error.reason();
            let line = format!("nothing was pruned ({reason}): {error}");
            return self.courier.log(Level::Warn, &line);
        }
    }

    /// Starts the thread that fires timers by the system's clock. It ends with the last clone.
    pub(crate) fn start_scheduler(self: &Arc<Self>) -> std::io::Result<()> {
        let alarm = Arc::clone(&self.alarm);
        let inner = Arc::downgrade(self);
        let handle = thread::Builder::new()
            .name("headsup-wakes".into())
            .spawn(move || schedule(&alarm, &inner))?;
        // Set once, by the builder.
        let _ = self.scheduler.set(handle);
        Ok(())
    }
}

fn schedule(alarm: &Alarm, inner: &Weak<Inner>) {
    while alarm.wait() {
        let Some(inner) = inner.upgrade() else {
            return;
        };
        inner.fire_due();
        inner.tidy();
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.alarm.stop();
        let Some(scheduler) = self.scheduler.take() else {
            return;
        };
        // The last clone may be the scheduler's own: a thread does not wait for itself.
        if scheduler.thread().id() != thread::current().id() {
            let _ = scheduler.join();
        }
    }
}
