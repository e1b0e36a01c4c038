"""What runs a core over a store, whichever way: an engine answers JSON-RPC requests."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

Durability = Literal["full", "normal"]
"""When a commit counts as done: `full` once the disk has it; `normal` once the operating system
has it, so that a power loss may take the newest commits."""


@dataclass(frozen=True, slots=True)
class Options:
    """How a store is opened, for any engine."""

    path: str
    durability: Durability = "full"
    busy_timeout_ms: int = 5_000
    deadline_ms: int = 1_000
    long_deadline_ms: int = 30_000
    memory_bytes: int = 256 << 20
    request_bytes: int = 4 << 20
    batch_requests: int = 1_000
    plugin: str | None = None
    manual_clock: int | None = None
    monitor: bool = False
    source_folders: Sequence[str | os.PathLike[str]] | None = None
    source_deadline_ms: int = 45_000


class Engine(Protocol):
    """An open store with a core over it. Any thread may call."""

    name: str
    """`component` or `native`."""

    def answer(self, line: bytes) -> str | None:
        """Answers a request, or a batch of them; `None` where nobody waits for a response. Whatever it
        is, its failures are responses, too."""

    def swap(self, plugin: str | None) -> None:
        """Serves all calls to come with the core in a file, or with the built-in one. Calls in flight
        end with the core they began with. Raises `OpenError`; nothing was changed then."""

    def describe(self) -> dict[str, str]:
        """Which core serves: `name`, `version` and `protocol`."""

    def close(self) -> None:
        """Closes the store. Calls that run end as if nothing had happened."""
