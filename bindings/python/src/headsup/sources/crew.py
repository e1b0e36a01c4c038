"""Threads that read sources: several at once, each read for as long as the deadline. One that hangs
is left alone; it stops neither the others nor the next check, and is not begun again before it
ended."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Iterator

from ..contract import Case, FileRead
from .files import SourceFiles
from .found import unavailable

ABREAST = 8
"""So many reads of one round run at once, those that stall not counted."""

STALL = 0.25
"""A read that takes this long makes room for another one, in s."""

THREADS = 256
"""Most threads there are at any time, those that hang included."""

Read = FileRead | str
"""A file to read on, or the path of one whose ends are read."""


class Crew:
    """Threads that read, over one `SourceFiles`."""

    def __init__(self, files: SourceFiles, deadline: float) -> None:
        self._files = files
        self._deadline = deadline
        self._lock = threading.Lock()
        self._reading: set[tuple[str, ...]] = set()
        self._stopped = threading.Event()

    def read_ends(self, path: str) -> Case:
        """Reads both ends of a file."""
        for _, found in self.read([path]):
            return found
        return unavailable("the store is being closed")

    def read(self, reads: list[Read]) -> Iterator[tuple[int, Case]]:
        """Reads all of these and hands over what was found, in the order in which it is found, with
        its number. Ends early once it was stopped."""
        found: queue.SimpleQueue[tuple[int, Case]] = queue.SimpleQueue()
        running: dict[int, float] = {}
        waiting = list(enumerate(reads))[::-1]
        while (waiting or running) and not self._stopped.is_set():
            now = time.monotonic()
            moving = sum(1 for since in running.values() if now - since < STALL)
            while waiting and moving < ABREAST:
                number, read = waiting.pop()
                refusal = self._begin(number, read, found.put)
                if refusal is not None:
                    yield number, refusal
                    continue
                running[number] = now
                moving += 1
            try:
                number, answer = found.get(timeout=min(STALL, self._deadline))
            except queue.Empty:
                yield from self._give_up(running)
                continue
            # A read that was given up was answered then.
            if running.pop(number, None) is not None:
                yield number, answer

    def stop(self) -> None:
        """Ends all waiting. Reads that hang keep their threads until they end."""
        self._stopped.set()

    def _give_up(self, running: dict[int, float]) -> Iterator[tuple[int, Case]]:
        """Leaves reads alone that are beyond their deadline."""
        now = time.monotonic()
        for number in [n for n, since in running.items() if now - since >= self._deadline]:
            del running[number]
            yield number, unavailable(f"no answer within {int(self._deadline * 1_000)} ms")

    def _begin(
        self, number: int, read: Read, tell: Callable[[tuple[int, Case]], None]
    ) -> Case | None:
        """Starts a read on a thread of its own, or says why not."""
        places = (read,) if isinstance(read, str) else tuple(read.places)
        with self._lock:
            if places in self._reading:
                return unavailable("an earlier read of it has not ended yet")
            if len(self._reading) >= THREADS:
                return unavailable("too many reads of other sources hang")
            self._reading.add(places)

        def run() -> None:
            try:
                tell((number, self._find(read)))
            finally:
                with self._lock:
                    self._reading.discard(places)

        threading.Thread(target=run, name="headsup-source", daemon=True).start()
        return None

    def _find(self, read: Read) -> Case:
        try:
            if isinstance(read, str):
                return self._files.read_ends(read)
            return self._files.read_on(read)
        except Exception as error:
            return unavailable(f"reading it failed: {type(error).__name__}")
