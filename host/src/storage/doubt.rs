//! Whether the disk has what it was given: the first sync that failed on a connection, or the loss of
//! its log, and the places where SQLite itself would not say so.

use std::ffi::c_int;
use std::sync::{Arc, OnceLock};

use rusqlite::Connection;
use rusqlite::hooks::Wal;

use super::failure::Problem;
use crate::contract::StorageFailure;

/// Why what a connection gave to the disk is in doubt. Clones are of the same connection.
#[derive(Clone, Debug, Default)]
pub(super) struct Doubt(Arc<OnceLock<StorageFailure>>);

impl Doubt {
    /// Words a problem of the store at `place`, and remembers it if it is a failed sync.
    pub(super) fn word(&self, problem: Problem, place: &str) -> StorageFailure {
        let failed = problem.is_failed_sync();
        let failure = problem.worded(place);
        if failed {
            // The first one is the one to tell.
            let _ = self.0.set(failure.clone());
        }
        failure
    }

    /// Remembers that the log is no longer the one that commits were written to.
    pub(super) fn log_lost(&self, failure: &StorageFailure) {
        let _ = self.0.set(failure.clone());
    }

    /// The first failure, if there was one.
    pub(super) fn first(&self) -> Option<&StorageFailure> {
        self.0.get()
    }
}

/// Brings commits from the log beside the file into it, after each commit that leaves at least so
/// many pages there.
///
/// SQLite would do just this by itself, but would drop what goes wrong. The commit stands whatever
/// happens here; what cannot be brought in now stays in the log, and is tried again after the next.
pub(super) fn checkpoint_after_commits(
    connection: &mut Connection,
    pages: u32,
    doubt: &Doubt,
    place: &str,
) -> Result<(), Problem> {
    let (doubt, place) = (doubt.clone(), place.to_owned());
    let hook = move |wal: &mut Wal, there: c_int| {
        if u32::try_from(there).is_ok_and(|there| there >= pages)
            && let Err(error) = wal.checkpoint()
        {
            doubt.word(error.into(), &place);
        }
        Ok(())
    };
    Ok(connection.wal_hook(Some(hook))?)
}
