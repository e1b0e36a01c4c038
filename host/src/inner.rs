//! What all clones of an [`Awareness`](crate::Awareness) share, and the wakes that are due without a
//! call.

use std::sync::{Arc, OnceLock, PoisonError, RwLock, Weak};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::alarm::Alarm;
use crate::clock::Clock;
use crate::contract::{Core, Failure, PendingNotice, StorageFailure, StorageFault};
use crate::instance::{Guest, Limits};
use crate::plugin::Plugin;
use crate::queue::Courier;
use crate::readers::Readers;
use crate::upkeep::{ROUND, Upkeep};
use crate::wake::{Answer, Question};
use crate::writer::{Done, Writer};

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
    pub(crate) upkeep: Upkeep,
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
    let mut rest = ROUND;
    while alarm.wait(rest) {
        let Some(inner) = inner.upgrade() else {
            return;
        };
        inner.fire_due();
        inner.tidy();
        rest = inner.upkeep.rest(inner.clock.now());
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
