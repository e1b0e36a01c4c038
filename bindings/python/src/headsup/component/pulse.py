"""What makes deadlines end calls: a thread that moves an engine's epoch while a call runs."""

from __future__ import annotations

import threading
import weakref
from types import TracebackType

from wasmtime import Engine

TICK = 0.01
"""How often the epoch moves while a call runs, in s; a deadline is exact to this."""

IDLE = 1.0
"""After so long without a call the thread ends, until the next one; in s."""


def ticks(deadline_ms: int) -> int:
    """How many ticks from now a call of this length is over; never less than its length."""
    # One more: the running tick may be nearly over.
    return -(-deadline_ms // int(TICK * 1_000)) + 1


class Pulse:
    """Calls are made inside `with pulse:`; the thread is there while one runs, and a while after."""

    def __init__(self, engine: Engine) -> None:
        self._engine = weakref.ref(engine)
        self._state = threading.Condition()
        self._running = 0
        self._thread: threading.Thread | None = None

    def __enter__(self) -> None:
        with self._state:
            self._running += 1
            if self._thread is None:
                self._thread = threading.Thread(
                    target=self._beat, name="headsup-ticker", daemon=True
                )
                self._thread.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with self._state:
            self._running -= 1

    def _beat(self) -> None:
        idle = 0
        tick = threading.Event()
        while True:
            tick.wait(TICK)
            engine = self._engine()
            if engine is None:
                return
            engine.increment_epoch()
            del engine
            with self._state:
                idle = 0 if self._running else idle + 1
                if idle * TICK >= IDLE:
                    self._thread = None
                    return
