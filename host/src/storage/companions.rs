//! What SQLite keeps beside a file that is open: its log and its shared memory. Nobody may take them away
//! meanwhile, and SQLite does not look whether somebody did.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use rusqlite::Connection;

use super::failure::Problem;
use super::place::{Identity, beside, has_bytes};
use crate::contract::StorageFault;

/// Those of every file that this process has open. SQLite has one of each for all connections to a file:
/// one that is opened later would work with the old shared memory, whatever lies beside the file by then.
static OPEN: Mutex<BTreeMap<Identity, Weak<Companions>>> = Mutex::new(BTreeMap::new());

/// What became of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kept {
    /// They are where they were, as far as can be told.
    All,
    /// One is gone, and nobody has put a log or shared memory of their own in its place.
    NotAll,
    /// A process that opened the store since has put its own there.
    Usurped,
}

/// The files beside a store, as they were when this process opened it.
#[derive(Debug)]
pub(super) struct Companions {
    paths: [PathBuf; 2],
    known: [Option<Identity>; 2],
    /// Whose they are. A process that forked has [`OPEN`] too, but not the locks on the files.
    process: u32,
}

impl Companions {
    /// Those of a connection that has read already, so that they are there. Nothing for a store in memory,
    /// and for a file that is opened as one that nobody changes.
    pub(super) fn of(connection: &Connection) -> Option<Arc<Self>> {
        // SQLite names them after the file that links lead to.
        let path = Path::new(connection.path().filter(|path| !path.is_empty())?);
        let file = Identity::at(path).ok().flatten()?;
        let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = open.get(&file).and_then(Weak::upgrade) {
            return Some(known);
        }
        let paths = ["-wal", "-shm"].map(|suffix| beside(path, suffix));
        let known = paths.each_ref().map(|path| Identity::at(path).ok().flatten());
        if known == [None, None] {
            return None;
        }
        let companions = Arc::new(Self { paths, known, process: process::id() });
        open.retain(|_, known| known.strong_count() > 0);
        open.insert(file, Arc::downgrade(&companions));
        Some(companions)
    }

    /// Refuses to open another connection where they were taken from those that this process has, or
    /// where they are of the process that forked this one: SQLite remembers here which locks that one
    /// holds, would take none, and other processes would take the file for unused.
    pub(super) fn refuse_opening(path: &Path) -> Result<(), Problem> {
        let Ok(Some(file)) = Identity::at(path) else { return Ok(()) };
        // Held while this looks: whoever opens meanwhile would take them for those of an open connection.
        let open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
        match open.get(&file).and_then(Weak::upgrade) {
            Some(known) if known.process != process::id() => Err(inherited()),
            Some(known) if known.kept() != Kept::All => Err(taken_away()),
            _ => Ok(()),
        }
    }

    /// Looks for them. Asks the system twice.
    pub(super) fn kept(&self) -> Kept {
        let [log, shared] = &self.paths;
        let [log_kept, shared_kept] = std::array::from_fn(|which| {
            self.known[which].is_none_or(|known| known.is_at(&self.paths[which]))
        });
        if log_kept && shared_kept {
            Kept::All
        } else if !log_kept && has_bytes(log) || !shared_kept && shared.exists() {
            Kept::Usurped
        } else {
            Kept::NotAll
        }
    }
}

/// Commits would go to a log that nobody would find again, or past the locks of other processes.
pub(super) fn taken_away() -> Problem {
    let message = "its -wal or its -shm was removed or replaced while it was open; end every \
                   process that has it open and start again";
    Problem::known(StorageFault::Failed, message)
}

fn inherited() -> Problem {
    let message = "the process that forked this one had it open, so that locks on it would not hold \
                   here: open it after the fork alone, or start a program of its own";
    Problem::known(StorageFault::Failed, message)
}
