"""Files that the process had open which forked this one. SQLite remembers here which locks that one holds
on them, would take none, and other processes would take the files for unused."""

from __future__ import annotations

import os

from .failure import StorageError
from .place import Identity, identity

_open: list[Identity] = []
_inherited: set[Identity] = set()


def keep(file: Identity) -> None:
    """This process has the file open. Once for each opening."""
    _open.append(file)


def give_up(file: Identity) -> None:
    """It closed it, once."""
    _open.remove(file)


def refuse_inherited(path: str) -> None:
    """Refuses a file that is open in the process that forked this one, or was at the fork."""
    if identity(path) in _inherited:
        raise StorageError(
            "failed",
            "the process that forked this one had it open, so that locks on it would not hold here: "
            "open it after the fork alone, or start a program of its own",
        ).at(path)


def _forked() -> None:
    _inherited.update(_open)
    _open.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)
