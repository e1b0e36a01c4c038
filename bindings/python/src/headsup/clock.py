"""The time of day, as the core sees it: the machine's, or a manual one for tests and replays."""

from __future__ import annotations

import time

from .contract import LARGEST


class Clock:
    """Where the time comes from, in ms since the Unix epoch, from 0 to 2^53 - 1."""

    def __init__(self, start: int | None = None) -> None:
        self._manual = None if start is None else min(max(start, 0), LARGEST)

    @property
    def is_manual(self) -> bool:
        """Whether it stands until it is moved."""
        return self._manual is not None

    def now(self) -> int:
        """The time now."""
        if self._manual is not None:
            return self._manual
        return min(max(time.time_ns() // 1_000_000, 0), LARGEST)

    def set(self, now: int) -> bool:
        """Moves a manual clock, forwards or back. Returns whether this is one."""
        if self._manual is None:
            return False
        self._manual = min(max(now, 0), LARGEST)
        return True

    def timer(self) -> int:
        """What timers run by, in ms: a manual clock, or a time that no change of the machine's clock
        moves."""
        return time.monotonic_ns() // 1_000_000 if self._manual is None else self._manual
