"""Which bytes of an open file are read."""

from __future__ import annotations

import os
from typing import NamedTuple

MOST = 4 << 20
"""Most bytes of one read. The contract allows 64 MiB, which another host reads; each byte takes 72
bytes of memory on its way through the `wasmtime` package."""

END = 1 << 20
"""What is read of either end of a file, in bytes."""

STEP = 64 << 10
"""Bytes looked at in one step."""


class TooLong(Exception):
    """A line is longer than this host reads."""


class Window(NamedTuple):
    """What was read."""

    head: bytes
    start: int
    bytes: bytes


def read_on(file: int, start: int, at_most: int, size: int) -> Window:
    """From this byte on, so many at most, of a file that has this size."""
    if min(at_most, size - start) > MOST:
        raise TooLong
    return Window(b"", start, _read(file, start, at_most, size))


def read_ends(file: int, size: int) -> Window:
    """Its beginning, and its end from where a line feed is in it."""
    start = _before_end(file, size)
    if size - start > MOST:
        raise TooLong
    return Window(_read(file, 0, END, size), start, _read(file, start, MOST, size))


def _before_end(file: int, size: int) -> int:
    """1 MiB before the end, or twice as far and so on until a line feed follows."""
    back, looked_at = END, size
    while True:
        start = max(0, size - back)
        if start == 0 or back > MOST or _has_line_feed(file, start, looked_at):
            return start
        looked_at, back = start, back * 2


def _has_line_feed(file: int, start: int, end: int) -> bool:
    return any(b"\n" in _read(file, at, STEP, end) for at in range(start, end, STEP))


def _read(file: int, start: int, at_most: int, end: int) -> bytes:
    """So many bytes from there, up to this end; fewer if the file has become shorter."""
    asked = max(0, min(at_most, end - start))
    parts: list[bytes] = []
    while asked:
        part = os.pread(file, asked, start)
        if not part:
            break
        parts.append(part)
        start, asked = start + len(part), asked - len(part)
    return b"".join(parts)
