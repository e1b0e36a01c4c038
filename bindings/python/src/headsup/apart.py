"""Keeps the engines off each other's files within one process.

Each engine has a SQLite of its own. The locks of a file belong to the process on POSIX systems: two
copies of SQLite in one process do not see each other's, and whichever closes the file first drops both.
Between processes there is no such trouble.
"""

from __future__ import annotations

import os
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from .errors import OpenError

# A callback may open another store while one is opened.
_lock = threading.RLock()
_open: Counter[tuple[str, tuple[int, int]]] = Counter()
"""How often each engine has each file open, by device and inode."""

Release = Callable[[], None]


@contextmanager
def opening(engine: str, path: str) -> Iterator[Callable[[], Release]]:
    """Around the opening of a file by an engine. What it gives is called once the file is there, and
    returns what is to be called when it is closed. Raises `OpenError` where the other engine has it."""
    with _lock:
        before = _file(path)
        for (name, file), count in _open.items():
            if file == before and name != engine and count > 0:
                raise OpenError(
                    "unavailable",
                    f"{path} is open in this process by the engine '{name}', and both in one process "
                    "would not see each other's locks: use the same engine for both",
                )
        yield lambda: _opened(engine, path)


def _opened(engine: str, path: str) -> Release:
    file = _file(path)
    if file is None:
        return lambda: None
    _open[engine, file] += 1

    def release() -> None:
        with _lock:
            _open[engine, file] -= 1

    return release


def _file(path: str) -> tuple[int, int] | None:
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return None
    return status.st_dev, status.st_ino
