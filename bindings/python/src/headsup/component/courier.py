"""Delivery: what a committed call opened and logged goes to the callbacks, on the thread of the call
that caused it and before that call returns."""

from __future__ import annotations

from ..contract import Level, Opening
from ..listener import Listener
from .alarm import Alarm
from .effects import Effects


class Courier:
    """Where effects go. Nothing is kept here, so nothing can fill up or be lost: pending notices are
    always listed from the cursors."""

    def __init__(self, listener: Listener, alarm: Alarm) -> None:
        self._listener = listener
        self._alarm = alarm

    def deliver(self, effects: Effects) -> None:
        """Delivers what a call left behind, in its order: log lines, then notices, each followed by
        the wake it causes."""
        for level, message in effects.whole_log():
            self.log(level, message)
        for opening in effects.openings:
            self._open(opening)

    def wake(self, watcher: str) -> None:
        self._listener.wake(watcher)

    def log(self, level: Level, message: str) -> None:
        self._listener.log(level, message)

    def _open(self, opening: Opening) -> None:
        watcher, notice, delivery = opening
        if delivery != "wake":
            (target, agent), since, up_to, text = notice
            self._listener.notice(watcher, target, agent, since, up_to, text)
        if delivery != "announce":
            if self._alarm.opened(watcher, (*notice.target, notice.since)):
                self.wake(watcher)
