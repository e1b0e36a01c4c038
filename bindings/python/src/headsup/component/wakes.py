"""When a watcher is woken: a pure state machine over times, without clock, thread or store.

The first opening wakes at once. Openings in the 20 s after a wake share one more wake at the end of
that window, sent only if one of them is still pending. While a notice that may wake stays pending,
its watcher is woken again 15 minutes after the last wake. So no watcher is woken twice within 20 s,
whatever happens.

The policy is the contract's (`wit/queue.wit`). All of it can be lost at any moment without harm: it
decides when to look, not what is pending.
"""

from __future__ import annotations

from bisect import insort
from dataclasses import dataclass
from typing import Literal

WINDOW = 20_000
"""A watcher is not woken twice within this, in ms."""

REMINDER = 15 * 60_000
"""A watcher with a pending notice is woken again after this, in ms."""

RETRY = 1_000
"""If it could not be found out what is pending, it is tried again after this, in ms."""

WATCHERS = 100_000
"""Watchers that are remembered; beyond, one whose window is over is forgotten."""

OPENINGS = 256
"""Openings remembered in one window; beyond, any pending notice justifies the wake."""

OpeningId = tuple[str, str, int]
"""A notice, as far as its identity goes: its target's key and agent, and its `since`."""

Answer = Literal["pending", "settled", "unknown"]
"""Whether one of the notices that justify a wake is pending, if that could be found out."""


@dataclass(frozen=True, slots=True)
class Question:
    """What a due timer needs to know before it may wake."""

    watcher: str
    any_of: frozenset[OpeningId] | None
    """Which notices justify the wake; `None`: any that may wake."""


@dataclass(slots=True)
class _Watcher:
    woken: int
    timer: int
    openings: set[OpeningId] | None = None
    """What came in since the last wake; `None`: nothing, and the next timer is the reminder."""
    many: bool = False
    """More came in than are remembered."""

    @property
    def is_quiet(self) -> bool:
        return self.openings is None and not self.many

    def remember(self, opening: OpeningId) -> None:
        if self.many:
            return
        self.openings = (self.openings or set()) | {opening}
        if len(self.openings) > OPENINGS:
            self.openings, self.many = None, True


class Wakes:
    """All watchers that were woken in the last quarter of an hour, and those that have to be again."""

    def __init__(self, window: int = WINDOW, reminder: int = REMINDER) -> None:
        self._window = window
        self._reminder = max(reminder, window, 1)
        self._watchers: dict[str, _Watcher] = {}
        # When to look at whom again, soonest first; by the bytes of the key.
        self._timers: list[tuple[int, bytes, str]] = []
        self._now = 0

    def opened(self, watcher: str, opening: OpeningId, now: int) -> bool:
        """A notice opened that may wake its watcher. Returns whether to wake it now."""
        self._advance(now)
        known = self._watchers.get(watcher)
        if known is not None and now < known.woken + self._window:
            known.remember(opening)
            self._set_timer(watcher, known, known.woken + self._window)
            return False
        if known is None and not self._make_room():
            return False
        self._woken(watcher, now)
        return True

    def due(self, now: int) -> Question | None:
        """The next timer that is due, if there is one. Each has to be answered."""
        self._advance(now)
        if not self._timers or self._timers[0][0] > now:
            return None
        watcher = self._timers[0][2]
        openings = self._watchers[watcher].openings
        return Question(watcher, None if openings is None else frozenset(openings))

    def answer(self, watcher: str, answer: Answer, now: int) -> bool:
        """What is pending for the watcher of a due timer. Returns whether to wake it now."""
        self._advance(now)
        known = self._watchers.get(watcher)
        # Another thread may have answered meanwhile: then the timer moved on.
        if known is None or known.timer > now:
            return False
        if answer == "pending":
            self._woken(watcher, now)
            return True
        if answer == "unknown":
            self._set_timer(watcher, known, now + RETRY)
        elif known.is_quiet:
            self._forget(watcher)
        else:
            known.openings, known.many = None, False
            self._set_timer(watcher, known, known.woken + self._reminder)
        return False

    def next(self) -> int | None:
        """When the next timer is due."""
        return self._timers[0][0] if self._timers else None

    def _advance(self, now: int) -> None:
        """Follows the clock. If it went back, whoever was woken "later than now" counts as woken
        now, so that neither a storm of wakes follows nor a silence as long as the jump."""
        if now < self._now:
            for known in self._watchers.values():
                back = max(0, known.woken - now)
                known.woken -= back
                known.timer = min(max(0, known.timer - back), now + self._reminder)
            self._timers = sorted(
                (known.timer, watcher.encode(), watcher)
                for watcher, known in self._watchers.items()
            )
        self._now = now

    def _woken(self, watcher: str, now: int) -> None:
        self._forget(watcher)
        due = now + self._reminder
        self._watchers[watcher] = _Watcher(now, due)
        insort(self._timers, (due, watcher.encode(), watcher))

    def _set_timer(self, watcher: str, known: _Watcher, due: int) -> None:
        self._timers.remove((known.timer, watcher.encode(), watcher))
        known.timer = due
        insort(self._timers, (due, watcher.encode(), watcher))

    def _forget(self, watcher: str) -> None:
        known = self._watchers.pop(watcher, None)
        if known is not None:
            self._timers.remove((known.timer, watcher.encode(), watcher))

    def _make_room(self) -> bool:
        """Forgets a watcher whose window is over, if there are too many. Returns false if nobody
        may be forgotten: without its window a watcher could be woken twice within 20 s."""
        if len(self._watchers) < WATCHERS:
            return True
        quiet = (
            watcher
            for _, _, watcher in self._timers
            if self._watchers[watcher].woken + self._window <= self._now
        )
        watcher = next(quiet, None)
        if watcher is None:
            return False
        self._forget(watcher)
        return True
