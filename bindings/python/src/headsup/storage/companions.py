"""What SQLite keeps beside a file that is open: its log and its shared memory. Nobody may take them away
meanwhile, and SQLite does not look whether somebody did."""

from __future__ import annotations

import os
import threading
from typing import Any, Literal
from weakref import WeakSet

import apsw

from .failure import StorageError
from .place import Identity, has_bytes, identity, is_at

Kept = Literal["all", "not-all", "usurped"]
"""What became of them: they are where they were, as far as can be told; one is gone, and nobody has put a log
or shared memory of their own in its place; a process that opened the store since has."""


class Companions:
    """The files beside a store, as they were when this process opened it."""

    def __init__(self, path: str) -> None:
        self._log, self._shared = f"{path}-wal", f"{path}-shm"
        self._known = identity(self._log), identity(self._shared)
        self.holders: WeakSet[Any] = WeakSet()
        """The stores that have them, until they give them up. Weakly, because one that nobody holds any more
        is closed without a word."""

    def kept(self) -> Kept:
        """Looks for them."""
        log, shared = self._known
        log_kept = log is None or is_at(self._log, log)
        shared_kept = shared is None or is_at(self._shared, shared)
        if log_kept and shared_kept:
            return "all"
        usurped = not log_kept and has_bytes(self._log)
        if usurped or (not shared_kept and os.path.exists(self._shared)):
            return "usurped"
        return "not-all"


_open: dict[Identity, Companions] = {}
"""Those of every file that this process has open. SQLite has one of each for all connections to a file: one
that is opened later would work with the old shared memory, whatever lies beside the file by then."""

_inherited: set[Identity] = set()
"""The files that were open in the process that forked this one. SQLite remembers here which locks that one
holds on them, would take none, and other processes would take the files for unused."""

_opening = threading.Lock()


def _forked() -> None:
    global _opening
    # Another thread may have held it, which is not here.
    _opening = threading.Lock()
    _inherited.update(file for file, known in _open.items() if known.holders)
    _open.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)


def companions_of(connection: apsw.Connection, holder: object) -> Companions | None:
    """Those of a store whose connection has read already, so that they are there; none in memory."""
    # SQLite names them after the file that links lead to.
    file = identity(connection.filename) if connection.filename else None
    if file is None:
        return None
    with _opening:
        for other in [other for other, known in _open.items() if not known.holders]:
            del _open[other]
        known = _open.setdefault(file, Companions(connection.filename))
        known.holders.add(holder)
        return known


def give_up(companions: Companions, holder: object) -> None:
    """This store has them no more. Before its connection is closed: the next one makes new ones."""
    with _opening:
        companions.holders.discard(holder)


def refuse_opening(path: str) -> None:
    """Refuses to open another connection where they were taken from those that this process has, and to
    a file that the process has open that forked this one, or had at the fork."""
    file = identity(path)
    if file in _inherited:
        raise StorageError(
            "failed",
            "the process that forked this one had it open, so that locks on it would not hold here: "
            "open it after the fork alone, or start a program of its own",
        )
    with _opening:
        known = None if file is None else _open.get(file)
        if known is not None and known.holders and known.kept() != "all":
            raise taken_away()


def taken_away() -> StorageError:
    """Commits would go to a log that nobody would find again, or past the locks of other processes."""
    return StorageError(
        "failed",
        "its -wal or its -shm was removed or replaced while it was open; end every process that has it "
        "open and start again",
    )
