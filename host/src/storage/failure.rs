//! What can go wrong with a store, and the words for it: which fault it is, what happened and what
//! to do. Messages name tables, columns and files, never the content of a row.

use rusqlite::ErrorCode;
use rusqlite::ffi::{
    SQLITE_IOERR_CORRUPTFS, SQLITE_IOERR_DIR_FSYNC, SQLITE_IOERR_FSYNC, SQLITE_IOERR_SHMSIZE,
    SQLITE_IOERR_SHORT_READ,
};

use crate::contract::{StorageFailure, StorageFault};

/// A failure before it is worded for the caller.
#[derive(Debug, thiserror::Error)]
pub(super) enum Problem {
    /// SQLite refused.
    #[error(transparent)]
    Sqlite(#[from] rusqlite::Error),
    /// A row that breaks the protocol: the table and what is wrong, without its content.
    #[error("a row of {table} has {what}")]
    Row { table: &'static str, what: &'static str },
    /// Found out by the store itself, worded already.
    #[error("{1}")]
    Known(StorageFault, String),
}

impl Problem {
    /// A failure that the store found out by itself.
    pub(super) fn known(fault: StorageFault, message: impl Into<String>) -> Self {
        Self::Known(fault, message.into())
    }

    /// Which fault it is.
    pub(super) fn fault(&self) -> StorageFault {
        match self {
            Self::Sqlite(error) => from_sqlite(error).0,
            Self::Row { .. } => StorageFault::Corrupt,
            Self::Known(fault, _) => *fault,
        }
    }

    /// Whether the system could not bring to the disk what was written: what the disk has is then
    /// unknown, and a later success says nothing of what this one lost.
    pub(super) fn is_failed_sync(&self) -> bool {
        match self {
            Self::Sqlite(rusqlite::Error::SqliteFailure(code, _)) => {
                is_failed_sync(code.extended_code)
            }
            _ => false,
        }
    }

    /// The failure in the contract's terms. `place` says which store it is.
    pub(super) fn worded(self, place: &str) -> StorageFailure {
        let (fault, message) = match self {
            Self::Sqlite(error) => from_sqlite(&error),
            Self::Row { .. } => (
                StorageFault::Corrupt,
                format!("{self}, which headsup never writes; run `headsup doctor` on it"),
            ),
            Self::Known(fault, message) => (fault, message),
        };
        StorageFailure { fault, message: format!("store {place}: {message}") }
    }
}

/// The code that SQLite gave, also for an error in the middle of a statement's text.
pub(super) fn code_of(error: &rusqlite::Error) -> Option<ErrorCode> {
    match error {
        rusqlite::Error::SqliteFailure(error, _) | rusqlite::Error::SqlInputError { error, .. } => {
            Some(error.code)
        }
        _ => None,
    }
}

fn from_sqlite(error: &rusqlite::Error) -> (StorageFault, String) {
    match error {
        rusqlite::Error::SqliteFailure(code, detail) => {
            by_code(code.code, code.extended_code, detail.as_deref())
        }
        rusqlite::Error::SqlInputError { error, msg, .. } => {
            by_code(error.code, error.extended_code, Some(msg))
        }
        rusqlite::Error::InvalidColumnType(_, column, _) => (
            StorageFault::Corrupt,
            format!(
                "column {column} of a row has a type that headsup never writes; run \
                 `headsup doctor` on it"
            ),
        ),
        rusqlite::Error::FromSqlConversionFailure(..)
        | rusqlite::Error::IntegralValueOutOfRange(..)
        | rusqlite::Error::Utf8Error(..) => (
            StorageFault::Corrupt,
            "a row has a value that headsup never writes; run `headsup doctor` on it".into(),
        ),
        other => (StorageFault::Failed, format!("{other}; this is a defect of the host")),
    }
}

fn by_code(code: ErrorCode, extended: i32, detail: Option<&str>) -> (StorageFault, String) {
    let detail = detail.unwrap_or("no detail given");
    match code {
        ErrorCode::DatabaseBusy
        | ErrorCode::DatabaseLocked
        | ErrorCode::FileLockingProtocolFailed => (
            StorageFault::Busy,
            "another process holds the write lock for longer than the time-out; try again, or \
             raise the time-out"
                .into(),
        ),
        ErrorCode::DiskFull => full(),
        // Memory that processes share is a file, too, and this is how SQLite says that it cannot
        // grow.
        ErrorCode::SystemIoFailure if extended == SQLITE_IOERR_SHMSIZE => full(),
        ErrorCode::NotADatabase => (StorageFault::Corrupt, not_a_database()),
        ErrorCode::DatabaseCorrupt => damaged(),
        ErrorCode::SystemIoFailure
            if [SQLITE_IOERR_SHORT_READ, SQLITE_IOERR_CORRUPTFS].contains(&extended) =>
        {
            damaged()
        }
        ErrorCode::SystemIoFailure if is_failed_sync(extended) => (
            StorageFault::Failed,
            "a sync failed, so that nobody knows what the disk has; check the disk, then open the \
             store again (restart the process). Until then it refuses all work"
                .into(),
        ),
        ErrorCode::SystemIoFailure => (
            StorageFault::Failed,
            format!(
                "the operating system could not read or write it ({detail}); check the disk and its quota"
            ),
        ),
        ErrorCode::ReadOnly => (StorageFault::ReadOnly, read_only()),
        ErrorCode::CannotOpen | ErrorCode::PermissionDenied => (
            StorageFault::Failed,
            "the file cannot be opened; check that it is a file, that its folder exists, and the \
             permissions of both"
                .into(),
        ),
        ErrorCode::ConstraintViolation => (
            StorageFault::Failed,
            format!("the store refuses a value that the core gave ({detail})"),
        ),
        ErrorCode::OutOfMemory => (StorageFault::Failed, "out of memory".into()),
        _ => (StorageFault::Failed, format!("SQLite says: {detail}")),
    }
}

fn is_failed_sync(extended: i32) -> bool {
    [SQLITE_IOERR_FSYNC, SQLITE_IOERR_DIR_FSYNC].contains(&extended)
}

fn full() -> (StorageFault, String) {
    (
        StorageFault::Full,
        "the disk, or the file's size limit, is full; free some space and try again".into(),
    )
}

fn damaged() -> (StorageFault, String) {
    (
        StorageFault::Corrupt,
        "the file is damaged; put a backup in its place, and mark it with `headsup restored`"
            .into(),
    )
}

/// What to say of a file that holds something else.
pub(super) fn not_a_database() -> String {
    "the file is not a SQLite database (or is encrypted); nothing was changed. Give another path, \
     or move the file away"
        .into()
}

/// What to say of a file that may not be written.
pub(super) fn read_only() -> String {
    "the file or its folder may not be written; change the permissions, or give another path".into()
}
