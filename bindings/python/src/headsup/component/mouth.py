"""Questions to a core that need no transaction: what it offers, whether a request writes, the words
for a failure. One instance without a connection answers them."""

from __future__ import annotations

import threading
from typing import Any

from ..clock import Clock
from .core import Core
from .desk import Limits
from .effects import Effects
from .instance import SWOLLEN, Instance


class Mouth:
    """The instance that is asked. Any thread may ask."""

    def __init__(self, clock: Clock, limits: Limits) -> None:
        self._clock = clock
        self._limits = limits
        self._lock = threading.Lock()
        self._instance: Instance | None = None

    def ask(self, core: Core, interface: str, function: str, *values: Any) -> tuple[Any, Effects]:
        """Calls an export, and returns what it logged with the answer. Raises `Trapped`."""
        with self._lock:
            instance = self._take(core)
            answer = instance.call(
                interface, function, *values, deadline_ms=self._limits.deadline_ms
            )
            effects = instance.take_effects()
            effects.roll_back()
            # After a trap, or with much memory taken, the next question goes to another one.
            if not any(isinstance(value, str) and len(value) > SWOLLEN for value in values):
                self._instance = instance
            else:
                instance.close()
            return answer, effects

    def close(self) -> None:
        """Gives the memory back."""
        with self._lock:
            if self._instance is not None:
                self._instance.close()
                self._instance = None

    def _take(self, core: Core) -> Instance:
        instance, self._instance = self._instance, None
        if instance is not None and instance.core is core:
            return instance
        if instance is not None:
            instance.close()
        return Instance(core, self._clock, self._limits.memory, None)
