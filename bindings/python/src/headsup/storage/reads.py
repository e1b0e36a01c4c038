"""The verbs that only read: `cursors`, `pairs`, `open-counts`, `heads`, `history`, and `get` of the
settings."""

from __future__ import annotations

from typing import Any

import apsw

from ..contract import (
    LARGEST,
    Case,
    Head,
    LogPage,
    Pair,
    PairState,
    PendingCount,
    Session,
    Watched,
)
from .failure import broken_row
from .rows import CURSOR_COLUMNS, cursor, event, head, stored
from .sql import statement


def cursors(
    connection: apsw.Connection, query: Case, after: Pair | None, limit: int
) -> list[Watched]:
    """`storage.cursors`."""
    match query:
        case ("of-watcher", watcher):
            return _of_one_watcher(connection, "cursors/of_watcher", watcher, after, limit)
        case ("open-of", watcher):
            return _of_one_watcher(connection, "cursors/open_of", watcher, after, limit)
        case ("on-target", target):
            return _on_target(connection, target, after, limit)
        case _:
            return _all_open(connection, after, limit)


def _of_one_watcher(
    connection: apsw.Connection, name: str, watcher: str, after: Pair | None, limit: int
) -> list[Watched]:
    # The list goes by watcher first: this watcher's cursors are all after an earlier watcher's and
    # all before a later one's.
    if after is not None and after.watcher.encode() > watcher.encode():
        return []
    key, agent = after.target if after is not None and after.watcher == watcher else ("", "")
    values = {
        "watcher_key": watcher,
        "after_target_key": key,
        "after_target_agent_id": agent,
        "limit": limit,
    }
    return _watched(connection, name, values)


def _on_target(
    connection: apsw.Connection, target: Session, after: Pair | None, limit: int
) -> list[Watched]:
    found = []
    # Where `after` names a target before this one, its watcher's cursor on this one comes first.
    if after is not None and limit > 0 and _bytes(after.target) < _bytes(target):
        state = _pair_state(connection, Pair(after.watcher, target))
        if state.cursor is not None and state.cursor.state.tag == "live":
            found.append(Watched(state.cursor, state.head))
    values = {
        "target_key": target.key,
        "target_agent_id": target.agent,
        "after_watcher_key": "" if after is None else after.watcher,
        "limit": limit - len(found),
    }
    return found + _watched(connection, "cursors/on_target", values)


def _bytes(session: Session) -> tuple[bytes, bytes]:
    return session.key.encode(), session.agent.encode()


def _all_open(connection: apsw.Connection, after: Pair | None, limit: int) -> list[Watched]:
    watcher, (key, agent) = ("", ("", "")) if after is None else after
    values = {
        "after_watcher_key": watcher,
        "after_target_key": key,
        "after_target_agent_id": agent,
        "limit": limit,
    }
    return _watched(connection, "cursors/open", values)


def _watched(connection: apsw.Connection, name: str, values: dict[str, Any]) -> list[Watched]:
    rows = connection.execute(statement(name), values)
    return [Watched(cursor(row), head(row, CURSOR_COLUMNS)) for row in rows]


def pairs(connection: apsw.Connection, asked: list[Pair]) -> list[PairState]:
    """`storage.pairs`."""
    return [_pair_state(connection, pair) for pair in asked]


def _pair_state(connection: apsw.Connection, pair: Pair) -> PairState:
    values = {
        "watcher_key": pair.watcher,
        "target_key": pair.target.key,
        "target_agent_id": pair.target.agent,
    }
    row = connection.execute(statement("pairs"), values).get
    found = None if row[0] is None else cursor(row)
    return PairState(found, head(row, CURSOR_COLUMNS))


def open_counts(connection: apsw.Connection) -> list[PendingCount]:
    """`storage.open-counts`."""
    return [PendingCount(*row) for row in connection.execute(statement("open_counts"))]


def heads(connection: apsw.Connection, sessions: list[Session]) -> list[Head | None]:
    """`storage.heads`."""
    return [_session_head(connection, session) for session in sessions]


def _session_head(connection: apsw.Connection, session: Session) -> Head | None:
    values = {"session_key": session.key, "agent_id": session.agent}
    row = connection.execute(statement("heads"), values).get
    return None if row is None else head(row, 0)


def history(connection: apsw.Connection, session: Session, after: int, limit: int) -> LogPage:
    """`storage.history`."""
    values = {
        "session_key": session.key,
        "agent_id": session.agent,
        "after": stored(after),
        "limit": limit,
    }
    rows = [event(row) for row in connection.execute(statement("history/rows"), values)]
    return LogPage(_session_head(connection, session), _restored_at(connection), rows)


def _restored_at(connection: apsw.Connection) -> int:
    value = connection.execute(statement("history/restored_at")).get
    if value is None:
        return 0
    text = str(value)
    if not (text.isascii() and text.isdigit()) or int(text) > LARGEST:
        raise broken_row("headsup_settings", "a restored-at that is no sequence")
    return int(text)


def settings(connection: apsw.Connection, names: list[str]) -> list[str | None]:
    """`settings.get`."""
    get = statement("settings/get")
    return [connection.execute(get, {"name": name}).get for name in names]
