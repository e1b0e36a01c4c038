//! What all clones of an [`Awareness`](crate::Awareness) share, and what is due without a call.

use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock, Weak};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::alarm::Alarm;
use crate::checks::Checks;
use crate::clock::Clock;
use crate::contract::{Core, Failure, PendingNotice, StorageFailure, StorageFault};
use crate::instance::{Guest, Limits};
use crate::monitor::Monitor;
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
    /// Stands after the writer and the readers, so that it is dropped after them: who waits for the
    /// end of the listener finds the file released.
    pub(crate) courier: Courier,
    pub(crate) alarm: Arc<Alarm>,
    pub(crate) upkeep: Upkeep,
    pub(crate) checks: Arc<Checks>,
    /// Present where adopted sessions are checked without being asked to.
    pub(crate) monitor: Option<Arc<Monitor>>,
    pub(crate) threads: Mutex<Vec<JoinHandle<()>>>,
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

    /// Starts the threads that fire timers by the system's clock. They end with the last clone.
    pub(crate) fn start_threads(self: &Arc<Self>) -> std::io::Result<()> {
        let (alarm, inner) = (Arc::clone(&self.alarm), Arc::downgrade(self));
        self.start("headsup-wakes", move || schedule(&alarm, &inner))?;
        if let Some(monitor) = self.monitor.clone() {
            let (checks, inner) = (Arc::clone(&self.checks), Arc::downgrade(self));
            self.start("headsup-monitor", move || monitor.keep_watch(&inner, &checks))?;
        }
        Ok(())
    }

    fn start(&self, name: &str, run: impl FnOnce() + Send + 'static) -> std::io::Result<()> {
        let handle = thread::Builder::new().name(name.into()).spawn(run)?;
        self.threads.lock().unwrap_or_else(PoisonError::into_inner).push(handle);
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
        self.checks.stop();
        if let Some(monitor) = &self.monitor {
            monitor.stop();
        }
        let threads = self.threads.get_mut().unwrap_or_else(PoisonError::into_inner);
        for thread in threads.drain(..) {
            // The last clone may be one of theirs: a thread does not wait for itself.
            if thread.thread().id() != thread::current().id() {
                let _ = thread.join();
            }
        }
    }
}
