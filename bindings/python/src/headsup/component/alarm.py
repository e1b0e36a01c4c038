"""The wake policy on a clock: shared by the calls that open notices and by the thread that looks
again when a timer is due."""

from __future__ import annotations

import threading
import time

from ..clock import Clock
from .wakes import Answer, OpeningId, Question, Wakes


class Alarm:
    """Timers and who waits for them. Any thread may use it."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._wakes = Wakes()
        self._stopped = False
        self._changed = threading.Condition()

    def opened(self, watcher: str, opening: OpeningId) -> bool:
        """A notice opened that may wake its watcher. Returns whether to wake it now."""
        with self._changed:
            wake = self._wakes.opened(watcher, opening, self._clock.timer())
            self._changed.notify_all()
            return wake

    def due(self) -> Question | None:
        """A timer that is due, if there is one."""
        with self._changed:
            return self._wakes.due(self._clock.timer())

    def answer(self, watcher: str, answer: Answer) -> bool:
        """Answers what `due` asked. Returns whether to wake the watcher now."""
        with self._changed:
            return self._wakes.answer(watcher, answer, self._clock.timer())

    def wait(self, at_most_ms: int) -> bool:
        """Waits until a timer is due, or this long. Returns false once it was stopped."""
        end = time.monotonic() + at_most_ms / 1_000
        with self._changed:
            while not self._stopped:
                timer = self._wakes.next()
                left = end - time.monotonic()
                if timer is not None:
                    left = min(left, (timer - self._clock.timer()) / 1_000)
                if left <= 0:
                    return True
                self._changed.wait(left)
        return False

    def stop(self) -> None:
        """Ends the waiting."""
        with self._changed:
            self._stopped = True
            self._changed.notify_all()
