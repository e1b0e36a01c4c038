//! A disk that can fail: what was written to the files of one folder is kept apart from what is
//! durable, every operation counts, and one of them is where it goes wrong.

use std::collections::BTreeMap;
use std::ffi::c_int;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

use harness::Dice;
use rusqlite::ffi;

/// An operation on a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    Open,
    Read,
    Write,
    Sync,
    Truncate,
    Delete,
}

/// What goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// This operation fails, and the next one works.
    Once,
    /// This one and all that follow fail.
    From,
    /// From this one on there is no room: writes fail until the fault is gone.
    Full,
    /// The first sync from this one on fails, and all that follow work.
    Sync,
    /// The process ends before it: what was written is there.
    Kill,
    /// The power goes before it, and of what was not synced everything is lost.
    Lose,
    /// … each file has the first part of it, torn at a sector.
    Tear,
    /// … any part of it may have got to the disk, in any order.
    Reorder,
}

impl Fault {
    /// Whether the process and its connections are gone with it.
    pub fn is_an_end(self) -> bool {
        matches!(self, Self::Kill | Self::Lose | Self::Tear | Self::Reorder)
    }
}

/// A change of a file that may not be durable yet.
#[derive(Clone)]
enum Change {
    Write(usize, Vec<u8>),
    Truncate(usize),
}

/// One file.
#[derive(Default)]
struct Content {
    durable: Vec<u8>,
    since: Vec<Change>,
    /// Whether its name is durable: until its folder was synced, a new file may be gone with the
    /// power, with everything in it.
    named: bool,
}

#[derive(Default)]
struct State {
    files: BTreeMap<PathBuf, Content>,
    /// What is durable of files that were deleted since their folder was synced: they may be back.
    deleted: BTreeMap<PathBuf, Vec<u8>>,
    count: u64,
    fault: Option<(u64, Fault)>,
    /// Whether the fault has happened.
    struck: bool,
}

/// The files of a folder.
#[derive(Clone, Default)]
pub struct Disk(Arc<Mutex<State>>);

/// Each disk with its folder, for the file system that SQLite sees.
static DISKS: LazyLock<Mutex<Vec<(PathBuf, Disk)>>> = LazyLock::new(Mutex::default);

/// The smallest piece that a disk writes as a whole.
const SECTOR: usize = 512;

impl Disk {
    /// The disk for the files of this folder, from now on, with a fault at the k-th operation.
    pub fn of(folder: &Path, fault: Option<(u64, Fault)>) -> Self {
        let disk = Self::default();
        disk.state().fault = fault;
        let mut disks = DISKS.lock().unwrap_or_else(PoisonError::into_inner);
        disks.retain(|(other, _)| other != folder);
        disks.push((folder.to_owned(), disk.clone()));
        disk
    }

    /// The disk of a file, if it is not an ordinary one.
    pub fn holding(file: &Path) -> Option<Self> {
        let disks = DISKS.lock().unwrap_or_else(PoisonError::into_inner);
        let found = disks.iter().find(|(folder, _)| file.parent() == Some(folder));
        found.map(|(_, disk)| disk.clone())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many operations there were.
    pub fn count(&self) -> u64 {
        self.state().count
    }

    /// Whether the fault has happened.
    pub fn struck(&self) -> bool {
        self.state().struck
    }

    /// From the next operation on this goes wrong.
    pub fn breaks(&self, fault: Fault) {
        let mut state = self.state();
        state.fault = Some((state.count + 1, fault));
    }

    /// Counts an operation, and says with which code it fails, if it does.
    pub fn act(&self, act: Act) -> Result<(), c_int> {
        let mut state = self.state();
        state.count += 1;
        let Some((at, fault)) = state.fault else { return Ok(()) };
        let (here, reached) = (state.count == at, state.count >= at);
        let fails = match fault {
            Fault::Once => here,
            Fault::Full => reached && act == Act::Write,
            Fault::Sync => reached && act == Act::Sync && !state.struck,
            _ => reached,
        };
        if !fails {
            return Ok(());
        }
        state.struck = true;
        Err(match act {
            _ if fault == Fault::Full => ffi::SQLITE_FULL,
            Act::Open => ffi::SQLITE_CANTOPEN,
            Act::Read => ffi::SQLITE_IOERR_READ,
            Act::Write => ffi::SQLITE_IOERR_WRITE,
            Act::Sync => ffi::SQLITE_IOERR_FSYNC,
            Act::Truncate => ffi::SQLITE_IOERR_TRUNCATE,
            Act::Delete => ffi::SQLITE_IOERR_DELETE,
        })
    }

    /// A file is there, with what is durable of it if it was there before.
    pub fn opened(&self, file: &Path, new: bool) {
        let mut state = self.state();
        let content = || Content {
            durable: fs::read(file).unwrap_or_default(),
            since: Vec::new(),
            named: !new,
        };
        state.files.entry(file.to_owned()).or_insert_with(content);
    }

    pub fn written(&self, file: &Path, at: usize, bytes: &[u8]) {
        self.changed(file, Change::Write(at, bytes.to_vec()));
    }

    pub fn truncated(&self, file: &Path, length: usize) {
        self.changed(file, Change::Truncate(length));
    }

    fn changed(&self, file: &Path, change: Change) {
        if let Some(content) = self.state().files.get_mut(file) {
            content.since.push(change);
        }
    }

    pub fn synced(&self, file: &Path) {
        if let Some(content) = self.state().files.get_mut(file) {
            for change in std::mem::take(&mut content.since) {
                change.apply(&mut content.durable);
            }
        }
    }

    /// A file is gone, for good only once its folder was synced.
    pub fn deleted(&self, file: &Path) {
        let mut state = self.state();
        if let Some(content) = state.files.remove(file).filter(|content| content.named) {
            state.deleted.insert(file.to_owned(), content.durable);
        }
    }

    /// The folder was synced: which files there are is durable now.
    pub fn folder_synced(&self) {
        let mut state = self.state();
        state.deleted.clear();
        state.files.values_mut().for_each(|content| content.named = true);
    }

    /// Leaves on the real disk what the fault leaves of the files, once nobody has them open.
    pub fn settle(&self, dice: &mut Dice) {
        let mut state = self.state();
        let fault = state.fault.map(|(_, fault)| fault);
        for (file, durable) in std::mem::take(&mut state.deleted) {
            if fault.is_some_and(|fault| fault.forgets_names(dice))
                && !state.files.contains_key(&file)
            {
                fs::write(file, durable).expect("the folder of a test");
            }
        }
        for (file, content) in std::mem::take(&mut state.files) {
            if !content.named && fault.is_some_and(|fault| fault.forgets_names(dice)) {
                fs::remove_file(file).expect("it is there");
                continue;
            }
            let mut left = content.durable;
            for change in fault.map(|fault| fault.leaves(content.since, dice)).unwrap_or_default() {
                change.apply(&mut left);
            }
            if fault != Some(Fault::Kill) {
                fs::write(file, left).expect("the folder of a test");
            }
        }
    }
}

impl Fault {
    /// Whether what happened to the name of a file since its folder was synced is lost as well.
    fn forgets_names(self, dice: &mut Dice) -> bool {
        match self {
            Self::Lose => true,
            Self::Tear | Self::Reorder => dice.below(2) == 0,
            _ => false,
        }
    }

    /// Which of the changes that were not synced got to the disk.
    fn leaves(self, changes: Vec<Change>, dice: &mut Dice) -> Vec<Change> {
        match self {
            Self::Tear if !changes.is_empty() => {
                let mut left = changes;
                left.truncate(1 + below(dice, left.len()));
                if let Some(Change::Write(_, bytes)) = left.last_mut() {
                    bytes.truncate(below(dice, bytes.len() / SECTOR + 1) * SECTOR);
                }
                left
            }
            Self::Reorder => {
                let pieces = changes.into_iter().flat_map(Change::pieces);
                pieces.filter(|_| dice.below(2) == 0).collect()
            }
            _ => Vec::new(),
        }
    }
}

impl Change {
    fn apply(self, content: &mut Vec<u8>) {
        match self {
            Self::Write(at, bytes) => {
                let end = at + bytes.len();
                if content.len() < end {
                    content.resize(end, 0);
                }
                content[at..end].copy_from_slice(&bytes);
            }
            Self::Truncate(length) => content.truncate(length),
        }
    }

    /// The sectors of it.
    fn pieces(self) -> Vec<Self> {
        let Self::Write(at, bytes) = self else { return vec![self] };
        let first = SECTOR - at % SECTOR;
        let (head, rest) = bytes.split_at(first.min(bytes.len()));
        let mut pieces = vec![Self::Write(at, head.to_vec())];
        let sectors = rest.chunks(SECTOR).enumerate();
        pieces.extend(
            sectors.map(|(i, sector)| Self::Write(at + first + i * SECTOR, sector.to_vec())),
        );
        pieces
    }
}

fn below(dice: &mut Dice, bound: usize) -> usize {
    usize::try_from(dice.below(bound as u64)).expect("it is below a length")
}
