"""The API that a gateway in Python uses: one method for each of `docs/api.md`."""

from __future__ import annotations

import itertools
import json
import os
import threading
import weakref
from collections.abc import Callable, Iterable, Sequence
from types import TracebackType
from typing import Any

from . import wire
from .engine import Engine
from .errors import CallFailed, Closed, HeadsupError
from .results import (
    Acknowledgement,
    Actor,
    Adoption,
    Checks,
    CoreInfo,
    Drained,
    Feeding,
    Kind,
    Notice,
    Pending,
    Plan,
    Recording,
    Recovery,
    Removal,
    Session,
    Signal,
    Source,
    Status,
    Tool,
    ToolResult,
    Watch,
    Watching,
)

AnySession = str | Session
"""A session: its key, where the agent follows from it, or a `Session`."""


class Headsup:
    """Session state awareness over one store: signals go in, notices and exact deltas come out.

    Made by `headsup.open`. Any thread may call, callbacks included, and several processes may open
    the same file. Every call is one transaction: committed when it returns, and without effect when
    it raises a `HeadsupError`.
    """

    def __init__(self, engine: Engine, closed: Callable[[], None] = lambda: None) -> None:
        self._engine = engine
        self._on_closed = closed
        # Also when nobody holds it any more, and at the end of the process.
        self._end = weakref.finalize(self, _end, engine, closed)
        self._ids = itertools.count(1)
        self._closing = threading.Lock()
        self._closed = False

    def __enter__(self) -> Headsup:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def engine(self) -> str:
        """What runs the core: `native` or `component`."""
        return self._engine.name

    def close(self) -> None:
        """Closes the store. Calls that run on other threads end first. Closing twice does nothing."""
        with self._closing:
            if self._closed:
                return
            self._closed = True
        try:
            _end(self._engine, self._on_closed)
        except HeadsupError:
            # The native engine refuses it in a callback: the store is open as before.
            self._closed = False
            raise
        self._end.detach()

    def call(self, request: str | bytes | dict[str, Any] | list[Any]) -> str | None:
        """Answers one JSON-RPC request, or a batch of them, as the JSON text of the response; `None`
        where nobody waits for one. Whatever the request is, its failures are responses, too."""
        if self._closed:
            raise Closed
        if isinstance(request, (dict, list)):
            request = json.dumps(request)
        if isinstance(request, str):
            # A lone surrogate is no text: the engine is to say so.
            request = request.encode(errors="surrogatepass")
        return self._engine.answer(request)

    def record(
        self,
        session: AnySession,
        kind: Kind,
        actor: Actor,
        *,
        watchers: Iterable[str] = (),
        **fields: Any,
    ) -> Recording:
        """Records one signal; `fields` are those of `Signal`. Best effort: whatever is wrong with the
        store or the core is an outcome, so that recording never fails the turn that caused it. Raises
        `InvalidInput` for a signal that is refused."""
        made = Signal(session, kind, actor, watchers=tuple(watchers), **fields)
        return wire.taken(Recording, self._ask("record", wire.signal(made)))

    def record_many(self, signals: Iterable[Signal]) -> list[Recording]:
        """Records at most 1,000 signals in one transaction, in order, all or none; the outcomes in the
        same order."""
        found = self._ask("recordMany", {"signals": [wire.signal(one) for one in signals]})
        return [wire.taken(Recording, outcome) for outcome in found["outcomes"]]

    def watch(self, watcher: str, target: AnySession, *, ambient: bool = False) -> Watching:
        """Starts watching a session at its current version: earlier history never notifies. `ambient`
        watches never wake."""
        params = {"watcher": watcher, "target": wire.session(target), "ambient": ambient}
        return wire.taken(Watching, self._ask("watch", params))

    def unwatch(self, watcher: str, target: AnySession) -> bool:
        """Ends a watch and leaves a mark, so that producers do not bring it back. Returns whether a
        live watch ended."""
        params = {"watcher": watcher, "target": wire.session(target)}
        removed: bool = self._ask("unwatch", params)["removed"]
        return removed

    def watches_of(self, watcher: str) -> list[Watch]:
        """The live watches of a watcher, by target key, then agent."""
        return self._watches({"watcher": watcher})

    def watches_on(self, target: AnySession) -> list[Watch]:
        """The live watches on a session, by watcher."""
        return self._watches({"target": wire.session(target)})

    def take(self, watcher: str) -> list[Notice]:
        """The pending notices of a watcher, by `up_to`. Changes nothing: show them in a turn, and
        acknowledge them once it carries them."""
        return list(wire.notices(self._ask("take", {"watcher": watcher})["notices"]))

    def acknowledge(self, watcher: str, notices: Iterable[Notice]) -> Acknowledgement:
        """Acknowledges taken notices, at most 1,000. Late and repeated ones are ignored. What changed
        since a notice was taken opens a new one."""
        params = {"watcher": watcher, "notices": [wire.given(notice) for notice in notices]}
        found = self._ask("acknowledge", params)
        return Acknowledgement(found["acknowledged"], wire.notices(found["reopened"]))

    def drain(self, watcher: str) -> Drained:
        """Takes and acknowledges in one transaction."""
        found = self._ask("drain", {"watcher": watcher})
        return Drained(wire.notices(found["notices"]), wire.notices(found["reopened"]))

    def pending(self) -> list[Pending]:
        """Who has how many notices pending, by watcher."""
        return [wire.taken(Pending, one) for one in self._ask("pending")["watchers"]]

    def status(
        self, session: AnySession, changes_since: int | None = None, limit: int | None = None
    ) -> Status:
        """The state version of a session and, if a version is given, the events after it: at most
        `limit` of them (1 to 200, which is also the default), from one snapshot."""
        params = wire.members(
            session=wire.session(session), changes_since=changes_since, limit=limit
        )
        return wire.status(self._ask("status", params))

    def versions(self, sessions: Iterable[AnySession]) -> list[int | None]:
        """The state versions of at most 1,000 sessions, in the order asked; `None` where nothing was
        recorded."""
        params = {"sessions": [wire.session(session) for session in sessions]}
        versions: list[int | None] = self._ask("versions", params)["versions"]
        return versions

    def reset(self, session: AnySession) -> Removal:
        """Removes the cursors that a session holds as watcher; its log and the cursors of others on it
        stay."""
        return wire.taken(Removal, self._ask("reset", {"session": wire.session(session)}))

    def delete(self, session: AnySession) -> Removal:
        """Removes a session's log, head, link and every cursor with it on either side."""
        return wire.taken(Removal, self._ask("delete", {"session": wire.session(session)}))

    def recover(self) -> Recovery:
        """Prunes whatever is due, then announces every pending notice again. Opening a store has done
        so already."""
        return wire.taken(Recovery, self._ask("recover"))

    def adopt(
        self,
        session: AnySession,
        source: Source,
        catalog: str,
        *,
        host: str | None = None,
        thread: str | None = None,
    ) -> Adoption:
        """Adopts a session: what people do where it really lives is recorded from now on, while
        somebody watches it. History is never reported. A file is read before this returns, inside the
        folders that `open` allows."""
        params = wire.members(
            session=wire.session(session),
            source=wire.given(source),
            catalog=catalog,
            host=host,
            thread=thread,
        )
        return wire.taken(Adoption, self._ask("adopt", params))

    def sent(self, session: AnySession, text: str) -> None:
        """The gateway itself sent this user-role text to the session: at its source it is no human
        turn. Say it before the text goes out; only a hash is kept."""
        self._ask("sent", {"session": wire.session(session), "text": text})

    def busy(self, session: AnySession, running: bool) -> None:
        """A turn of the session runs, or no longer does: while one runs its source is not checked.
        Counts for an hour."""
        self._ask("busy", {"session": wire.session(session), "running": running})

    def check_upstreams(self) -> Checks:
        """Checks every watched link whose source is a file, now."""
        return wire.taken(Checks, self._ask("checkUpstreams"))

    def plan_upstreams(self) -> list[Plan]:
        """What the gateway itself has to read now: threads on nodes, of sessions that somebody
        watches; claimed for a minute, so that of several processes one reads."""
        return [wire.plan(plan) for plan in self._ask("planUpstreams")["plans"]]

    def feed_upstream(
        self,
        plan: Plan,
        *,
        items: Sequence[str | dict[str, Any]] | None = None,
        missing: bool = False,
        unavailable: bool = False,
    ) -> Feeding:
        """Takes in what the gateway found for a plan: one of at most 1,000 `items`, oldest first;
        `missing` (definitively no such thread); and `unavailable` (it could not be asked)."""
        params = wire.members(
            plan=wire.planned(plan),
            items=None if items is None else list(items),
            missing=missing or None,
            unavailable=unavailable or None,
        )
        return wire.taken(Feeding, self._ask("feedUpstream", params))

    def tools(self) -> list[Tool]:
        """The tools to give to agents."""
        return [wire.taken(Tool, tool) for tool in self._ask("tools")["tools"]]

    def call_tool(
        self, name: str, arguments: dict[str, Any] | None, caller: AnySession
    ) -> ToolResult:
        """Runs a tool for the agent of a session."""
        params = wire.members(name=name, arguments=arguments, caller=wire.session(caller))
        found = self._ask("callTool", params)
        text = found["content"][0]["text"]
        return ToolResult(text, found["structuredContent"], found["isError"])

    def clock(self, now: int) -> int:
        """Moves a manual clock, forwards or back. Timers that have come due fire before this returns,
        each a single time. Raises `Unavailable` where the clock is the machine's."""
        moved: int = self._ask("clock", {"now": now})["now"]
        return moved

    def swap(self, plugin: str | os.PathLike[str] | None) -> None:
        """Serves all calls to come with the core in a file; with the built-in one if it is `None`.
        Calls in flight end with the core they began with. Raises `OpenError`; nothing was changed
        then."""
        if self._closed:
            raise Closed
        self._engine.swap(None if plugin is None else os.fspath(plugin))

    def core(self) -> CoreInfo:
        """Which core serves."""
        if self._closed:
            raise Closed
        return CoreInfo(**self._engine.describe())

    def _watches(self, params: dict[str, Any]) -> list[Watch]:
        return [wire.taken(Watch, watch) for watch in self._ask("watches", params)["watches"]]

    def _ask(self, method: str, params: dict[str, Any] | None = None) -> Any:
        """The result of a method. Raises `HeadsupError`."""
        request: dict[str, Any] = {"jsonrpc": "2.0", "id": next(self._ids), "method": method}
        if params is not None:
            request["params"] = params
        response = self.call(request)
        if response is None:
            raise CallFailed("plugin-trap", "the engine returned no response", code=-32000)
        answer = json.loads(response)
        if "error" in answer:
            raise HeadsupError.of(answer["error"])
        return answer["result"]


def _end(engine: Engine, closed: Callable[[], None]) -> None:
    engine.close()
    closed()
