"""Reading files of adopted sessions on this machine."""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Protocol

from ..contract import Case, FileFound, FileRead
from . import system
from .folders import Folders, user_folders
from .found import MISSING, UNCHANGED, is_absence, unavailable, words
from .locate import Located, locate
from .window import MOST, TooLong, Window, read_ends, read_on

LOOKS = 3
"""A file that is replaced whenever it is looked at is given up after so many looks."""

Extent = Callable[[int, int], Window]
"""What is read of an open file that has a size."""


class SourceFiles(Protocol):
    """Where files of adopted sessions are read. Called on threads of the host's own, several at
    once."""

    def read_on(self, read: FileRead) -> Case:
        """Reads on in a file, for a check. Answers `missing` only where that is definitive; reasons
        name no content."""

    def read_ends(self, path: str) -> Case:
        """Reads both ends of the file at this absolute path, for an adoption."""


class FolderFiles:
    """Reads files that lie inside allowed folders: `None` stands for those where the tools of this
    user keep their sessions. A path outside all of them, or a symbolic link that leads outside, is
    refused."""

    def __init__(self, folders: Iterable[str | os.PathLike[str]] | None = None) -> None:
        self._given = None if folders is None else [os.fspath(folder) for folder in folders]

    def read_on(self, read: FileRead) -> Case:
        def extent(file: int, size: int) -> Window:
            return read_on(file, read.start, read.at_most, size)

        folders = self._folders()
        for number, place in enumerate(read.places):
            found = _read_place(Path(place), extent, read.stamp, folders)
            # Where the file may have moved to need not be a folder that is allowed.
            if found != MISSING and not (found.tag == "refused" and number > 0):
                return found
        return MISSING

    def read_ends(self, path: str) -> Case:
        return _read_place(Path(path), read_ends, None, self._folders())

    def _folders(self) -> Folders:
        return Folders(user_folders() if self._given is None else self._given)


def _read_place(place: Path, extent: Extent, stamp: str | None, folders: Folders) -> Case:
    """Reads the file at one place, again from the start if it was replaced meanwhile."""
    for _ in range(LOOKS):
        located = locate(place, folders)
        if isinstance(located, Case):
            return located
        if stamp is not None and stamp == system.stamp(located.status):
            return UNCHANGED
        try:
            found = _read_located(place, located, extent)
        except TooLong:
            return unavailable(
                f"a line or a backlog is longer than the {MOST} bytes that this host reads at once; "
                "the `native` engine, or `headsup serve`, reads it"
            )
        except OSError as error:
            return unavailable(words(error))
        if found is not None:
            return Case("file", found)
    return unavailable("it was replaced whenever it was looked at")


def _read_located(place: Path, located: Located, extent: Extent) -> FileFound | None:
    """Opens what was located and reads it; nothing if it is no longer what was located."""
    try:
        file = system.open_to_read(str(located.real))
    except OSError as error:
        # It went, or a link took its place, since it was located.
        if is_absence(error) or error.errno == errno.ELOOP:
            return None
        raise
    try:
        # The way there is looked at again: a folder on it may have become a link that leads outside.
        status, now = system.look_open(file), time.time_ns()
        if not system.is_same(status, located.status) or _way(place) != located.real:
            return None
        head, start, content = extent(file, status.of.st_size)
    finally:
        os.close(file)
    return FileFound(
        system.identity(status),
        system.steady_stamp(status, now),
        status.of.st_size,
        system.modified_at(status),
        head,
        start,
        content,
    )


def _way(place: Path) -> Path | None:
    try:
        return Path(os.path.realpath(place, strict=True))
    except OSError:
        return None
