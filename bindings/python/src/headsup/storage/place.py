"""What is at the path of a store, before SQLite looks: SQLite takes much for a database that is
none."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

from .failure import NOT_A_DATABASE, StorageError, read_only

SMALLEST_FILE = 512
"""The bytes of one page of the smallest size: no database has fewer."""


def refuse_what_is_no_database(path: str) -> None:
    """Only asks what it is and how long: opening and closing the file here would drop locks that
    this process holds on it."""
    try:
        found = os.stat(path)
    except OSError:
        return
    if stat.S_ISDIR(found.st_mode):
        raise StorageError("failed", "it is a folder; give the path of a file in it")
    if not stat.S_ISREG(found.st_mode):
        raise StorageError("failed", "it is a device, a pipe or a socket; give the path of a file")
    # SQLite takes a file of one byte for an empty one and would write over it.
    if 1 <= found.st_size < SMALLEST_FILE:
        raise StorageError("corrupt", NOT_A_DATABASE)


Identity = tuple[int, int]
"""Which file it is, by whatever name: its device and number."""


def identity(path: str) -> Identity | None:
    """That of the file at the path, if it can be told."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def is_at(path: str, file: Identity) -> bool:
    """Whether this file is still at the path, as far as can be told: a folder that may not be entered any
    more says nothing about the file."""
    try:
        found = os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True
    return (found.st_dev, found.st_ino) == file


def refuse_another(path: str, file: Identity) -> None:
    """Refuses a store whose path leads to another file by now, or to none: what is written to the one
    that is open would be lost with it."""
    if not is_at(path, file):
        raise StorageError(
            "failed",
            "the file was removed or replaced while it was open, and what is written to the old one "
            "would be lost; put that one back, or end every process that has it open and start again",
        ).at(path)


def has_bytes(path: str) -> bool:
    """Whether there is a file with anything in it."""
    try:
        return os.stat(path).st_size > 0
    except OSError:
        return False


def make_folder(path: str) -> None:
    """Makes the folders that a new store needs."""
    try:
        os.makedirs(Path(path).parent, exist_ok=True)
    except OSError as error:
        raise _unmade(path, error) from error


def _unmade(path: str, error: OSError) -> StorageError:
    above = next((above for above in Path(path).parents if above.is_file()), None)
    if above is not None:
        words = f"{above} is a file and no folder; give another path"
    else:
        words = f"its folder could not be made ({error.strerror}); make it, or give another path"
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return StorageError("read-only", words)
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return StorageError("full", words)
    return StorageError("failed", words)


def unless_folder_refuses(error: StorageError, path: str) -> StorageError:
    """A file that is not there and cannot be made means that its folder may not be written."""
    return error if os.path.exists(path) else read_only()


def remove_empty(path: str) -> None:
    """Takes an empty file away that a failed opening made, with what SQLite put beside it."""
    try:
        is_empty = os.stat(path).st_size == 0
    except OSError:
        return
    if is_empty:
        for suffix in ("-wal", "-shm", "-journal", ""):
            # What is not there need not go, and what cannot go does no harm.
            try:
                os.remove(path + suffix)
            except OSError:
                pass
