//! What tells files and their states apart, by the means of the system.
//!
//! On Unix a file is known by device, inode and, where there is one, time of birth. Elsewhere the
//! standard library tells less: by its time of birth alone, so that a file that was swapped while it
//! was looked at may go unnoticed, and opening does not guard against links and pipes that took the
//! file's place.

use std::fmt::Write;
use std::fs::Metadata;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

pub(super) use self::platform::{is_link, open, read_at, same};
use crate::clock::LATEST;

/// A second, in ns.
const SECOND: i128 = 1_000_000_000;

/// The longest step of a file system that keeps no fractions of seconds, in ns.
const COARSE_STEP: i128 = 2 * SECOND;

/// Longer than the step of any system's timer, in ns.
const TIMER_STEP: i128 = SECOND / 20;

/// What tells one file from another in its place.
pub(super) fn identity(metadata: &Metadata) -> String {
    let mut identity = platform::number(metadata);
    if let Ok(born) = metadata.created() {
        let _ = write!(identity, "-{:x}", nanoseconds(born));
    }
    identity
}

/// What changes whenever the file does.
pub(super) fn stamp(metadata: &Metadata) -> String {
    let modified = metadata.modified().map_or(0, nanoseconds);
    let changed = platform::changed(metadata);
    format!("{}-{:x}-{modified:x}-{changed:x}", identity(metadata), metadata.len())
}

/// The stamp of a file that rests: one that is written to once more will have another. Nothing for one
/// that changed only just before `now`, because the times of files move in steps: those of the
/// system's timer, or seconds where the file system keeps no fractions.
pub(super) fn steady_stamp(metadata: &Metadata, now: SystemTime) -> Option<String> {
    let changed = platform::changed(metadata).max(metadata.modified().map_or(0, nanoseconds));
    let step = if changed % SECOND == 0 { COARSE_STEP } else { TIMER_STEP };
    (changed + step <= nanoseconds(now)).then(|| stamp(metadata))
}

/// When it was last written, in ms since the Unix epoch.
pub(super) fn modified_at(metadata: &Metadata) -> u64 {
    let modified = metadata.modified().unwrap_or(UNIX_EPOCH);
    let since = modified.duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(LATEST).min(LATEST)
}

/// In ns since the Unix epoch, below 0 before it.
fn nanoseconds(time: SystemTime) -> i128 {
    let ns = |duration: Duration| i128::try_from(duration.as_nanos()).unwrap_or(i128::MAX);
    match time.duration_since(UNIX_EPOCH) {
        Ok(since) => ns(since),
        Err(before) => -ns(before.duration()),
    }
}

#[cfg(unix)]
mod platform {
    use std::fs::{File, Metadata, OpenOptions};
    use std::io;
    use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
    use std::path::Path;

    use rustix::fs::OFlags;
    use rustix::io::Errno;

    /// Opens a file to read it: never a link, and without waiting should it be a pipe by now.
    pub(crate) fn open(path: &Path) -> io::Result<File> {
        let flags = OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::NOCTTY;
        // The bits of flags are what the system calls an int.
        let flags = flags.bits().cast_signed();
        OpenOptions::new().read(true).custom_flags(flags).open(path)
    }

    /// Whether opening failed because the path is a link.
    pub(crate) fn is_link(error: &io::Error) -> bool {
        error.raw_os_error() == Some(Errno::LOOP.raw_os_error())
    }

    pub(crate) fn read_at(file: &File, bytes: &mut [u8], at: u64) -> io::Result<usize> {
        file.read_at(bytes, at)
    }

    /// Whether both are of one regular file.
    pub(crate) fn same(one: &Metadata, other: &Metadata) -> bool {
        one.is_file() && other.is_file() && number(one) == number(other)
    }

    pub(super) fn number(metadata: &Metadata) -> String {
        format!("{:x}-{:x}", metadata.dev(), metadata.ino())
    }

    /// When anything of the file changed last, also its name or its permissions: a time that nobody
    /// can set.
    pub(super) fn changed(metadata: &Metadata) -> i128 {
        i128::from(metadata.ctime()) * 1_000_000_000 + i128::from(metadata.ctime_nsec())
    }
}

#[cfg(not(unix))]
mod platform {
    use std::fs::{File, Metadata};
    use std::io::{self, Read, Seek, SeekFrom};
    use std::path::Path;

    pub(crate) fn open(path: &Path) -> io::Result<File> {
        File::open(path)
    }

    pub(crate) fn is_link(_: &io::Error) -> bool {
        false
    }

    pub(crate) fn read_at(mut file: &File, bytes: &mut [u8], at: u64) -> io::Result<usize> {
        file.seek(SeekFrom::Start(at))?;
        file.read(bytes)
    }

    pub(crate) fn same(one: &Metadata, other: &Metadata) -> bool {
        one.is_file() && other.is_file() && one.created().ok() == other.created().ok()
    }

    pub(super) fn number(_: &Metadata) -> String {
        String::from("file")
    }

    pub(super) fn changed(_: &Metadata) -> i128 {
        0
    }
}
