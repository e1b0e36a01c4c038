//! Reading what the core plans for adopted sessions: files inside the folders that are allowed. What
//! the bytes mean is the core's business; here it is only told apart whether a file is there, is
//! definitively not there, could not be read this time, or may not be read at all.
//!
//! Nothing of a file's content reaches an error, the log or the store.

mod crew;
mod folders;
mod locate;
mod system;
mod window;

#[cfg(test)]
mod tests;

use std::io;
use std::path::Path;
use std::time::SystemTime;

pub(crate) use self::crew::Crew;
use self::folders::Folders;
pub use self::folders::{FolderFiles, user_folders};
use self::locate::{Located, locate};
use self::window::{Extent, Window};
use crate::contract::{FileFound, FileRead, Found};

/// The longest reason, in bytes.
const REASON_BYTES: usize = 256;

/// A file that is replaced whenever it is looked at is given up after so many looks.
const LOOKS: u32 = 3;

/// Where files of adopted sessions are read. [`FolderFiles`] reads those of this machine; an embedder
/// may bring another, for files that live behind something else.
///
/// Called on threads of the host's own, several at once. One that hangs costs its own source the
/// check and no other: see [`Builder::source_deadline`](crate::Builder::source_deadline).
pub trait SourceFiles: Send + Sync {
    /// Reads on in a file, for a check. Never panics, and answers [`Found::Missing`] only where that
    /// is definitive; reasons name no content.
    fn read_on(&self, read: &FileRead) -> Found;

    /// Reads both ends of the file at this absolute path, for an adoption, as `upstreams.adopt` in the
    /// contract says. The same otherwise.
    fn read_ends(&self, path: &str) -> Found;
}

impl SourceFiles for FolderFiles {
    fn read_on(&self, read: &FileRead) -> Found {
        let folders = self.folders();
        let extent = Extent::On { start: read.start, at_most: read.at_most };
        for (number, place) in read.places.iter().enumerate() {
            match read_place(Path::new(place), extent, read.stamp.as_deref(), &folders) {
                Found::Missing => {}
                // Where the file may have moved to need not be a folder that is allowed.
                Found::Refused(_) if number > 0 => {}
                found => return found,
            }
        }
        Found::Missing
    }

    fn read_ends(&self, path: &str) -> Found {
        read_place(Path::new(path), Extent::Ends, None, &self.folders())
    }
}

/// Reads the file at one place, again from the start if it was replaced meanwhile.
fn read_place(place: &Path, extent: Extent, stamp: Option<&str>, folders: &Folders) -> Found {
    for _ in 0..LOOKS {
        let located = match locate(place, folders) {
            Ok(located) => located,
            Err(found) => return found,
        };
        if stamp.is_some_and(|stamp| stamp == system::stamp(&located.metadata)) {
            return Found::Unchanged;
        }
        match read_located(place, &located, extent) {
            Ok(Some(file)) => return Found::File(file),
            Ok(None) => {}
            Err(error) => return unavailable(&error.to_string()),
        }
    }
    unavailable("it was replaced whenever it was looked at")
}

/// Opens what was located and reads it; nothing if it is no longer what was located.
fn read_located(place: &Path, located: &Located, extent: Extent) -> io::Result<Option<FileFound>> {
    let file = match system::open(&located.real) {
        Ok(file) => file,
        Err(error) if was_swapped(&error) => return Ok(None),
        Err(error) => return Err(error),
    };
    // The way there is looked at again: a folder on it may have become a link that leads outside.
    let metadata = file.metadata()?;
    let way = std::fs::canonicalize(place).ok();
    if !system::same(&metadata, &located.metadata) || way.as_ref() != Some(&located.real) {
        return Ok(None);
    }
    let stamp = system::steady_stamp(&metadata, SystemTime::now());
    let size = metadata.len();
    let Window { head, start, bytes } = Window::read(&file, extent, size)?;
    Ok(Some(FileFound {
        identity: system::identity(&metadata),
        stamp,
        size,
        modified_at: system::modified_at(&metadata),
        head,
        start,
        bytes,
    }))
}

/// What opening says when the file went, or a link took its place, since it was located.
fn was_swapped(error: &io::Error) -> bool {
    is_absence(error) || system::is_link(error)
}

/// Whether this says that there is nothing of this name.
fn is_absence(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

fn unavailable(why: &str) -> Found {
    Found::Unavailable(reason(why))
}

fn refused(why: &str) -> Found {
    Found::Refused(reason(why))
}

/// Words on one line and within the contract's bound: a path may hold anything.
fn reason(words: &str) -> String {
    let mut reason = words.replace(char::is_control, " ");
    reason.truncate(reason.floor_char_boundary(REASON_BYTES));
    reason
}
