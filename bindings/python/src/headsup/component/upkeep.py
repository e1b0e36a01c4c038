"""When to prune. Whether it is due is asked of a reader, and only when it can be; so it costs the
calls in between nothing, and nobody takes the write lock only to ask."""

from __future__ import annotations

import threading

ROUND = 60_000
"""The store is looked after at least this often, however the clock moves; and after a failure not
before this has passed. In ms."""

PRUNE_BATCHES = 10_000
"""Most batches of one pruning, of 5,000 events each; the rest waits for the next round."""


class Upkeep:
    """What is known of the next prune."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        # At these times, in ms by the clock, none is due.
        self._quiet = range(0)

    def rest(self, now: int) -> int:
        """How long there is nothing to do, in ms; a round at most."""
        with self._lock:
            return min(self._quiet.stop - now, ROUND) if now in self._quiet else ROUND

    def ask(self, now: int) -> bool:
        """Whether it has to be asked if a prune is due. Who is told so is the only one for a round."""
        with self._lock:
            if now in self._quiet:
                return False
            self._quiet = range(now, now + ROUND)
            return True

    def set(self, quiet: range) -> None:
        """At these times none is due."""
        with self._lock:
            self._quiet = quiet
