//! Where a core writes: its connection and instance, and the transaction of one group of calls.

use std::time::Instant;

use crate::clock::Clock;
use crate::contract::{Failure, StorageFailure, StorageFault};
use crate::instance::{Instance, Limits, Verdict};
use crate::plugin::Plugin;
use crate::storage::Store;
use crate::stores::Stores;

/// The writer's connection and instance. Either may be missing, after a failure, until the next
/// call sets it up.
pub(crate) struct Desk {
    plugin: Plugin,
    clock: Clock,
    limits: Limits,
    stores: Stores,
    instance: Option<Box<Instance>>,
    storage: Option<Store>,
    /// When a call began to wait for the lock that it did not get, and the failure.
    busy: Option<(Instant, StorageFailure)>,
}

impl Desk {
    /// A desk over an open connection; `stores` opens it again when it broke.
    pub(crate) fn new(
        plugin: Plugin,
        clock: Clock,
        limits: Limits,
        stores: Stores,
        storage: Store,
    ) -> Self {
        Self { plugin, clock, limits, stores, instance: None, storage: Some(storage), busy: None }
    }

    /// Serves the calls to come with another core.
    pub(crate) fn switch(&mut self, plugin: Plugin) {
        self.plugin = plugin;
        if let Some(instance) = self.instance.take() {
            self.storage = instance.into_storage();
        }
    }

    /// Begins a transaction for a group whose first call was made then.
    ///
    /// A call that has waited through a whole busy time-out of another one fails with it: else
    /// the last of a hundred waiting calls would wait a hundred times as long.
    pub(crate) fn begin(&mut self, made: Instant) -> Result<Group<'_>, Failure> {
        if let Some((since, failure)) = &self.busy
            && made <= *since
        {
            return Err(Failure::Storage(failure.clone()));
        }
        self.stores.trusted().map_err(Failure::Storage)?;
        let mut instance = self.ready()?;
        let begun = Instant::now();
        // Before the deadline is set: a deadline must not run while this waits for the lock.
        let locked = match instance.storage() {
            Some(storage) => storage.begin_write(),
            None => Err(no_connection()),
        };
        match locked {
            Ok(()) => {
                self.busy = None;
                Ok(Group {
                    desk: self,
                    seat: Seat::Running(instance),
                    kept: 0,
                    broken: None,
                    suspect: None,
                })
            }
            Err(failure) => {
                if failure.fault == StorageFault::Busy {
                    self.busy = Some((begun, failure.clone()));
                }
                self.leave(Seat::Running(instance), Some(&failure));
                Err(Failure::Storage(failure))
            }
        }
    }

    /// An instance over the connection, set up anew where something is missing. Both are out of
    /// the desk until [`leave`](Self::leave), so that a panic meanwhile cannot leave a half-used
    /// one behind.
    fn ready(&mut self) -> Result<Box<Instance>, Failure> {
        if let Some(instance) = self.instance.take() {
            return Ok(instance);
        }
        let storage = match self.storage.take() {
            Some(storage) => storage,
            None => self.stores.writer().map_err(Failure::Storage)?,
        };
        let instance = self.plugin.instantiate(&self.clock, self.limits, Some(storage));
        instance.map(Box::new).map_err(|unstarted| {
            self.storage = unstarted.storage;
            unstarted.failure
        })
    }

    /// Puts back what can be used again. A connection that failed in any other way than being
    /// busy is closed: the next call opens the file anew, and works once the fault is gone.
    fn leave(&mut self, mut seat: Seat, failure: Option<&StorageFailure>) {
        if let Some(doubt) = seat.storage().and_then(|storage| storage.doubt()) {
            self.stores.distrust(doubt);
        }
        let reopen = failure.is_some_and(|failure| failure.fault != StorageFault::Busy)
            && self.stores.can_reopen();
        match seat {
            _ if reopen => {}
            Seat::Running(instance) if instance.is_swollen() => {
                self.storage = instance.into_storage();
            }
            Seat::Running(instance) => self.instance = Some(instance),
            Seat::Stopped(storage) => self.storage = storage,
        }
    }
}

/// Who holds the connection during a group.
enum Seat {
    Running(Box<Instance>),
    /// The instance trapped; its connection was saved.
    Stopped(Option<Store>),
}

impl Seat {
    fn storage(&mut self) -> Option<&mut Store> {
        match self {
            Self::Running(instance) => instance.storage(),
            Self::Stopped(storage) => storage.as_mut(),
        }
    }
}

/// A running transaction.
pub(crate) struct Group<'a> {
    desk: &'a mut Desk,
    seat: Seat,
    /// How many calls so far are to be committed.
    kept: usize,
    /// Why nothing of this transaction can be committed.
    broken: Option<StorageFailure>,
    /// What happened to the connection under a call.
    suspect: Option<StorageFailure>,
}

impl Group<'_> {
    /// Runs one call. Returns whether another one may join.
    ///
    /// While nothing was kept there is nothing to protect, so that the first call needs no
    /// savepoint: undoing it undoes the transaction, and the group ends.
    pub(crate) fn run(&mut self, call: impl FnOnce(&mut Instance) -> Verdict) -> bool {
        let nested = self.kept > 0;
        if nested && !self.storage(Store::savepoint) {
            return false;
        }
        let Seat::Running(instance) = &mut self.seat else {
            return false;
        };
        let verdict = call(instance);
        // A connection that failed under one call is opened anew before it serves the next group.
        let healthy = match instance.state().lost.take() {
            Some(failure) => {
                self.suspect = Some(failure);
                false
            }
            None => verdict != Verdict::Trapped,
        };
        if verdict == Verdict::Trapped {
            self.stop();
        }
        match (verdict, nested) {
            (Verdict::Keep, true) => self.kept += usize::from(self.storage(Store::release)),
            (Verdict::Keep, false) => self.kept += 1,
            (Verdict::Undo | Verdict::Trapped, true) => {
                self.storage(Store::rollback_to);
            }
            (Verdict::Undo | Verdict::Trapped, false) => {}
        }
        healthy && self.broken.is_none() && self.kept > 0
    }

    /// Commits what was kept. On a failure nothing of the group is in the store.
    pub(crate) fn commit(mut self) -> Result<(), Failure> {
        if self.broken.is_none() && self.kept > 0 {
            self.storage(Store::commit);
        }
        if (self.broken.is_some() || self.kept == 0)
            && let Some(storage) = self.seat.storage()
        {
            storage.rollback();
        }
        let Self { desk, seat, broken, suspect, .. } = self;
        desk.leave(seat, broken.as_ref().or(suspect.as_ref()));
        match broken {
            Some(failure) => Err(Failure::Storage(failure)),
            None => Ok(()),
        }
    }

    /// Takes the connection out of an instance that trapped.
    fn stop(&mut self) {
        if let Seat::Running(instance) = std::mem::replace(&mut self.seat, Seat::Stopped(None)) {
            self.seat = Seat::Stopped(instance.into_storage());
        }
    }

    /// Moves the transaction on. If that fails, nothing of it can be committed.
    fn storage(&mut self, step: impl FnOnce(&mut Store) -> Result<(), StorageFailure>) -> bool {
        let done = match self.seat.storage() {
            Some(storage) => step(storage),
            None => Err(no_connection()),
        };
        match done {
            Ok(()) => true,
            Err(failure) => {
                self.broken = Some(failure);
                false
            }
        }
    }
}

fn no_connection() -> StorageFailure {
    StorageFailure {
        fault: StorageFault::Failed,
        message: "the connection to the store was lost; the next call opens it again".into(),
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use crate::tests::CORE;
    use crate::{Actor, Awareness, Signal};

    #[test]
    fn a_writer_that_swelled_is_not_used_again_and_its_connection_is() {
        let awareness = Awareness::builder(":memory:").plugin(CORE.clone()).open().unwrap();
        let kept = || {
            let writer = awareness.inner.writer.as_ref().unwrap();
            writer.stopped(|desk| (desk.instance.is_some(), desk.storage.is_some()))
        };
        let created = |key: &str| awareness.record(Signal::created(key, Actor::system()));
        created("agent:main:main").unwrap();
        assert_eq!(kept(), (true, false));
        created(&"x".repeat(20 << 20)).unwrap_err();
        assert_eq!(kept(), (false, true));
    }

    #[test]
    fn who_waited_through_the_time_out_of_another_fails_with_it_and_who_comes_later_does_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store.db");
        let builder = Awareness::builder(&path).plugin(CORE.clone());
        let awareness = builder.busy_timeout(Duration::from_millis(10)).open().unwrap();
        let begins = |made| {
            let writer = awareness.inner.writer.as_ref().unwrap();
            writer.stopped(|desk| desk.begin(made).map(drop))
        };
        let other = rusqlite::Connection::open(&path).unwrap();
        other.execute_batch("BEGIN IMMEDIATE").unwrap();
        let before = Instant::now();
        begins(Instant::now()).unwrap_err();
        other.execute_batch("ROLLBACK").unwrap();
        begins(before).unwrap_err();
        begins(Instant::now()).unwrap();
    }
}
