"""Who hears of news: the callbacks of whoever opened the store, with what an engine says to them."""

from __future__ import annotations

import logging
from collections.abc import Callable

from .contract import Level
from .results import Notice

OnNotice = Callable[[str, Notice], object]
"""A notice opened for a watcher, or recovery found it pending."""

OnWake = Callable[[str], object]
"""A watcher should run: it has a notice pending."""

OnLog = Callable[[Level, str], object]
"""A line for the operator; never message content."""

_log = logging.getLogger("headsup")
_LEVELS = {
    "error": logging.ERROR,
    "warn": logging.WARNING,
    "info": logging.INFO,
    "debug": logging.DEBUG,
}


def log_with_logging(level: Level, message: str) -> None:
    """What hears log lines unless another is given: the logger `headsup`."""
    _log.log(_LEVELS[level], "%s", message)


class Listener:
    """Tells the callbacks. An exception in one is its own loss: it is logged, and the call goes on as
    if nothing had happened."""

    def __init__(self, notice: OnNotice | None, wake: OnWake | None, log: OnLog | None) -> None:
        self._notice = notice
        self._wake = wake
        self._log = log or log_with_logging

    def notice(
        self, watcher: str, target: str, agent: str, since: int, up_to: int, text: str
    ) -> None:
        if self._notice is not None:
            try:
                self._notice(watcher, Notice(target, agent, since, up_to, text))
            except Exception:
                _log.exception("on_notice raised")

    def wake(self, watcher: str) -> None:
        if self._wake is not None:
            try:
                self._wake(watcher)
            except Exception:
                _log.exception("on_wake raised")

    def log(self, level: Level, message: str) -> None:
        try:
            self._log(level, message)
        except Exception:
            _log.exception("on_log raised")
