"""Where a store is and how it behaves."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace

from ..engine import Durability


@dataclass(frozen=True, slots=True)
class StoreOptions:
    """Where a store is and how it behaves."""

    path: str
    """The file, or `:memory:`."""
    durability: Durability = "full"
    busy_timeout_ms: int = 5_000
    """How long to wait for a lock that another process holds."""

    @classmethod
    def at(cls, path: str, durability: Durability, busy_timeout_ms: int) -> StoreOptions:
        """A path is taken from the folder that the process is in now, wherever it goes later. `..` is left to
        the system: above a link it is another folder than the text says."""
        options = cls(path, durability, busy_timeout_ms)
        return options if options.is_in_memory else replace(options, path=os.path.join(os.getcwd(), path))

    @property
    def is_in_memory(self) -> bool:
        """Whether the store has one connection and ends with it."""
        return self.path == ":memory:"
