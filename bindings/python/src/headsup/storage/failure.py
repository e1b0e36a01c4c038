"""What can go wrong with a store, and the words for it: which fault it is, what happened and what
to do. Messages name tables, columns and files, never the content of a row."""

from __future__ import annotations

import apsw

from ..contract import Fault, StorageFault


class StorageError(Exception):
    """A store that did not do what was asked. The transaction is lost."""

    def __init__(self, fault: Fault, message: str, *, unsynced: bool = False) -> None:
        super().__init__(message)
        self.fault: Fault = fault
        self.message = message
        self.unsynced = unsynced
        """Whether a sync failed: what the disk has is then unknown."""

    def at(self, place: str) -> StorageError:
        """The same, saying which store it is."""
        return StorageError(self.fault, f"store {place}: {self.message}", unsynced=self.unsynced)

    def lowered(self) -> StorageFault:
        """The failure as the contract has it."""
        return StorageFault(self.fault, self.message)


def broken_row(table: str, what: str) -> StorageError:
    """A row that breaks the protocol: the table and what is wrong, without its content."""
    return StorageError(
        "corrupt",
        f"a row of {table} has {what}, which headsup never writes; run `headsup doctor` on it",
    )


def of_sqlite(error: apsw.Error | UnicodeDecodeError) -> StorageError:
    """What SQLite said, in the contract's terms."""
    if isinstance(error, UnicodeDecodeError):
        return StorageError(
            "corrupt",
            "a row has a value that headsup never writes; run `headsup doctor` on it",
        )
    extended = getattr(error, "extendedresult", 0)
    match error:
        case apsw.BusyError() | apsw.LockedError():
            return busy()
        case apsw.FullError():
            return full()
        case apsw.NotADBError():
            return StorageError("corrupt", NOT_A_DATABASE)
        case apsw.CorruptError():
            return damaged()
        case apsw.IOError():
            return _io(extended, str(error))
        case apsw.ReadOnlyError():
            return read_only()
        case apsw.CantOpenError() | apsw.PermissionsError():
            return StorageError(
                "failed",
                "the file cannot be opened; check that it is a file, that its folder exists, and "
                "the permissions of both",
            )
        case apsw.ConstraintError():
            return StorageError("failed", f"the store refuses a value that the core gave ({error})")
        case apsw.NoMemError():
            return StorageError("failed", "out of memory")
        case _:
            return StorageError("failed", f"SQLite says: {error}")


def _io(extended: int, detail: str) -> StorageError:
    # Memory that processes share is a file, too, and this is how SQLite says that it cannot grow.
    if extended == apsw.SQLITE_IOERR_SHMSIZE:
        return full()
    if extended in (apsw.SQLITE_IOERR_SHORT_READ, apsw.SQLITE_IOERR_CORRUPTFS):
        return damaged()
    if extended in (apsw.SQLITE_IOERR_FSYNC, apsw.SQLITE_IOERR_DIR_FSYNC):
        return StorageError(
            "failed",
            "a sync failed, so that nobody knows what the disk has; check the disk, then open the "
            "store again (restart the process). Until then it refuses all work",
            unsynced=True,
        )
    return StorageError(
        "failed",
        f"the operating system could not read or write it ({detail}); check the disk and its quota",
    )


NOT_A_DATABASE = (
    "the file is not a SQLite database (or is encrypted); nothing was changed. Give another path, "
    "or move the file away"
)


def busy() -> StorageError:
    return StorageError(
        "busy",
        "another process holds the write lock for longer than the time-out; try again, or raise "
        "the time-out",
    )


def full() -> StorageError:
    return StorageError(
        "full", "the disk, or the file's size limit, is full; free some space and try again"
    )


def damaged() -> StorageError:
    return StorageError(
        "corrupt",
        "the file is damaged; put a backup in its place, and mark it with `headsup restored`",
    )


def read_only() -> StorageError:
    return StorageError(
        "read-only",
        "the file or its folder may not be written; change the permissions, or give another path",
    )
