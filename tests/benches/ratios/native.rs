//! The logic without WebAssembly: compiled natively over the same store. What it costs beyond this
//! is what the component model costs.
//!
//! Both sides generate the contract's types for themselves, so that values are moved over field by
//! field, as they are at the component's edge.

use std::time::{SystemTime, UNIX_EPOCH};

use headsup::contract as host;
use headsup::storage::Store;
use headsup_component::contract as logic;
use headsup_component::ports::{Ports, Stored};
use headsup_component::rules::Protocol;

/// A store, and what a host keeps for a call beside it.
pub struct Native {
    /// Where the state is.
    pub store: Store,
    /// What the call enqueued.
    pub openings: Vec<logic::Opening>,
    /// How many imports were called.
    pub crossings: u32,
}

impl Native {
    /// Over an open connection.
    pub fn new(store: Store) -> Self {
        Self { store, openings: Vec::new(), crossings: 0 }
    }

    /// Runs one call of the logic as one transaction that can write.
    ///
    /// # Panics
    /// If the store fails, or the logic answers with an error.
    #[allow(clippy::expect_used, reason = "a measurement of a failing call measures nothing")]
    pub fn write<T>(&mut self, call: impl FnOnce(&mut Self) -> Result<T, logic::Error>) -> T {
        self.openings.clear();
        self.store.begin_write().expect("a transaction");
        let answer = call(self).expect("an answer");
        self.store.commit().expect("a commit");
        answer
    }

    /// The same on a snapshot.
    ///
    /// # Panics
    /// As [`write`](Self::write).
    #[allow(clippy::expect_used, reason = "as above")]
    pub fn read<T>(&mut self, call: impl FnOnce(&mut Self) -> Result<T, logic::Error>) -> T {
        self.store.begin_read().expect("a snapshot");
        let answer = call(self).expect("an answer");
        self.store.rollback();
        answer
    }

    fn stored<H: Move<L>, L>(
        &mut self,
        verb: impl FnOnce(&mut Store) -> Result<H, host::StorageFailure>,
    ) -> Stored<L> {
        self.crossings += 1;
        match verb(&mut self.store) {
            Ok(value) => Ok(value.moved()),
            Err(failure) => Err(failure.moved()),
        }
    }
}

impl Ports for Native {
    type Rules = Protocol;

    fn now(&mut self) -> u64 {
        self.crossings += 1;
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        u64::try_from(since.as_millis()).unwrap_or_default()
    }
    fn append(&mut self, request: &logic::AppendRequest) -> Stored<logic::AppendOutcome> {
        self.stored(|store| store.append(&request.clone().moved()))
    }
    fn save(&mut self, changes: &logic::Changes) -> Stored<()> {
        self.stored(|store| store.save(&changes.clone().moved()))
    }
    fn cursors(
        &mut self,
        query: &logic::CursorQuery,
        after: Option<&logic::Pair>,
        limit: u32,
    ) -> Stored<Vec<logic::Watched>> {
        let after: Option<host::Pair> = after.cloned().moved();
        self.stored(|store| store.cursors(&query.clone().moved(), after.as_ref(), limit))
    }
    fn pairs(&mut self, pairs: &[logic::Pair]) -> Stored<Vec<logic::PairState>> {
        self.stored(|store| store.pairs(&Move::<Vec<_>>::moved(pairs.to_vec())))
    }
    fn open_counts(&mut self) -> Stored<Vec<logic::PendingCount>> {
        self.stored(Store::open_counts)
    }
    fn heads(&mut self, sessions: &[logic::Session]) -> Stored<Vec<Option<logic::Head>>> {
        self.stored(|store| store.heads(&Move::<Vec<_>>::moved(sessions.to_vec())))
    }
    fn history(
        &mut self,
        session: &logic::Session,
        after: u64,
        limit: u32,
    ) -> Stored<logic::LogPage> {
        self.stored(|store| store.history(&session.clone().moved(), after, limit))
    }
    fn reset(&mut self, watcher: &str) -> Stored<u32> {
        self.stored(|store| store.reset(watcher))
    }
    fn delete(&mut self, session: &logic::Session, now: u64) -> Stored<logic::Removal> {
        self.stored(|store| store.delete(&session.clone().moved(), now))
    }
    fn prune(&mut self, request: &logic::PruneRequest) -> Stored<logic::Pruning> {
        self.stored(|store| store.prune(&Move::moved(*request)))
    }
    fn restored(&mut self, by: u64) -> Stored<u64> {
        self.stored(|store| store.restored(by))
    }
    fn upstream(&mut self, session: &logic::Session) -> Stored<logic::Upstream> {
        self.stored(|store| store.upstream_of(&session.clone().moved()))
    }
    fn save_upstream(&mut self, upstream: &logic::Upstream, now: u64) -> Stored<()> {
        self.stored(|store| store.save_upstream(&upstream.clone().moved(), now))
    }
    fn claim(&mut self, request: &logic::ClaimRequest) -> Stored<Vec<logic::Upstream>> {
        self.stored(|store| store.claim(&request.clone().moved()))
    }
    fn settings(&mut self, names: &[&str]) -> Stored<Vec<Option<String>>> {
        self.stored(|store| store.settings(names))
    }
    fn set(&mut self, settings: &[logic::Setting]) -> Stored<()> {
        self.stored(|store| store.set(&Move::<Vec<_>>::moved(settings.to_vec())))
    }
    fn enqueue(&mut self, openings: &[logic::Opening]) {
        self.crossings += 1;
        self.openings.extend_from_slice(openings);
    }
    fn log(&mut self, _: logic::Level, _: &str) {
        self.crossings += 1;
    }
}

/// The same value as a type of the other side.
trait Move<T> {
    fn moved(self) -> T;
}

macro_rules! same {
    ($($plain:ty)*) => {$(
        impl Move<$plain> for $plain {
            fn moved(self) -> $plain {
                self
            }
        }
    )*};
}

same! { () bool u32 u64 String }

impl<T: Move<U>, U> Move<Option<U>> for Option<T> {
    fn moved(self) -> Option<U> {
        self.map(Move::moved)
    }
}

impl<T: Move<U>, U> Move<Vec<U>> for Vec<T> {
    fn moved(self) -> Vec<U> {
        self.into_iter().map(Move::moved).collect()
    }
}

macro_rules! records {
    ($from:ident -> $to:ident: $($name:ident { $($field:ident)* })*) => {$(
        impl Move<$to::$name> for $from::$name {
            fn moved(self) -> $to::$name {
                $to::$name { $($field: self.$field.moved()),* }
            }
        }
    )*};
}

macro_rules! variants {
    ($from:ident -> $to:ident: $($name:ident { $($case:ident $(($value:ident))?)* })*) => {$(
        impl Move<$to::$name> for $from::$name {
            fn moved(self) -> $to::$name {
                match self {
                    $($from::$name::$case $(($value))? => $to::$name::$case $(($value.moved()))?),*
                }
            }
        }
    )*};
}

records! {
    logic -> host:
        Session { key agent }
        Pair { watcher target }
        Entry {
            session kind actor_type actor_id occurred_at summary session_id run_id payload dedupe_key
        }
        AppendRequest { entry only_if_watched settled named }
        Notifying { newest actor other }
        Head { version watermark notifying moved_at }
        HeadChange { session head }
        Positions { last_seen notified provenance }
        Cursor { pair state moved_at }
        Changes { heads cursors }
        PruneRequest { occurred_before keep_rows moved_before at_most }
        Source { kind place thread }
        Link { source catalog generation revision misses claimed state }
        Upstream { session link sent running_until watched }
        ClaimRequest { kinds now running_at_most until claimed_too }
        Setting { name value }
}

records! {
    host -> logic:
        Session { key agent }
        Pair { watcher target }
        Entry {
            session kind actor_type actor_id occurred_at summary session_id run_id payload dedupe_key
        }
        Row { sequence entry }
        Appended { sequence head cursors }
        Notifying { newest actor other }
        Head { version watermark notifying moved_at }
        Positions { last_seen notified provenance }
        Cursor { pair state moved_at }
        Watched { cursor head }
        PairState { cursor head }
        PendingCount { watcher notices }
        LogPage { head restored_at rows }
        Removal { cursors events }
        Pruning { events cursors more }
        Source { kind place thread }
        Link { source catalog generation revision misses claimed state }
        Upstream { session link sent running_until watched }
        StorageFailure { fault message }
}

variants! {
    logic -> host:
        CursorState { Live(positions) Unwatched }
        CursorQuery { OfWatcher(watcher) OnTarget(target) OpenOf(watcher) Open }
        Provenance { Spawn Explicit Ambient }
}

variants! {
    host -> logic:
        AppendOutcome { Appended(appended) Duplicate(sequence) Unwatched }
        CursorState { Live(positions) Unwatched }
        Provenance { Spawn Explicit Ambient }
        StorageFault { Busy Full Corrupt ReadOnly TooNew ForeignSchema Failed }
}
