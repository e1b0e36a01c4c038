//! The store: one SQLite connection that implements the contract's `storage` and `settings`.
//!
//! The SQL stands in `host/sql/`, one file for each statement, so that hosts in other languages
//! embed the same text; this module is glue. Every verb runs inside a transaction that the host
//! began ([`Store::begin_read`], [`Store::begin_write`]) and that the host ends.

mod append;
mod companions;
mod doctor;
mod doubt;
mod failure;
mod lifecycle;
mod links;
mod open;
mod options;
mod patience;
mod place;
mod reads;
mod rows;
mod schema;
mod statements;
mod stats;
mod transaction;
mod upstream;

#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use rusqlite::Connection;

use companions::Companions;
pub use doctor::Violation;
pub use links::LinkState;
pub use options::{Durability, StoreOptions};
pub(crate) use place::Identity;
pub use stats::Stats;

use crate::contract::{
    AppendOutcome, AppendRequest, Changes, ClaimRequest, CursorQuery, Head, LogPage, Pair,
    PairState, PendingCount, PruneRequest, Pruning, Removal, Session, Setting, StorageFailure,
    Upstream, Watched,
};
use doubt::Doubt;
use transaction::{Role, Transaction};

/// One connection to a store. What each verb guarantees is said once, in `wit/storage.wit` and
/// `wit/settings.wit`; a verb outside a transaction fails.
///
/// ```
/// use headsup::contract::{Session, StorageFailure};
/// use headsup::storage::Store;
///
/// # fn main() -> Result<(), StorageFailure> {
/// let mut store = Store::in_memory()?;
/// store.begin_read()?;
/// let session = Session { key: "agent:main:main".into(), agent: "main".into() };
/// assert_eq!(store.heads(&[session])?, [None]);
/// store.rollback();
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Store {
    connection: Connection,
    /// The store's name in messages.
    place: String,
    role: Role,
    /// How long it waits for a lock.
    patience: Duration,
    transaction: Transaction,
    doubt: Doubt,
    /// Absent in memory.
    companions: Option<Arc<Companions>>,
}

impl Store {
    /// `storage.append`; writes.
    pub fn append(&mut self, request: &AppendRequest) -> Result<AppendOutcome, StorageFailure> {
        self.writing(|connection| append::append(connection, request))
    }

    /// `storage.save`; writes.
    pub fn save(&mut self, changes: &Changes) -> Result<(), StorageFailure> {
        self.writing(|connection| append::save(connection, changes))
    }

    /// `storage.cursors`.
    pub fn cursors(
        &mut self,
        query: &CursorQuery,
        after: Option<&Pair>,
        limit: u32,
    ) -> Result<Vec<Watched>, StorageFailure> {
        self.reading(|connection| reads::cursors(connection, query, after, limit))
    }

    /// `storage.pairs`.
    pub fn pairs(&mut self, pairs: &[Pair]) -> Result<Vec<PairState>, StorageFailure> {
        self.reading(|connection| reads::pairs(connection, pairs))
    }

    /// `storage.open-counts`.
    pub fn open_counts(&mut self) -> Result<Vec<PendingCount>, StorageFailure> {
        self.reading(reads::open_counts)
    }

    /// `storage.heads`.
    pub fn heads(&mut self, sessions: &[Session]) -> Result<Vec<Option<Head>>, StorageFailure> {
        self.reading(|connection| reads::heads(connection, sessions))
    }

    /// `storage.history`.
    pub fn history(
        &mut self,
        session: &Session,
        after: u64,
        limit: u32,
    ) -> Result<LogPage, StorageFailure> {
        self.reading(|connection| reads::history(connection, session, after, limit))
    }

    /// `storage.reset`; writes.
    pub fn reset(&mut self, watcher: &str) -> Result<u32, StorageFailure> {
        self.writing(|connection| lifecycle::reset(connection, watcher))
    }

    /// `storage.delete`; writes.
    pub fn delete(&mut self, session: &Session, now: u64) -> Result<Removal, StorageFailure> {
        self.writing(|connection| lifecycle::delete(connection, session, now))
    }

    /// `storage.prune`; writes.
    pub fn prune(&mut self, request: &PruneRequest) -> Result<Pruning, StorageFailure> {
        self.writing(|connection| lifecycle::prune(connection, request))
    }

    /// `storage.restored`; writes.
    pub fn restored(&mut self, by: u64) -> Result<u64, StorageFailure> {
        self.writing(|connection| lifecycle::restored(connection, by))
    }

    /// `storage.upstream-of`.
    pub fn upstream_of(&mut self, session: &Session) -> Result<Upstream, StorageFailure> {
        self.reading(|connection| upstream::upstream_of(connection, session))
    }

    /// `storage.save-upstream`; writes.
    pub fn save_upstream(&mut self, upstream: &Upstream, now: u64) -> Result<(), StorageFailure> {
        self.writing(|connection| upstream::save(connection, upstream, now))
    }

    /// `storage.claim`; writes.
    pub fn claim(&mut self, request: &ClaimRequest) -> Result<Vec<Upstream>, StorageFailure> {
        self.writing(|connection| upstream::claim(connection, request))
    }

    /// `settings.get`.
    pub fn settings(
        &mut self,
        names: &[impl AsRef<str>],
    ) -> Result<Vec<Option<String>>, StorageFailure> {
        self.reading(|connection| reads::settings(connection, names))
    }

    /// `settings.set`; writes.
    pub fn set(&mut self, settings: &[Setting]) -> Result<(), StorageFailure> {
        self.writing(|connection| lifecycle::set(connection, settings))
    }

    /// The steps that SQLite's machine took so far for the statements of the contract's verbs, on this
    /// connection: what a verb costs, however fast the machine is.
    pub(crate) fn effort(&self) -> u64 {
        statements::steps(&self.connection)
    }

    /// Why nobody knows any more what the disk has: the first sync that failed on this connection, be it
    /// after a commit that stands; or its log was taken away.
    #[must_use]
    pub fn doubt(&self) -> Option<&StorageFailure> {
        self.doubt.first()
    }

    /// Whether the connection was opened to write.
    #[must_use]
    pub fn is_writable(&self) -> bool {
        self.role == Role::Writes
    }
}

impl Drop for Store {
    /// Closing goes on as SQLite does it where everything is in its place.
    fn drop(&mut self) {
        // Given up before the connection: once that is closed the next one makes new ones.
        if let Some(companions) = self.companions.take() {
            self.part_with(companions.kept());
        }
    }
}
