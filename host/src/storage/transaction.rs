//! Transaction control. The host begins and ends; a verb only checks that it is inside the right
//! kind.

use rusqlite::Connection;
use rusqlite::config::DbConfig;

use super::Store;
use super::companions::{Kept, taken_away};
use super::failure::{Problem, read_only};
use super::patience::insist;
use super::statements::SNAPSHOT;
use crate::contract::{StorageFailure, StorageFault};

/// What is open on a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Transaction {
    None,
    Read,
    Write,
}

/// What a connection was opened for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Writes,
    /// Beside a writer.
    Reads,
    /// Alone, changing nothing, and nothing beside the file either.
    Looks,
}

impl Store {
    /// Begins a transaction that can write. It holds the store's one write lock from the start, so
    /// that no verb in it ever meets another writer; waits for the lock as long as the time-out.
    ///
    /// # Errors
    /// `busy` when another holds the lock for longer; `read-only` on a connection that only reads;
    /// `failed` where the log or the shared memory is another by now ([`Store::doubt`]).
    pub fn begin_write(&mut self) -> Result<(), StorageFailure> {
        if self.role != Role::Writes {
            return Err(self.word(Problem::known(StorageFault::ReadOnly, read_only())));
        }
        self.control("BEGIN IMMEDIATE")?;
        self.transaction = Transaction::Write;
        match self.companions.as_ref().map(|companions| companions.kept()) {
            None | Some(Kept::All) => Ok(()),
            Some(kept) => Err(self.give_up(kept)),
        }
    }

    /// Ends the use of a connection whose log was taken away.
    fn give_up(&mut self, kept: Kept) -> StorageFailure {
        self.rollback();
        self.part_with(kept);
        let failure = self.word(taken_away());
        self.doubt.log_lost(&failure);
        failure
    }

    /// Brings what was acknowledged from a log that nobody will find again into the file, while the file is
    /// nobody else's. To a process that wrote to it since, both are left: the last connection to close would
    /// bring the log in by itself, over what is there, and remove the log of that one.
    pub(super) fn part_with(&self, kept: Kept) {
        // What fails here cannot be done at all; the store is refused either way.
        let _ = match kept {
            Kept::All => Ok(()),
            // Who only looks leaves what lies beside the file where it is.
            Kept::NotAll if self.role == Role::Looks => Ok(()),
            Kept::NotAll => self.connection.execute_batch("PRAGMA wal_checkpoint"),
            Kept::Usurped => self
                .connection
                .set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)
                .map(|_| ()),
        };
    }

    /// Begins a transaction that only reads: one snapshot of the store as it is now, which no
    /// writer waits for or changes.
    pub fn begin_read(&mut self) -> Result<(), StorageFailure> {
        self.control("BEGIN DEFERRED")?;
        self.transaction = Transaction::Read;
        let snapshot = insist(self.patience, || {
            let mut statement = self.connection.prepare_cached(SNAPSHOT)?;
            let mut rows = statement.query([])?;
            rows.next().map(|_| ())
        });
        snapshot.map_err(|error| {
            self.rollback();
            self.word(error.into())
        })
    }

    /// Marks a point inside a write transaction to come back to. One at a time.
    pub fn savepoint(&mut self) -> Result<(), StorageFailure> {
        self.control("SAVEPOINT one_call")
    }

    /// Keeps what was done since the savepoint, as part of the transaction.
    pub fn release(&mut self) -> Result<(), StorageFailure> {
        self.control("RELEASE one_call")
    }

    /// Undoes what was done since the savepoint; the transaction goes on. Fails if SQLite lost the
    /// whole transaction (a full disk may do that): see [`Store::in_transaction`].
    pub fn rollback_to(&mut self) -> Result<(), StorageFailure> {
        self.control("ROLLBACK TO one_call")?;
        self.control("RELEASE one_call")
    }

    /// Makes everything since the beginning durable and visible to others. On an error nothing
    /// was, and the transaction is over.
    pub fn commit(&mut self) -> Result<(), StorageFailure> {
        let committed = self.control("COMMIT");
        match committed {
            Ok(()) => self.transaction = Transaction::None,
            Err(_) => self.rollback(),
        }
        committed
    }

    /// Undoes everything since the beginning. Does nothing outside a transaction.
    pub fn rollback(&mut self) {
        self.transaction = Transaction::None;
        if !self.connection.is_autocommit() {
            // Fails only where SQLite has rolled back by itself already.
            let _ = self.control("ROLLBACK");
        }
    }

    /// Whether a transaction is open. False after SQLite lost one by itself.
    #[must_use]
    pub fn in_transaction(&self) -> bool {
        self.transaction != Transaction::None && !self.connection.is_autocommit()
    }

    /// Runs a verb that reads.
    pub(super) fn reading<T>(
        &self,
        verb: impl FnOnce(&Connection) -> Result<T, Problem>,
    ) -> Result<T, StorageFailure> {
        let outcome = if self.in_transaction() {
            verb(&self.connection)
        } else {
            Err(Problem::known(StorageFault::Failed, "no transaction is open, or it was lost"))
        };
        outcome.map_err(|problem| self.word(problem))
    }

    /// Runs a verb that writes.
    pub(super) fn writing<T>(
        &mut self,
        verb: impl FnOnce(&Connection) -> Result<T, Problem>,
    ) -> Result<T, StorageFailure> {
        if self.transaction == Transaction::Read {
            let message = "the core called a verb that writes in a call that only reads";
            return Err(self.word(Problem::known(StorageFault::Failed, message)));
        }
        self.reading(verb)
    }

    fn control(&self, sql: &'static str) -> Result<(), StorageFailure> {
        let done = insist(self.patience, || self.connection.prepare_cached(sql)?.execute([]));
        done.map(|_| ()).map_err(|error| self.word(error.into()))
    }

    pub(super) fn word(&self, problem: Problem) -> StorageFailure {
        self.doubt.word(problem, &self.place)
    }
}
