"""The driver of the storage conformance component (`wit/conformance.wit`): it examines the storage,
settings, queue, log and clock that this package gives to a core, over the very code that serves
gateways."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from conftest import ROOT
from headsup.clock import Clock
from headsup.component.core import RECORDS, Core
from headsup.component.desk import Desks, Done, Limits
from headsup.component.instance import Instance, Trapped
from headsup.component.mouth import Mouth
from headsup.contract import Case, Level, Opening
from headsup.storage import Store, StoreOptions

COMPONENT = ROOT / "target" / "guest" / "headsup-conformance.wasm"

PATIENCE = 60_000
"""How long a step may take, in ms: it may do some thousand verbs."""

LIMITS = Limits(memory=256 << 20, deadline_ms=PATIENCE, long_deadline_ms=PATIENCE)


class StepPlan(NamedTuple):
    transaction: str
    begins: str
    traps: bool


class Rule(NamedTuple):
    """`case` in the contract."""

    subject: str
    rule: str
    steps: list[StepPlan]


class Line(NamedTuple):
    level: Level
    message: str


class News(NamedTuple):
    openings: list[Opening]
    lines: list[Line]


class Breach(NamedTuple):
    asked: str
    must: str
    was: str


class Finding(NamedTuple):
    """What a step found, with the rule it is about."""

    rule: str
    is_broken: bool
    words: str


class Examination:
    """All cases, each on a store of its own."""

    def __init__(self, folder: Path) -> None:
        made = (StepPlan, Rule, Line, News, Breach)
        self._core = Core(
            "the conformance component",
            COMPONENT.read_bytes(),
            check=lambda imports, exports: None,
            records={**RECORDS, **{one._fields: one for one in made}},
            more={("rival", "run"): self._rival, ("rival", "effort"): lambda: self._effort},
        )
        self._clock = Clock()
        self._folder = folder
        self._effort = 0
        self._mouth = Mouth(self._clock, LIMITS)
        answer, _ = self._mouth.ask(self._core, "examination", "cases")
        self.rules: list[Rule] = answer

    def findings(self, subjects: set[str] | None = None) -> Iterator[Finding]:
        """Plays the cases of these subjects, or all."""
        for number, rule in enumerate(self.rules):
            if subjects is None or rule.subject in subjects:
                yield from _Played(self, number, rule).findings()

    def _open(self, path: Path) -> Desks:
        options = StoreOptions(str(path), durability="normal", busy_timeout_ms=2_000)
        return Desks(self._core, options, self._clock, LIMITS)

    def _rival(self, step: int) -> Case:
        return self._playing.rival(step)

    def _begin_counting(self, instance: Instance) -> None:
        """Counts the steps of SQLite's machine for a connection."""
        if isinstance(instance.storage, Store):
            instance.storage._connection.set_progress_handler(self._count, 1)

    def _count(self) -> bool:
        self._effort += 1
        return False

    _playing: _Played


class _Played:
    """One case on a store of its own."""

    def __init__(self, examination: Examination, number: int, rule: Rule) -> None:
        self._of = examination
        self._number = number
        self._rule = rule
        self._path = examination._folder / f"{number}.db"
        self._found: list[Finding] = []
        self._news = News([], [])

    def findings(self) -> list[Finding]:
        self._of._playing = self
        desks = self._of._open(self._path)
        try:
            for step, plan in enumerate(self._rule.steps):
                if plan.begins == "when-called":
                    continue
                if plan.begins == "reopened":
                    desks.close()
                    desks = self._of._open(self._path)
                if not self._play(desks, step, plan):
                    break
        finally:
            desks.close()
        return self._found

    def rival(self, step: int) -> Case:
        """Another process on the same store, in the middle of a step."""
        news, desks = self._news, self._of._open(self._path)
        try:
            self._play(desks, step, self._rule.steps[step])
        finally:
            desks.close()
            self._news = News(news.openings + self._news.openings, news.lines + self._news.lines)
        return Case("ok")

    def _play(self, desks: Desks, step: int, plan: StepPlan) -> bool:
        """Runs a step. Returns whether the case goes on."""
        news, self._news = self._news, News([], [])

        said: list[Case] = []

        def body(instance: Instance) -> Any:
            self._of._begin_counting(instance)
            answer = instance.call(
                "examination", "step", self._number, step, news, deadline_ms=PATIENCE
            )
            said.append(answer)
            return answer

        if plan.transaction == "none":
            done = self._without(step, news)
        else:
            done = desks.write(body) if plan.transaction == "writes" else desks.read(body)
        lines = [Line(*line) for line in done.effects.whole_log()]
        self._news = News(
            self._news.openings + done.effects.openings, self._news.lines + lines
        )
        if done.failure is not None and done.failure.tag == "trap" and plan.traps:
            return True
        # A call under which a verb failed is lost, whatever it answered; what it found still counts.
        is_lost = done.failure is not None and done.failure.tag == "storage" and bool(said)
        if done.failure is not None and not is_lost:
            self._tell(True, f"step {step} failed: {done.failure}")
            return False
        if plan.traps:
            self._tell(True, f"step {step} was to trap, and did not")
        for finding in (said[0] if is_lost else done.answer).value:
            if finding.tag == "broken":
                asked, must, was = finding.value
                self._tell(True, f"{asked}: must be {must}, and was {was}")
            else:
                self._tell(False, finding.value)
        return True

    def _without(self, step: int, news: News) -> Done:
        try:
            answer, effects = self._of._mouth.ask(
                self._of._core, "examination", "step", self._number, step, news
            )
        except Trapped as trapped:
            return Done.failed(trapped.failure)
        return Done(answer, None, effects)

    def _tell(self, is_broken: bool, words: str) -> None:
        self._found.append(Finding(f"{self._rule.subject}: {self._rule.rule}", is_broken, words))
