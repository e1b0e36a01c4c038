//! Readers beside the writer: a pool of connections, each with an instance of the core. A read runs
//! on its caller's thread, on one snapshot, and never queues behind a writer.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use crate::clock::Clock;
use crate::contract::{Core, Failure, StorageFailure};
use crate::instance::{Guest, Instance, Limits, Verdict};
use crate::plugin::Plugin;
use crate::storage::Store;
use crate::stores::Stores;
use crate::writer::Done;

/// At most so many reads at once; others wait for one of them to end.
pub(crate) struct Readers {
    clock: Clock,
    limits: Limits,
    stores: Stores,
    most: usize,
    pool: Mutex<Pool>,
    returned: Condvar,
}

struct Pool {
    plugin: Plugin,
    idle: Vec<Instance>,
    /// How many are in use.
    out: usize,
    /// Nobody may begin, until all are idle and another core serves.
    switching: bool,
}

impl Readers {
    /// A pool that opens connections when they are needed.
    pub(crate) fn new(
        plugin: Plugin,
        clock: Clock,
        limits: Limits,
        stores: Stores,
        most: usize,
    ) -> Self {
        Self {
            clock,
            limits,
            stores,
            most: most.max(1),
            pool: Mutex::new(Pool { plugin, idle: Vec::new(), out: 0, switching: false }),
            returned: Condvar::new(),
        }
    }

    /// Runs a call on one snapshot.
    pub(crate) fn run<T, E>(
        &self,
        body: impl FnOnce(&Core, Guest) -> wasmtime::Result<Result<T, E>>,
    ) -> Done<T, E> {
        if let Err(failure) = self.stores.trusted() {
            return Done::failed(Failure::Storage(failure));
        }
        let mut seat = match self.sit_down() {
            Ok(seat) => seat,
            Err(failure) => return Done::failed(failure),
        };
        let Some(mut instance) = seat.instance.take() else {
            return Done::failed(Failure::Trap("no reader".into()));
        };
        if let Err(failure) = begin(&mut instance) {
            return Done::failed(Failure::Storage(failure));
        }
        let (answer, verdict) = instance.transact(self.limits.deadline, body);
        let effects = instance.take_effects().rolled_back();
        let healthy = verdict != Verdict::Trapped && instance.state().lost.is_none();
        // An instance that trapped or swelled, or a connection that failed, is not used again.
        if healthy {
            end(&mut instance);
            seat.instance = Some(instance).filter(|instance| !instance.is_swollen());
        }
        Done { answer, effects }
    }

    /// Serves the reads to come with another core, once all that run have ended.
    pub(crate) fn switch(&self, plugin: Plugin) {
        let mut pool = self.pool();
        pool.switching = true;
        while pool.out > 0 {
            pool = self.wait(pool);
        }
        pool.idle.clear();
        pool.plugin = plugin;
        pool.switching = false;
        drop(pool);
        self.returned.notify_all();
    }

    /// Takes an idle instance, or makes one, or waits.
    fn sit_down(&self) -> Result<Seat<'_>, Failure> {
        let mut pool = self.pool();
        while pool.switching || pool.idle.is_empty() && pool.out >= self.most {
            pool = self.wait(pool);
        }
        pool.out += 1;
        let mut seat = Seat { readers: self, instance: pool.idle.pop() };
        if seat.instance.is_none() {
            let plugin = pool.plugin.clone();
            drop(pool);
            seat.instance = Some(self.open(&plugin)?);
        }
        Ok(seat)
    }

    fn open(&self, plugin: &Plugin) -> Result<Instance, Failure> {
        let storage = self.stores.reader().map_err(Failure::Storage)?;
        let instance = plugin.instantiate(&self.clock, self.limits, Some(storage));
        instance.map_err(|unstarted| unstarted.failure)
    }

    fn wait<'a>(&self, pool: MutexGuard<'a, Pool>) -> MutexGuard<'a, Pool> {
        self.returned.wait(pool).unwrap_or_else(PoisonError::into_inner)
    }

    /// Nobody else's code runs under the lock, so a poisoned one is whole.
    fn pool(&self) -> MutexGuard<'_, Pool> {
        self.pool.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A place among the readers, given back however the call ends.
struct Seat<'a> {
    readers: &'a Readers,
    instance: Option<Instance>,
}

impl Drop for Seat<'_> {
    fn drop(&mut self) {
        let mut pool = self.readers.pool();
        pool.out -= 1;
        pool.idle.extend(self.instance.take());
        drop(pool);
        // All: a switch may wait beside other reads.
        self.readers.returned.notify_all();
    }
}

/// Before the deadline is set: opening a snapshot may have to wait for a recovery of the file.
fn begin(instance: &mut Instance) -> Result<(), StorageFailure> {
    instance.storage().map_or(Ok(()), Store::begin_read)
}

fn end(instance: &mut Instance) {
    if let Some(storage) = instance.storage() {
        storage.rollback();
    }
}

#[cfg(test)]
mod tests {
    use crate::Awareness;
    use crate::tests::CORE;

    #[test]
    fn a_reader_that_swelled_is_not_used_again() {
        let folder = tempfile::tempdir().unwrap();
        let builder = Awareness::builder(folder.path().join("store.db")).plugin(CORE.clone());
        let awareness = builder.open().unwrap();
        let idle = || awareness.inner.readers.as_ref().unwrap().pool().idle.len();
        awareness.take("agent:main:main").unwrap();
        assert_eq!(idle(), 1);
        awareness.take(&"x".repeat(20 << 20)).unwrap_err();
        assert_eq!(idle(), 0);
    }
}
