//! What the logic needs from outside, as one trait: the imports of the contract, and the rules that
//! this core goes by.
//!
//! The guarantees of each function are those of the WIT function of the same name. The component
//! implements it over the imports (`guest.rs`); benchmarks implement it natively over the same
//! storage.

use alloc::string::String;
use alloc::vec::Vec;

use crate::contract::{
    AppendOutcome, AppendRequest, Changes, ClaimRequest, CursorQuery, Head, Level, LogPage,
    Opening, Pair, PairState, PendingCount, PruneRequest, Pruning, Removal, Session, Setting,
    StorageFailure, Upstream, Watched,
};
use crate::rules::Rules;

/// What a storage verb answers.
pub type Stored<T> = Result<T, StorageFailure>;

/// The world outside a call.
pub trait Ports {
    /// The policy of this core.
    type Rules: Rules;

    /// The local clock, in ms since the epoch.
    fn now(&mut self) -> u64;

    /// `storage.append`.
    fn append(&mut self, request: &AppendRequest) -> Stored<AppendOutcome>;
    /// `storage.save`.
    fn save(&mut self, changes: &Changes) -> Stored<()>;
    /// `storage.cursors`.
    fn cursors(
        &mut self,
        query: &CursorQuery,
        after: Option<&Pair>,
        limit: u32,
    ) -> Stored<Vec<Watched>>;
    /// `storage.pairs`.
    fn pairs(&mut self, pairs: &[Pair]) -> Stored<Vec<PairState>>;
    /// `storage.open-counts`.
    fn open_counts(&mut self) -> Stored<Vec<PendingCount>>;
    /// `storage.heads`.
    fn heads(&mut self, sessions: &[Session]) -> Stored<Vec<Option<Head>>>;
    /// `storage.history`.
    fn history(&mut self, session: &Session, after: u64, limit: u32) -> Stored<LogPage>;
    /// `storage.reset`.
    fn reset(&mut self, watcher: &str) -> Stored<u32>;
    /// `storage.delete`.
    fn delete(&mut self, session: &Session, now: u64) -> Stored<Removal>;
    /// `storage.prune`.
    fn prune(&mut self, request: &PruneRequest) -> Stored<Pruning>;
    /// `storage.restored`.
    fn restored(&mut self, by: u64) -> Stored<u64>;

    /// `storage.upstream-of`.
    fn upstream(&mut self, session: &Session) -> Stored<Upstream>;
    /// `storage.save-upstream`.
    fn save_upstream(&mut self, upstream: &Upstream, now: u64) -> Stored<()>;
    /// `storage.claim`.
    fn claim(&mut self, request: &ClaimRequest) -> Stored<Vec<Upstream>>;

    /// `settings.get`.
    fn settings(&mut self, names: &[&str]) -> Stored<Vec<Option<String>>>;
    /// `settings.set`.
    fn set(&mut self, settings: &[Setting]) -> Stored<()>;

    /// `queue.enqueue`.
    fn enqueue(&mut self, openings: &[Opening]);
    /// `log.write`.
    fn log(&mut self, level: Level, message: &str);
}

#[cfg(test)]
pub mod fake;
