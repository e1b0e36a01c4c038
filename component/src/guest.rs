//! The component's edge: the contract's imports as [`Ports`], its exports as calls of the logic.
//! Compiled for WASI only.

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::marker::PhantomData;

use crate::contract::exports::headsup::awareness as exports;
use crate::contract::headsup::awareness::{log, queue, settings, storage};
use crate::contract::wasi::clocks::wall_clock;
use crate::contract::{
    Acknowledgement, Adopted, AdoptionRequest, AppendOutcome, AppendRequest, Changes, Check,
    ClaimRequest, CursorQuery, Delta, Drained, Errand, ErrandDone, Error, Explanation, Failure,
    Found, Head, Level, LogPage, Metadata, Method, Notice, Opening, Outcome, Pair, PairState,
    PendingCount, PendingNotice, Plan, Policy, PruneRequest, Pruning, Reader, Receipt, Recovery,
    Removal, Selection, Session, SessionRef, Setting, Signal, Upstream, Urgency, WatchAnswer,
    WatchEntry, Watched,
};
use crate::ports::{Ports, Stored};
use crate::rules::{Protocol, Rules};
use crate::{
    acknowledge, lifecycle, notice, policy, reconcile, record, retention, upstream, watch, wire,
};

/// The imports of the contract, under these rules.
pub struct Imports<R = Protocol>(PhantomData<R>);

impl<R> Default for Imports<R> {
    fn default() -> Self {
        Self(PhantomData)
    }
}

impl<R: Rules> Ports for Imports<R> {
    type Rules = R;

    fn now(&mut self) -> u64 {
        let now = wall_clock::now();
        now.seconds * 1_000 + u64::from(now.nanoseconds / 1_000_000)
    }
    fn append(&mut self, request: &AppendRequest) -> Stored<AppendOutcome> {
        storage::append(request)
    }
    fn save(&mut self, changes: &Changes) -> Stored<()> {
        storage::save(changes)
    }
    fn cursors(
        &mut self,
        query: &CursorQuery,
        after: Option<&Pair>,
        limit: u32,
    ) -> Stored<Vec<Watched>> {
        storage::cursors(query, after, limit)
    }
    fn pairs(&mut self, pairs: &[Pair]) -> Stored<Vec<PairState>> {
        storage::pairs(pairs)
    }
    fn open_counts(&mut self) -> Stored<Vec<PendingCount>> {
        storage::open_counts()
    }
    fn heads(&mut self, sessions: &[Session]) -> Stored<Vec<Option<Head>>> {
        storage::heads(sessions)
    }
    fn history(&mut self, session: &Session, after: u64, limit: u32) -> Stored<LogPage> {
        storage::history(session, after, limit)
    }
    fn reset(&mut self, watcher: &str) -> Stored<u32> {
        storage::reset(watcher)
    }
    fn delete(&mut self, session: &Session, now: u64) -> Stored<Removal> {
        storage::delete(session, now)
    }
    fn prune(&mut self, request: &PruneRequest) -> Stored<Pruning> {
        storage::prune(*request)
    }
    fn restored(&mut self, by: u64) -> Stored<u64> {
        storage::restored(by)
    }
    fn upstream(&mut self, session: &Session) -> Stored<Upstream> {
        storage::upstream_of(session)
    }
    fn save_upstream(&mut self, upstream: &Upstream, now: u64) -> Stored<()> {
        storage::save_upstream(upstream, now)
    }
    fn claim(&mut self, request: &ClaimRequest) -> Stored<Vec<Upstream>> {
        storage::claim(request)
    }
    fn settings(&mut self, names: &[&str]) -> Stored<Vec<Option<String>>> {
        let mut owned = Vec::with_capacity(names.len());
        for name in names {
            owned.push(name.to_string());
        }
        settings::get(&owned)
    }
    fn set(&mut self, entries: &[Setting]) -> Stored<()> {
        settings::set(entries)
    }
    fn enqueue(&mut self, openings: &[Opening]) {
        queue::enqueue(openings);
    }
    fn log(&mut self, level: Level, message: &str) {
        log::write(level, message);
    }
}

/// The core of these rules: the exports of the contract, each one call of the logic. A plugin has rules
/// of its own; one that changes more implements the same traits and hands on what it leaves as it is.
pub struct Core<R = Protocol>(PhantomData<R>);

#[cfg(feature = "exports")]
crate::export_core!(Protocol);

impl<R: Rules> exports::signals::Guest for Core<R> {
    fn record(signal: Signal) -> Result<Outcome, Error> {
        record::record(&mut Imports::<R>::default(), &signal)
    }
    fn record_many(signals: Vec<Signal>) -> Result<Vec<Outcome>, Error> {
        record::record_many(&mut Imports::<R>::default(), &signals)
    }
}

impl<R: Rules> exports::watches::Guest for Core<R> {
    fn watch(watcher: String, target: SessionRef, ambient: bool) -> Result<WatchAnswer, Error> {
        watch::watch(&mut Imports::<R>::default(), &watcher, &target, ambient)
    }
    fn unwatch(watcher: String, target: SessionRef) -> Result<bool, Error> {
        watch::unwatch(&mut Imports::<R>::default(), &watcher, &target)
    }
    fn of_watcher(watcher: String) -> Result<Vec<WatchEntry>, Error> {
        watch::of_watcher(&mut Imports::<R>::default(), &watcher)
    }
    fn on_target(target: SessionRef) -> Result<Vec<WatchEntry>, Error> {
        watch::on_target(&mut Imports::<R>::default(), &target)
    }
}

impl<R: Rules> exports::notices::Guest for Core<R> {
    fn take(watcher: String) -> Result<Vec<Notice>, Error> {
        notice::take(&mut Imports::<R>::default(), &watcher)
    }
    fn pending_of(watcher: String) -> Result<Vec<PendingNotice>, Error> {
        notice::pending_of(&mut Imports::<R>::default(), &watcher)
    }
    fn acknowledge(watcher: String, receipts: Vec<Receipt>) -> Result<Acknowledgement, Error> {
        acknowledge::acknowledge(&mut Imports::<R>::default(), &watcher, &receipts)
    }
    fn drain(watcher: String) -> Result<Drained, Error> {
        acknowledge::drain(&mut Imports::<R>::default(), &watcher)
    }
    fn pending() -> Result<Vec<PendingCount>, Error> {
        notice::pending(&mut Imports::<R>::default())
    }
}

impl<R: Rules> exports::reconciliation::Guest for Core<R> {
    fn changes_since(
        session: SessionRef,
        version: u64,
        limit: Option<u32>,
    ) -> Result<Delta, Error> {
        reconcile::changes_since(&mut Imports::<R>::default(), &session, version, limit)
    }
    fn versions(sessions: Vec<SessionRef>) -> Result<Vec<Option<u64>>, Error> {
        reconcile::versions(&mut Imports::<R>::default(), &sessions)
    }
}

impl<R: Rules> exports::upstreams::Guest for Core<R> {
    fn adopt(request: AdoptionRequest, found: Option<Found>) -> Result<Adopted, Error> {
        upstream::adopt::adopt(&mut Imports::<R>::default(), &request, found.as_ref())
    }
    fn sent(session: SessionRef, text: String) -> Result<(), Error> {
        upstream::turns::sent(&mut Imports::<R>::default(), &session, &text)
    }
    fn busy(session: SessionRef, running: bool) -> Result<(), Error> {
        upstream::turns::busy(&mut Imports::<R>::default(), &session, running)
    }
    fn plan_checks(selection: Selection, reader: Reader) -> Result<Vec<Plan>, Error> {
        upstream::plan::plan(&mut Imports::<R>::default(), &selection, reader)
    }
    fn feed(session: Session, revision: u64, found: Found) -> Result<Check, Error> {
        upstream::feed::feed(&mut Imports::<R>::default(), &session, revision, &found)
    }
    fn explain(
        kind: String,
        state: String,
        part: Vec<u8>,
        last: bool,
    ) -> Result<Explanation, Error> {
        upstream::explain::explain(&kind, &state, &part, last)
    }
}

impl<R: Rules> exports::maintenance::Guest for Core<R> {
    fn reset(session: SessionRef) -> Result<Removal, Error> {
        lifecycle::reset(&mut Imports::<R>::default(), &session)
    }
    fn delete(session: SessionRef) -> Result<Removal, Error> {
        lifecycle::delete(&mut Imports::<R>::default(), &session)
    }
    fn prune(urgency: Urgency) -> Result<Option<Pruning>, Error> {
        retention::prune(&mut Imports::<R>::default(), urgency)
    }
    fn next_prune() -> Result<u64, Error> {
        retention::next_prune(&mut Imports::<R>::default())
    }
    fn recover(prune_first: bool) -> Result<Recovery, Error> {
        retention::recover(&mut Imports::<R>::default(), prune_first)
    }
    fn restored() -> Result<u64, Error> {
        lifecycle::restored(&mut Imports::<R>::default())
    }
    fn current_policy() -> Result<Policy, Error> {
        policy::current(&mut Imports::<R>::default())
    }
    fn set_policy(policy: Policy) -> Result<(), Error> {
        policy::set(&mut Imports::<R>::default(), &policy)
    }
}

impl<R: Rules> exports::wire::Guest for Core<R> {
    fn methods() -> Vec<Method> {
        wire::methods()
    }
    fn writes(request: String) -> bool {
        wire::writes(&request)
    }
    fn call(request: String) -> Result<Option<String>, Option<String>> {
        wire::call(&mut Imports::<R>::default(), &request)
    }
    fn errand_of(request: String) -> Result<Errand, Option<String>> {
        wire::errand(&request)
    }
    fn respond(request: String, done: ErrandDone) -> Result<Option<String>, Option<String>> {
        wire::respond(&mut Imports::<R>::default(), &request, &done)
    }
    fn failed(request: String, failure: Failure) -> Option<String> {
        wire::failed(&mut Imports::<R>::default(), &request, failure)
    }
}

impl<R: Rules> exports::plugin::Guest for Core<R> {
    fn describe() -> Metadata {
        Metadata {
            name: R::NAME.to_string(),
            version: R::VERSION.to_string(),
            protocol: crate::PROTOCOL.to_string(),
        }
    }
}
