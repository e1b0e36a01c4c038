"""A round of checks of adopted sessions: plan, read while no transaction is open, feed. What is read
and what it means is the core's business."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Protocol

from ..contract import Case, Check, Level, Plan, Session, Tally
from ..errors import HeadsupError
from ..sources.crew import Crew


class Core(Protocol):
    """What a round needs of the engine. Both raise `HeadsupError`."""

    def plan_checks(self, selection: Case) -> list[Plan]:
        """What to read for checks."""

    def feed(self, session: Session, revision: int, found: Case) -> Check:
        """Takes in what was found, in a transaction of its own."""


class Checks:
    """What reads sources, and what is known of them."""

    def __init__(self, core: Core, crew: Crew, log: Callable[[Level, str], None]) -> None:
        self._core = core
        self.crew = crew
        self._log = log
        self._lock = threading.Lock()
        # Sessions whose source could not be read when it was last tried.
        self._troubled: set[Session] = set()

    def run(self, selection: Case) -> Tally:
        """Checks these links, and counts: every link that was planned as checked; those that were
        not there, for the first or the last time, as missing; those that could not be read, or whose
        finding could not be written, as failed. A link that changed meanwhile is checked and no
        more."""
        plans = self._core.plan_checks(selection)
        checked = len(plans)
        findings, lost = self._read_and_feed(plans)
        again = [session for session, finding in findings if finding == "again"]
        if again:
            replanned = []
            for session in again:
                try:
                    replanned += self._core.plan_checks(Case("one", session))
                except HeadsupError as error:
                    lost.append(_words(session, error))
            more, more_lost = self._read_and_feed(replanned)
            findings += more
            lost += more_lost
        if lost:
            # One line, however many findings were lost: most often all for the same reason.
            first = f"{len(lost)} checks of adopted sessions were lost, first that of {lost[0]}"
            self._log("warn", first)
        kinds = [finding for _, finding in findings]
        return Tally(
            checked,
            kinds.count("activity"),
            kinds.count("missed") + kinds.count("missing"),
            kinds.count("unavailable") + len(lost),
        )

    def _read_and_feed(self, plans: list[Plan]) -> tuple[list[tuple[Session, str]], list[str]]:
        """What was found of each, and words for what could not be taken in."""
        findings: list[tuple[Session, str]] = []
        lost: list[str] = []
        files = [(plan, plan.file) for plan in plans if plan.file is not None]
        # Not for a reader of files: nothing that our core plans.
        findings += [(plan.session, "unavailable") for plan in plans if plan.file is None]
        for number, found in self.crew.read([file for _, file in files]):
            plan = files[number][0]
            self._note(plan.session, found)
            if found.tag == "unchanged":
                continue
            try:
                check = self._core.feed(plan.session, plan.revision, found)
                findings.append((plan.session, check.finding))
            except HeadsupError as error:
                lost.append(_words(plan.session, error))
        return findings, lost

    def _note(self, session: Session, found: Case) -> None:
        """Says so when a source can no longer be read, and when it can again."""
        is_troubled = found.tag in ("unavailable", "refused")
        with self._lock:
            if is_troubled == (session in self._troubled):
                return
            (self._troubled.add if is_troubled else self._troubled.discard)(session)
        if is_troubled:
            self._log("warn", f"the source of {session.key} cannot be read: {found.value}")
        else:
            self._log("info", f"the source of {session.key} can be read again")


def _words(session: Session, error: HeadsupError) -> str:
    return f"{session.key} ({error.reason}): {error.message}"
