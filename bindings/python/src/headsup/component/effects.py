"""What a call wants done outside the store. It is collected while the call runs, within bounds, and
delivered only after the call's transaction committed."""

from __future__ import annotations

import re

from ..contract import Level, Opening

OPENING_BYTES = 64 << 20
"""Most openings of one call, in bytes."""

LINES = 100
"""Most lines of the log that one call may write."""

LINE_BYTES = 4_096
"""A line of the log is cut here."""

_CONTROL = re.compile("[\\x00-\\x1f\\x7f-\\x9f]")


class Effects:
    """What one call enqueued and logged."""

    def __init__(self) -> None:
        self.openings: list[Opening] = []
        self.lines: list[tuple[Level, str]] = []
        self._bytes = 0
        self._dropped_openings = 0
        self._dropped_lines = 0

    def enqueue(self, openings: list[Opening]) -> None:
        """Keeps openings while there is room. Dropping the rest loses no notice: queues are hints,
        and the cursors keep what is pending."""
        for opening in openings:
            size = 200 + len(opening.watcher) + len(opening.notice.text)
            if self._bytes + size > OPENING_BYTES:
                self._dropped_openings += 1
            else:
                self._bytes += size
                self.openings.append(opening)

    def log(self, level: Level, message: str) -> None:
        """Keeps a line, cut to its bound and without line breaks."""
        if len(self.lines) >= LINES:
            self._dropped_lines += 1
            return
        cut = message.encode()[:LINE_BYTES].decode(errors="ignore")
        self.lines.append((level, _CONTROL.sub(" ", cut)))

    def last_error(self) -> str | None:
        """What the core said last at level error: a panic reports itself so."""
        errors = (message for level, message in reversed(self.lines) if level == "error")
        return next(errors, None)

    def roll_back(self) -> None:
        """Forgets the openings: the transaction did not commit. Lines stay, as they are outside it."""
        self.openings = []
        self._dropped_openings = 0

    def whole_log(self) -> list[tuple[Level, str]]:
        """The lines, with one more for whatever the bounds dropped."""
        lines = list(self.lines)
        if self._dropped_lines:
            lines.append(("warn", f"{self._dropped_lines} more lines of the core were dropped"))
        if self._dropped_openings:
            lines.append(
                (
                    "warn",
                    f"{self._dropped_openings} openings were too many to announce at once; their "
                    "notices stay pending",
                )
            )
        return lines
