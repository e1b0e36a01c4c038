"""What tells files and their states apart, by the means of the system: on Unix a file is known by
device, inode and, where there is one, time of birth. The words are those of the Rust host, so that a
link that it checked is continued by this one and the other way round.
"""

from __future__ import annotations

import ctypes
import functools
import os
from struct import Struct
from typing import Any, NamedTuple

from ..contract import LARGEST

SECOND = 1_000_000_000
"""In ns."""

COARSE_STEP = 2 * SECOND
"""The longest step of a file system that keeps no fractions of seconds, in ns."""

TIMER_STEP = SECOND // 20
"""Longer than the step of any system's timer, in ns."""


class Status(NamedTuple):
    """What the system says of a file, and when it came into being, in ns; `None` if it does not say."""

    of: os.stat_result
    born: int | None


def look(path: str) -> Status:
    """What is at a path; of a link, the link itself."""
    return Status(os.lstat(path), _born(_AT_FDCWD, path.encode(errors="surrogateescape")))


def look_open(file: int) -> Status:
    """What an open file is."""
    return Status(os.fstat(file), _born(file, b""))


def identity(status: Status) -> str:
    """What tells one file from another in its place."""
    number = f"{status.of.st_dev:x}-{status.of.st_ino:x}"
    return number if status.born is None else f"{number}-{status.born:x}"


def stamp(status: Status) -> str:
    """What changes whenever the file does."""
    size, written, changed = status.of.st_size, status.of.st_mtime_ns, status.of.st_ctime_ns
    return f"{identity(status)}-{size:x}-{written:x}-{changed:x}"


def steady_stamp(status: Status, now: int) -> str | None:
    """The stamp of a file that rests: one that is written to once more will have another. Nothing for
    one that changed only just before `now` (in ns), because the times of files move in steps: those
    of the system's timer, or seconds where the file system keeps no fractions."""
    changed = max(status.of.st_ctime_ns, status.of.st_mtime_ns)
    step = COARSE_STEP if changed % SECOND == 0 else TIMER_STEP
    return stamp(status) if changed + step <= now else None


def modified_at(status: Status) -> int:
    """When it was last written, in ms since the Unix epoch."""
    return min(max(status.of.st_mtime_ns // 1_000_000, 0), LARGEST)


def is_same(one: Status, other: Status) -> bool:
    """Whether both are of one file."""
    return os.path.samestat(one.of, other.of)


def open_to_read(path: str) -> int:
    """Opens a file to read it: never a link, and without waiting should it be a pipe by now."""
    flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_NOCTTY
    return os.open(path, flags)


_AT_FDCWD = -100
_AT_FLAGS = 0x1100  # AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW
_STATX_BTIME = 0x800
_mask = Struct("=I")
_time = Struct("=qI")
_BIRTH = 80
"""Where the time of birth stands in Linux's `struct statx`."""


@functools.lru_cache(maxsize=1)
def _statx() -> Any:
    """Linux's `statx`, which alone says when a file came into being, and which Python lacks."""
    return getattr(ctypes.CDLL(None, use_errno=True), "statx", None)


def _born(folder: int, path: bytes) -> int | None:
    statx = _statx()
    if statx is None:
        return None
    found = ctypes.create_string_buffer(256)
    if statx(folder, path, _AT_FLAGS, _STATX_BTIME, found) != 0:
        return None
    if not _mask.unpack_from(found)[0] & _STATX_BTIME:
        return None
    seconds, nanoseconds = _time.unpack_from(found, _BIRTH)
    return int(seconds) * SECOND + int(nanoseconds)
