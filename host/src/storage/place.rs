//! What is at the path of a store and beside it, before SQLite looks: SQLite takes much for a
//! database that is none, and puts files beside one that belong to whoever looked.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::failure::{Problem, not_a_database};
use crate::contract::{StorageFailure, StorageFault};

/// The bytes of one page of the smallest size: no database has fewer.
const SMALLEST_FILE: u64 = 512;

/// What lies beside a file in WAL mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Beside {
    /// Nothing that matters: nobody has the file open, and everything is in it.
    Nothing,
    /// What a process that has the file open shares with others.
    Shared,
    /// Commits that are not in the file, and nobody who has it open.
    CommitsAlone,
}

impl Beside {
    /// Looks beside a file.
    pub(super) fn of(path: &Path) -> Self {
        let length = |suffix| fs::metadata(beside(path, suffix)).ok().map(|file| file.len());
        match (length("-wal"), length("-shm")) {
            (Some(_), Some(_)) => Self::Shared,
            (Some(1..), None) => Self::CommitsAlone,
            _ => Self::Nothing,
        }
    }
}

/// Which file is at a path, by whatever name: where the system can tell, which is on Unix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Identity {
    device: u64,
    number: u64,
}

impl Identity {
    /// That of the file at the path, with all links followed, if it can be told.
    ///
    /// # Errors
    /// What the system says: there is no file, or it may not be looked at.
    #[cfg(unix)]
    pub(crate) fn at(path: &Path) -> std::io::Result<Option<Self>> {
        use std::os::unix::fs::MetadataExt as _;
        fs::metadata(path).map(|file| Some(Self { device: file.dev(), number: file.ino() }))
    }

    /// It cannot be told.
    #[cfg(not(unix))]
    pub(crate) fn at(_: &Path) -> std::io::Result<Option<Self>> {
        Ok(None)
    }

    /// Whether this file is still at the path, as far as can be told: a folder that may not be entered any
    /// more says nothing about the file. Asks the system once.
    pub(super) fn is_at(self, path: &Path) -> bool {
        match Self::at(path) {
            Ok(there) => there.is_none_or(|there| there == self),
            Err(error) => !matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory),
        }
    }

    /// Refuses a store whose path leads to another file by now, or to none: what is written to the one
    /// that is open would be lost with it, acknowledged or not.
    pub(crate) fn refuse_another(self, path: &Path) -> Result<(), StorageFailure> {
        if self.is_at(path) {
            return Ok(());
        }
        let message = "the file was removed or replaced while it was open, and what is written to the \
                       old one would be lost; put that one back, or end every process that has it \
                       open and start again";
        Err(Problem::known(StorageFault::Failed, message).worded(&path.display().to_string()))
    }
}

/// Whether there are commits beside the file that are not in it yet.
pub(super) fn has_wal(path: &Path) -> bool {
    has_bytes(&beside(path, "-wal"))
}

/// Whether there is a file with anything in it.
pub(super) fn has_bytes(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|file| file.len() > 0)
}

/// The path of a file that SQLite keeps beside the store.
pub(super) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(suffix);
    PathBuf::from(name)
}

/// Refuses what cannot hold a database. Only asks what it is and how long: opening and closing the
/// file here would drop locks that this process holds on it.
pub(super) fn refuse_what_is_no_database(path: &Path) -> Result<(), Problem> {
    let Ok(found) = fs::metadata(path) else { return Ok(()) };
    if found.is_dir() {
        let message = "it is a folder; give the path of a file in it";
        return Err(Problem::known(StorageFault::Failed, message));
    }
    if !found.is_file() {
        let message = "it is a device, a pipe or a socket; give the path of a file";
        return Err(Problem::known(StorageFault::Failed, message));
    }
    // SQLite takes a file of one byte for an empty one and would write over it.
    if (1..SMALLEST_FILE).contains(&found.len()) {
        return Err(Problem::known(StorageFault::Corrupt, not_a_database()));
    }
    Ok(())
}

/// Refuses what can be no file's path. SQLite takes an empty one for a file that nobody else finds.
pub(super) fn refuse_what_is_no_path(path: &Path) -> Result<(), Problem> {
    let bytes = path.as_os_str().as_encoded_bytes();
    let message = if bytes.is_empty() {
        "the path is empty; give the path of a file, or :memory:"
    } else if bytes.contains(&0) {
        "the path has a NUL in it; give the path of a file"
    } else {
        return Ok(());
    };
    Err(Problem::known(StorageFault::Failed, message))
}

/// Refuses a store to look at that is not there, or that cannot be seen.
pub(super) fn refuse_missing(path: &Path) -> Result<(), Problem> {
    refuse_what_is_no_path(path)?;
    let message = match path.try_exists() {
        Ok(true) => return Ok(()),
        Ok(false) => "there is no store here; check the path".to_owned(),
        Err(error) => unreachable_words(path, &error),
    };
    Err(Problem::known(StorageFault::Failed, message))
}

/// Makes the folders that a new store needs.
pub(super) fn make_folder(path: &Path) -> Result<(), Problem> {
    let Some(folder) = path.parent() else { return Ok(()) };
    fs::create_dir_all(folder).map_err(|error| {
        let fault = match error.kind() {
            ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => StorageFault::ReadOnly,
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => StorageFault::Full,
            _ => StorageFault::Failed,
        };
        let message = match file_above(path) {
            Some(_) => unreachable_words(path, &error),
            None => {
                format!("its folder could not be made ({error}); make it, or give another path")
            }
        };
        Problem::known(fault, message)
    })
}

fn unreachable_words(path: &Path, error: &std::io::Error) -> String {
    match (file_above(path), error.kind()) {
        (Some(file), _) => {
            format!("{} is a file and no folder; give another path", file.display())
        }
        (None, ErrorKind::PermissionDenied) => {
            "a folder above it may not be entered; change its permissions, or give another path"
                .into()
        }
        (None, _) => format!("it cannot be found ({error}); check the path"),
    }
}

/// What stands where a folder should be.
fn file_above(path: &Path) -> Option<&Path> {
    path.ancestors().skip(1).find(|above| above.is_file())
}

/// Takes an empty file away that a failed opening made, with what SQLite put beside it.
pub(super) fn remove_empty(path: &Path) {
    if fs::metadata(path).is_ok_and(|file| file.is_file() && file.len() == 0) {
        for suffix in ["-wal", "-shm", "-journal", ""] {
            // What is not there need not go, and what cannot go does no harm.
            let _ = fs::remove_file(beside(path, suffix));
        }
    }
}

/// The file as one that nobody changes, which needs nothing beside it.
pub(super) fn immutable(path: &Path) -> PathBuf {
    let mut uri = String::from("file:");
    for byte in path.as_os_str().as_encoded_bytes() {
        if byte.is_ascii_alphanumeric() || b"/._-".contains(byte) {
            uri.push(char::from(*byte));
        } else {
            // Writing to a string cannot fail.
            let _ = write!(uri, "%{byte:02X}");
        }
    }
    uri.push_str("?immutable=1");
    PathBuf::from(uri)
}
