//! The typed API that a gateway in Rust uses: one function for each export of the core.

use std::sync::Arc;
use std::time::Duration;

use crate::builder::Builder;
use crate::contract::{
    self, Acknowledgement, Core, Delta, Drained, Metadata, Notice, PendingCount, PendingNotice,
    Policy, Pruning, Receipt, Recovery, Removal, SessionRef, Signal, Urgency, WatchAnswer,
    WatchEntry,
};
use crate::error::Error;
use crate::inner::Inner;
use crate::instance::Guest;
use crate::recording::{Recording, outcome};
use crate::writer::Done;

/// What a typed call answers inside the instance.
type Answer<T> = wasmtime::Result<Result<T, contract::Error>>;

/// Session state awareness over one store: signals go in, notices and exact deltas come out.
///
/// Cheap to clone; clones share everything, and any thread may call. Several processes may open the
/// same file. Every call is one transaction: it is committed when the call returns `Ok`, and has
/// changed nothing when it returns an error.
///
/// ```
/// use headsup::{Actor, Awareness, Recording, Signal};
///
/// let awareness = Awareness::builder(":memory:").open()?;
/// let child = "agent:main:subagent:child";
/// awareness.watch("agent:main:main", child, false)?;
///
/// let signal = Signal::human_direct_message(child, Actor::human()).channel("telegram");
/// assert_eq!(awareness.record(signal)?, Recording::Recorded(1));
///
/// let drained = awareness.drain("agent:main:main")?;
/// assert_eq!(drained.notices.len(), 1);
/// let delta = awareness.changes_since(child, drained.notices[0].since, None)?;
/// assert_eq!(delta.events[0].summary, "human message via telegram");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Awareness {
    pub(crate) inner: Arc<Inner>,
}

impl Awareness {
    /// Starts to describe how a store is opened. `path` names the file, which is created with its
    /// folders if it is not there; `:memory:` is a store that lives as long as this value.
    pub fn builder(path: impl AsRef<std::path::Path>) -> Builder {
        Builder::new(path.as_ref())
    }

    /// Records a signal. Best effort: whatever is wrong with the store or the core is an outcome,
    /// which was logged, so that recording never fails the turn that caused it.
    ///
    /// # Errors
    /// [`Error::Invalid`] if the signal itself is refused; nothing was written.
    pub fn record(&self, signal: Signal) -> Result<Recording, Error> {
        let what = signal.session.key.clone();
        let done = self.inner.write(self.inner.limits.deadline, move |core, guest| {
            core.headsup_awareness_signals().call_record(guest, &signal)
        });
        match self.conclude(done) {
            Ok(recorded) => Ok(outcome(recorded)),
            Err(refused @ Error::Invalid(_)) => Err(refused),
            Err(error) => Ok(self.inner.unrecorded(&what, &error)),
        }
    }

    /// Records at most 1,000 signals in one transaction, in order, all or none; the outcomes in the
    /// same order. Best effort, as [`record`](Self::record).
    ///
    /// # Errors
    /// [`Error::Invalid`] if one of the signals is refused; none was written.
    pub fn record_many(&self, signals: Vec<Signal>) -> Result<Vec<Recording>, Error> {
        let count = signals.len();
        let what = format!("{count} sessions");
        let done = self.inner.write(self.inner.limits.deadline, move |core, guest| {
            core.headsup_awareness_signals().call_record_many(guest, &signals)
        });
        match self.conclude(done) {
            Ok(outcomes) => Ok(outcomes.into_iter().map(outcome).collect()),
            Err(refused @ Error::Invalid(_)) => Err(refused),
            Err(error) => Ok(vec![self.inner.unrecorded(&what, &error); count]),
        }
    }

    /// Starts watching a session at its current version: earlier history never notifies. A live
    /// watch keeps its positions and is renewed. `ambient` watches never wake. Answers *not
    /// watchable*, with the reason, for watchers that cannot hold a cursor.
    pub fn watch(
        &self,
        watcher: &str,
        target: impl Into<SessionRef>,
        ambient: bool,
    ) -> Result<WatchAnswer, Error> {
        let (watcher, target) = (watcher.to_owned(), target.into());
        self.write(move |core, guest| {
            core.headsup_awareness_watches().call_watch(guest, &watcher, &target, ambient)
        })
    }

    /// Ends a watch and leaves a mark, so that producers do not bring it back. Returns whether a
    /// live watch ended.
    pub fn unwatch(&self, watcher: &str, target: impl Into<SessionRef>) -> Result<bool, Error> {
        let (watcher, target) = (watcher.to_owned(), target.into());
        self.write(move |core, guest| {
            core.headsup_awareness_watches().call_unwatch(guest, &watcher, &target)
        })
    }

    /// The live watches of a watcher, by target key, then agent.
    pub fn watches_of(&self, watcher: &str) -> Result<Vec<WatchEntry>, Error> {
        let watcher = watcher.to_owned();
        self.read(move |core, guest| {
            core.headsup_awareness_watches().call_of_watcher(guest, &watcher)
        })
    }

    /// The live watches on a session, by watcher.
    pub fn watchers_of(&self, target: impl Into<SessionRef>) -> Result<Vec<WatchEntry>, Error> {
        let target = target.into();
        self.read(move |core, guest| {
            core.headsup_awareness_watches().call_on_target(guest, &target)
        })
    }

    /// The pending notices of a watcher, by `up_to`. Shows them and changes nothing: acknowledge
    /// them once a turn really carries them.
    ///
    /// ```
    /// # use headsup::{Actor, Awareness, Signal};
    /// # let awareness = Awareness::builder(":memory:").open()?;
    /// # awareness.watch("agent:main:main", "agent:main:w", false)?;
    /// # awareness.record(Signal::human_direct_message("agent:main:w", Actor::human()))?;
    /// let notices = awareness.take("agent:main:main")?;
    /// // ... the turn that carries `notices[..].text` begins ...
    /// let outcome = awareness.acknowledge("agent:main:main", &notices)?;
    /// assert_eq!(outcome.acknowledged, 1);
    /// # Ok::<(), headsup::Error>(())
    /// # ;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn take(&self, watcher: &str) -> Result<Vec<Notice>, Error> {
        let watcher = watcher.to_owned();
        self.read(move |core, guest| core.headsup_awareness_notices().call_take(guest, &watcher))
    }

    /// The same, with whether each may wake its watcher; for gateways with a scheduler of their
    /// own.
    pub fn pending_of(&self, watcher: &str) -> Result<Vec<PendingNotice>, Error> {
        let watcher = watcher.to_owned();
        self.read(move |core, guest| {
            core.headsup_awareness_notices().call_pending_of(guest, &watcher)
        })
    }

    /// Acknowledges taken notices, at most 1,000. Late and repeated ones are ignored. What changed
    /// since a notice was taken opens a new one.
    pub fn acknowledge(
        &self,
        watcher: &str,
        notices: impl IntoIterator<Item = impl Into<Receipt>>,
    ) -> Result<Acknowledgement, Error> {
        let watcher = watcher.to_owned();
        let receipts: Vec<Receipt> = notices.into_iter().map(Into::into).collect();
        self.write(move |core, guest| {
            core.headsup_awareness_notices().call_acknowledge(guest, &watcher, &receipts)
        })
    }

    /// Takes and acknowledges in one transaction.
    pub fn drain(&self, watcher: &str) -> Result<Drained, Error> {
        let watcher = watcher.to_owned();
        self.write(move |core, guest| core.headsup_awareness_notices().call_drain(guest, &watcher))
    }

    /// Who has how many notices pending, by watcher.
    pub fn pending(&self) -> Result<Vec<PendingCount>, Error> {
        self.read(|core, guest| core.headsup_awareness_notices().call_pending(guest))
    }

    /// The events of a session after a version (0 to 2^53 - 1), at most `limit` (1 to 200, which
    /// is also the default), from one snapshot; and whether the delta is whole.
    pub fn changes_since(
        &self,
        session: impl Into<SessionRef>,
        version: u64,
        limit: Option<u32>,
    ) -> Result<Delta, Error> {
        let session = session.into();
        self.read(move |core, guest| {
            core.headsup_awareness_reconciliation()
                .call_changes_since(guest, &session, version, limit)
        })
    }

    /// The state versions of at most 1,000 sessions, in the order asked; `None` where nothing was
    /// recorded.
    pub fn versions(
        &self,
        sessions: impl IntoIterator<Item = impl Into<SessionRef>>,
    ) -> Result<Vec<Option<u64>>, Error> {
        let sessions: Vec<SessionRef> = sessions.into_iter().map(Into::into).collect();
        self.read(move |core, guest| {
            core.headsup_awareness_reconciliation().call_versions(guest, &sessions)
        })
    }

    /// Removes the cursors that a session holds as watcher; its log and the cursors of others on
    /// it stay.
    pub fn reset(&self, session: impl Into<SessionRef>) -> Result<Removal, Error> {
        let session = session.into();
        self.write(move |core, guest| {
            core.headsup_awareness_maintenance().call_reset(guest, &session)
        })
    }

    /// Removes a session's log, head, link and every cursor with it on either side.
    pub fn delete(&self, session: impl Into<SessionRef>) -> Result<Removal, Error> {
        let session = session.into();
        self.write_long(move |core, guest| {
            core.headsup_awareness_maintenance().call_delete(guest, &session)
        })
    }

    /// Prunes whatever is due, then puts every pending notice back in the queue: the listener
    /// hears of each. May take as long as [`Builder::long_deadline`].
    pub fn recover(&self) -> Result<Recovery, Error> {
        self.recovery(true)
    }

    pub(crate) fn recovery(&self, prune_first: bool) -> Result<Recovery, Error> {
        self.write_long(move |core, guest| {
            core.headsup_awareness_maintenance().call_recover(guest, prune_first)
        })
    }

    /// One batch of pruning in a transaction of its own; `None` if none is due. Call again while it
    /// says `more`.
    pub fn prune(&self, urgency: Urgency) -> Result<Option<Pruning>, Error> {
        self.write_long(move |core, guest| {
            core.headsup_awareness_maintenance().call_prune(guest, urgency)
        })
    }

    /// Marks the store as restored from a backup: every version from before answers with a gap.
    /// Returns the new position of the series of sequences.
    pub fn restored(&self) -> Result<u64, Error> {
        self.write_long(|core, guest| core.headsup_awareness_maintenance().call_restored(guest))
    }

    /// The retention and the notice template in force; they live in the store.
    pub fn policy(&self) -> Result<Policy, Error> {
        self.read(|core, guest| core.headsup_awareness_maintenance().call_current_policy(guest))
    }

    /// Changes the policy for every process that shares the store.
    pub fn set_policy(&self, policy: Policy) -> Result<(), Error> {
        self.write(move |core, guest| {
            core.headsup_awareness_maintenance().call_set_policy(guest, &policy)
        })
    }

    /// Which core serves, as it says itself.
    #[must_use]
    pub fn metadata(&self) -> Metadata {
        self.inner.plugin().metadata().clone()
    }

    /// The time as the core sees it, in ms since the Unix epoch.
    #[must_use]
    pub fn now(&self) -> u64 {
        self.inner.clock.now()
    }

    /// Moves a manual clock, forwards or back; each timer that is due then fires once, before this
    /// returns.
    ///
    /// # Errors
    /// [`Error::Unavailable`] if the clock is the system's.
    pub fn set_clock(&self, now: u64) -> Result<(), Error> {
        if !self.inner.clock.set(now) {
            return Err(Error::Unavailable(
                "the clock is the system's and moves by itself; open with a manual clock to move it"
                    .into(),
            ));
        }
        self.clock_moved();
        Ok(())
    }

    /// Fires what is due by a manual clock: each timer once, before whoever moved it hears of it.
    pub(crate) fn clock_moved(&self) {
        self.inner.fire_due();
        if let Some(monitor) = &self.inner.monitor {
            monitor.fire(&Arc::downgrade(&self.inner), &self.inner.checks);
        }
    }

    /// Where the clock is manual: prunes if an hour has passed since the last prune by any process.
    /// Cheap when called too often; call it after a response was sent. With the system's clock this
    /// happens by itself, on a thread of its own, and there is nothing to do here.
    pub fn tidy(&self) {
        if self.inner.clock.is_manual() {
            self.inner.tidy();
        }
    }

    /// Another store, in memory and empty, with the core that serves now.
    #[cfg(feature = "server")]
    pub(crate) fn scratch(&self) -> Result<Self, crate::OpenError> {
        Self::builder(":memory:").plugin(self.inner.plugin()).manual_clock(0).open()
    }

    pub(crate) fn read<T: Send + 'static>(
        &self,
        body: impl FnOnce(&Core, Guest) -> Answer<T> + Send + 'static,
    ) -> Result<T, Error> {
        self.conclude(self.inner.read(body))
    }

    pub(crate) fn write<T: Send + 'static>(
        &self,
        body: impl FnOnce(&Core, Guest) -> Answer<T> + Send + 'static,
    ) -> Result<T, Error> {
        self.write_within(self.inner.limits.deadline, body)
    }

    /// For what takes as long as there is to do.
    pub(crate) fn write_long<T: Send + 'static>(
        &self,
        body: impl FnOnce(&Core, Guest) -> Answer<T> + Send + 'static,
    ) -> Result<T, Error> {
        self.write_within(self.inner.limits.long_deadline, body)
    }

    fn write_within<T: Send + 'static>(
        &self,
        deadline: Duration,
        body: impl FnOnce(&Core, Guest) -> Answer<T> + Send + 'static,
    ) -> Result<T, Error> {
        self.conclude(self.inner.write(deadline, body))
    }

    /// Delivers what the call left behind, then answers.
    pub(crate) fn conclude<T>(&self, done: Done<T, contract::Error>) -> Result<T, Error> {
        self.inner.courier.deliver(done.effects);
        Ok(done.answer??)
    }
}

impl std::fmt::Debug for Awareness {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Awareness")
            .field("core", self.inner.plugin().metadata())
            .finish_non_exhaustive()
    }
}
