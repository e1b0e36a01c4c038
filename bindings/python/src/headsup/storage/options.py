"""Where a store is and how it behaves."""

from __future__ import annotations

from dataclasses import dataclass

from ..engine import Durability


@dataclass(frozen=True, slots=True)
class StoreOptions:
    """Where a store is and how it behaves."""

    path: str
    """The file, or `:memory:`."""
    durability: Durability = "full"
    busy_timeout_ms: int = 5_000
    """How long to wait for a lock that another process holds."""

    @property
    def is_in_memory(self) -> bool:
        """Whether the store has one connection and ends with it."""
        return self.path == ":memory:"
