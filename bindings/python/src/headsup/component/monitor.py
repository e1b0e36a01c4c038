"""The monitor of adopted sessions: a timer that lets a round of checks run. Which sessions are due in
it, over all processes of a store, the core decides."""

from __future__ import annotations

import threading
from collections.abc import Callable

from ..clock import Clock

FIRST = 15_000
"""The monitor looks for the first time so long after opening, in ms."""

INTERVAL = 60_000
"""After that, this often, in ms."""


class Monitor:
    """When to look next, and who waits for it."""

    def __init__(self, clock: Clock, check: Callable[[], None]) -> None:
        self._clock = clock
        self._check = check
        self._changed = threading.Condition()
        self._due = clock.timer() + FIRST
        self._stopped = False

    def fire(self) -> None:
        """Checks what is due, if it is time to look; once, however late it is."""
        with self._changed:
            now = self._clock.timer()
            # A clock that went back does not make for a silence as long as the jump.
            self._due = min(self._due, now + INTERVAL)
            if now < self._due:
                return
            self._due = now + INTERVAL
        self._check()

    def keep_watch(self) -> None:
        """Looks whenever it is time, until it is stopped."""
        while self._wait():
            self.fire()

    def stop(self) -> None:
        """Ends the waiting."""
        with self._changed:
            self._stopped = True
            self._changed.notify_all()

    def _wait(self) -> bool:
        with self._changed:
            while not self._stopped:
                rest = self._due - self._clock.timer()
                if rest <= 0:
                    return True
                self._changed.wait(rest / 1_000)
        return False
