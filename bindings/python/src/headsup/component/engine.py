"""The engine that runs the component through `wasmtime`, with its storage over SQLite by `apsw`."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import Any

from ..clock import Clock
from ..contract import Case, Check, Metadata, Method, Plan, Session
from ..engine import Options
from ..errors import Closed, HeadsupError, OpenError
from ..listener import Listener
from ..sources import FolderFiles
from ..sources.crew import Crew
from ..storage import StoreOptions
from ..storage.failure import StorageError
from ..storage.upstream import has_links
from . import envelope, upkeep
from .alarm import Alarm
from .answers import asking, check, size
from .checks import Checks
from .core import Core, built_in, load
from .courier import Courier
from .desk import Body, ClosedError, Desks, Done, Limits
from .failures import Failed, last_words, refusal, store_word
from .instance import SWOLLEN, Instance, Trapped
from .monitor import Monitor
from .mouth import Mouth
from .wakes import Answer, Question

SHORTEST_DEADLINE = 100
"""No deadline is shorter than this, however short the busy time-out is; in ms."""

LONG = frozenset({"recover", "delete", "planUpstreams", "feedUpstream"})
"""Methods that take as long as there is to do."""


class ComponentEngine:
    """The core as a WebAssembly component, and everything around it in Python."""

    name = "component"

    def __init__(self, options: Options, listener: Listener) -> None:
        deadline = max(
            min(options.deadline_ms, options.busy_timeout_ms // 4), SHORTEST_DEADLINE
        )
        long_deadline = max(options.long_deadline_ms, SHORTEST_DEADLINE)
        # One that was forked has neither the threads of this engine nor the locks on its file.
        self._process = os.getpid()
        self._options = options
        self._limits = Limits(options.memory_bytes, deadline, long_deadline)
        self._clock = Clock(options.manual_clock)
        core = built_in() if options.plugin is None else load(options.plugin)
        self._mouth = Mouth(self._clock, self._limits)
        methods = self._learn(core)
        self._serving = core, methods
        stored = StoreOptions.at(options.path, options.durability, options.busy_timeout_ms)
        try:
            self._desks = Desks(core, stored, self._clock, self._limits)
        except StorageError as error:
            raise OpenError(store_word(error.fault), error.message) from error
        self._alarm = Alarm(self._clock)
        self._courier = Courier(listener, self._alarm)
        self._upkeep = upkeep.Upkeep()
        crew = Crew(FolderFiles(options.source_folders), options.source_deadline_ms / 1_000)
        self._checks = Checks(self, crew, self._courier.log)
        self._monitor = Monitor(self._clock, self._check_due) if options.monitor else None
        self._threads: list[threading.Thread] = []
        try:
            self._start()
        except BaseException:
            # A callback that was interrupted: nobody gets this store, so that nobody would close it.
            self.close()
            raise

    # What a gateway asks.

    def answer(self, line: bytes) -> str | None:
        self._refuse_forked()
        response = self._answer_line(line)
        if self._clock.is_manual:
            # With the machine's clock this happens by itself.
            self._tidy()
        return response

    def swap(self, plugin: str | None) -> None:
        self._refuse_forked()
        core = built_in() if plugin is None else load(plugin)
        methods = self._learn(core)
        self._desks.switch(core)
        self._serving = core, methods

    def describe(self) -> dict[str, str]:
        self._refuse_forked()
        try:
            metadata, _ = self._mouth.ask(self._serving[0], "plugin", "describe")
        except Trapped as trapped:
            raise Failed(trapped.failure) from None
        described: Metadata = metadata
        return described._asdict()

    def close(self) -> None:
        if self._process != os.getpid():
            # Its threads could not be waited for.
            return
        self._alarm.stop()
        self._checks.crew.stop()
        if self._monitor is not None:
            self._monitor.stop()
        for thread in self._threads:
            # A callback may close: a thread does not wait for itself.
            if thread is not threading.current_thread():
                thread.join()
        self._desks.close()
        self._mouth.close()

    def _refuse_forked(self) -> None:
        if self._process != os.getpid():
            raise Closed

    # One request.

    def _answer_line(self, line: bytes) -> str | None:
        if len(line) > self._options.request_bytes:
            return self._failed("", Case("too-long", self._options.request_bytes))
        if envelope.is_blank(line):
            return None
        batch = envelope.batch(line)
        if batch is not None:
            if len(batch) > self._options.batch_requests:
                return self._failed("", Case("too-many", self._options.batch_requests))
            responses = [answer for request in batch if (answer := self._call(request)) is not None]
            return f"[{','.join(responses)}]" if responses else None
        try:
            request = line.decode()
        except UnicodeDecodeError:
            return self._failed("", Case("not-utf8"))
        return self._call(request)

    def _call(self, request: str) -> str | None:
        core, methods = self._serving
        seen = envelope.look(request)
        access = methods.get(seen.method, "reads")
        if access == "host":
            try:
                return self._call_host(core, request, seen)
            except Trapped as trapped:
                return self._failed(request, trapped.failure)
        if access == "depends":
            try:
                writes, _ = self._mouth.ask(core, "wire", "writes", request)
            except Trapped as trapped:
                return self._failed(request, trapped.failure)
            access = "writes" if writes else "reads"
        long = self._limits.long_deadline_ms
        deadline = long if seen.method in LONG else self._limits.deadline_ms
        body = asking(seen, deadline, "call", request)
        return self._conclude(request, self._run(body, write=access == "writes"))

    def _call_host(self, core: Core, request: str, seen: envelope.Envelope) -> str | None:
        """Answers a method for which the host does something first. The core checks the request and
        words the response."""
        (tag, errand), effects = self._mouth.ask(core, "wire", "errand-of", request)
        self._courier.deliver(effects)
        if tag == "err":
            check(seen, errand)
            response: str | None = errand
            return response
        match errand:
            case ("move-clock", now):
                if not self._clock.set(now):
                    why = "the clock is the system's: start with a manual clock to move it"
                    return self._failed(request, Case("unavailable", why))
                self._clock_moved()
                done = Case("clock-moved")
            case ("read-source", path):
                found = None if path is None else self._checks.crew.read_ends(path)
                deadline = self._limits.long_deadline_ms
                body = asking(
                    seen, deadline, "respond", request, Case("source-read", found)
                )
                # Only an adoption still has something to write.
                return self._conclude(request, self._run(body, write=True))
            case _:
                try:
                    tally = self._checks.run(Case("all"))
                except Failed as failure:
                    return self._failed(request, failure.failure)
                done = Case("upstreams-checked", tally)
        answered, effects = self._mouth.ask(core, "wire", "respond", request, done)
        self._courier.deliver(effects)
        check(seen, answered.value)
        response = answered.value
        return response

    def _conclude(self, request: str, done: Done) -> str | None:
        """Delivers what the call left behind, then answers."""
        self._courier.deliver(done.effects)
        if done.failure is not None:
            return self._failed(request, done.failure)
        response: str | None = done.answer.value
        return response

    def _failed(self, request: str, failure: Case) -> str | None:
        """Words the response to a request that failed outside the core, and logs a recording that
        was lost. The plugin does it, or else the built-in core."""
        seen = envelope.look(request)
        for fallback in (False, True):
            try:
                core = built_in() if fallback else self._serving[0]
                response, effects = self._mouth.ask(core, "wire", "failed", request, failure)
                check(seen, response)
            except (Trapped, OpenError) as worse:
                self._courier.log("error", f"a core words no failure: {worse}")
                continue
            self._courier.deliver(effects)
            worded: str | None = response
            return worded
        return last_words(failure)

    # What checks of adopted sessions need.

    def plan_checks(self, selection: Case) -> list[Plan]:
        """What to read for checks; claims take as long as there are links."""
        plans: list[Plan] = self._ask(
            "upstreams", "plan-checks", selection, "file", write=True, long=True
        )
        return plans

    def feed(self, session: Session, revision: int, found: Case) -> Check:
        """Takes in what was found, in a transaction of its own."""
        check: Check = self._ask(
            "upstreams", "feed", session, revision, found, write=True, long=True
        )
        return check

    # What is due without a call.

    def _start(self) -> None:
        """What an open store does before its first call."""
        self._prune("at-start")
        try:
            self._ask("maintenance", "recover", False, write=True, long=True)
        except HeadsupError as error:
            self._courier.log("error", f"pending notices were not recovered: {error}")
        if self._clock.is_manual:
            return
        self._begin("headsup-wakes", self._keep_time)
        if self._monitor is not None:
            self._begin("headsup-monitor", self._monitor.keep_watch)

    def _begin(self, name: str, run: Callable[[], None]) -> None:
        thread = threading.Thread(target=run, name=name, daemon=True)
        thread.start()
        self._threads.append(thread)

    def _keep_time(self) -> None:
        rest = upkeep.ROUND
        while self._alarm.wait(rest):
            self._fire_due()
            self._tidy()
            rest = self._upkeep.rest(self._clock.now())

    def _clock_moved(self) -> None:
        """Fires what is due by a manual clock: each timer once, before whoever moved it hears of
        it."""
        self._fire_due()
        if self._monitor is not None:
            self._monitor.fire()

    def _fire_due(self) -> None:
        while (question := self._alarm.due()) is not None:
            if self._alarm.answer(question.watcher, self._is_pending(question)):
                self._courier.wake(question.watcher)

    def _is_pending(self, question: Question) -> Answer:
        """Looks whether a notice is pending that justifies a wake."""
        try:
            pending = self._ask("notices", "pending-of", question.watcher, write=False)
        except HeadsupError:
            return "unknown"
        for notice, wakes in pending:
            opening = (*notice.target, notice.since)
            if wakes and (question.any_of is None or opening in question.any_of):
                return "pending"
        return "settled"

    def _tidy(self) -> None:
        """Prunes if it is due."""
        now = self._clock.now()
        if not self._upkeep.ask(now):
            return
        try:
            next_prune = self._ask("maintenance", "next-prune", write=False)
        except HeadsupError as error:
            self._log_unpruned(error)
            return
        if next_prune > now:
            self._upkeep.set(range(now, next_prune))
        elif self._prune("if-due"):
            self._upkeep.set(range(0))

    def _prune(self, urgency: str) -> bool:
        """Prunes batch by batch, so that other writers come in between. Returns whether all is
        done."""
        for _ in range(upkeep.PRUNE_BATCHES):
            try:
                pruning = self._ask("maintenance", "prune", urgency, write=True, long=True)
            except HeadsupError as error:
                self._log_unpruned(error)
                return False
            if pruning is None or not pruning.more:
                return True
        return False

    def _log_unpruned(self, error: HeadsupError) -> None:
        self._courier.log("warn", f"nothing was pruned ({error.reason}): {error.message}")

    def _check_due(self) -> None:
        """A round of the monitor. Where nothing is adopted nobody takes the write lock to find that
        out."""
        try:
            if self._has_links():
                self._checks.run(Case("due"))
        except HeadsupError as error:
            line = f"no adopted session was checked ({error.reason}): {error.message}"
            self._courier.log("warn", line)

    def _has_links(self) -> bool:
        """Looks into the store, past the core."""

        def body(instance: Instance) -> bool:
            return instance.storage is not None and instance.storage.read(has_links)

        done = self._run(body, write=False)
        if done.failure is not None:
            raise Failed(done.failure)
        return done.answer is True

    # How all of it runs.

    def _ask(
        self, interface: str, function: str, *values: Any, write: bool, long: bool = False
    ) -> Any:
        """Calls a typed export in a transaction of its own. Raises `HeadsupError`."""
        deadline = self._limits.long_deadline_ms if long else self._limits.deadline_ms

        def body(instance: Instance) -> Any:
            instance.is_swollen |= any(size(value) > SWOLLEN for value in values)
            return instance.call(interface, function, *values, deadline_ms=deadline)

        done = self._run(body, write=write)
        self._courier.deliver(done.effects)
        if done.failure is not None:
            raise Failed(done.failure)
        tag, value = done.answer
        if tag == "err":
            raise refusal(value)
        return value

    def _run(self, body: Body, *, write: bool) -> Done:
        try:
            return self._desks.write(body) if write else self._desks.read(body)
        except ClosedError:
            raise Closed from None

    def _learn(self, core: Core) -> dict[str, str]:
        """The methods of a core, with what each does to the store. Asking is also what shows that it
        can start and that its types are the contract's."""
        for interface, function in TYPED:
            core.signature(interface, function)
        try:
            methods, _ = self._mouth.ask(core, "wire", "methods")
        except Trapped as trapped:
            why = f"the plugin {core.name} does not start: {trapped.failure.value}"
            raise OpenError("plugin-refused", why) from None
        return {name: access for name, access in map(Method._make, methods)}


TYPED = (
    ("wire", "methods"),
    ("wire", "writes"),
    ("wire", "call"),
    ("wire", "failed"),
    ("wire", "errand-of"),
    ("wire", "respond"),
    ("maintenance", "prune"),
    ("maintenance", "next-prune"),
    ("maintenance", "recover"),
    ("notices", "pending-of"),
    ("upstreams", "plan-checks"),
    ("upstreams", "feed"),
    ("plugin", "describe"),
)
"""The exports that this host calls; everything else it asks by `wire`."""
