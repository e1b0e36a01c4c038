"""The verbs that remove and mark: `reset`, `delete`, `prune`, `restored`, and `set` of the
settings."""

from __future__ import annotations

from typing import Any

import apsw

from ..contract import LARGEST, PruneRequest, Pruning, Removal, Session, Setting
from .failure import StorageError
from .rows import count, stored
from .sql import statement


def _execute(connection: apsw.Connection, name: str, values: dict[str, Any]) -> int:
    """Runs a statement. Returns how many rows it changed."""
    connection.execute(statement(name), values)
    return connection.changes()


def reset(connection: apsw.Connection, watcher: str) -> int:
    """`storage.reset`."""
    return count(_execute(connection, "reset", {"watcher_key": watcher}))


def delete(connection: apsw.Connection, session: Session, now: int) -> Removal:
    """`storage.delete`."""
    of_session = {"session_key": session.key, "agent_id": session.agent}
    events = _execute(connection, "delete/events", of_session)
    cursors = _delete_cursors(connection, session, "live")
    _delete_cursors(connection, session, "unwatched")
    _execute(connection, "delete/link", of_session)
    _execute(connection, "delete/turns", of_session)
    _execute(connection, "delete/tombstone", {**of_session, "now": stored(now)})
    return Removal(count(cursors), count(events))


def _delete_cursors(connection: apsw.Connection, session: Session, state: str) -> int:
    it = {"session_key": session.key, "state": state}
    on_it = _execute(connection, "delete/cursors_on_it", {**it, "agent_id": session.agent})
    return on_it + _execute(connection, "delete/cursors_it_holds", it)


def prune(connection: apsw.Connection, request: PruneRequest) -> Pruning:
    """`storage.prune`."""
    events, more = _prune_log(connection, request)
    cursors = 0
    if request.moved_before is not None:
        # Cursors first: a tombstone's last move still counts for the cursors on it.
        cutoff = {"moved_before": stored(request.moved_before)}
        cursors = _execute(connection, "prune/cursors", cutoff)
        _execute(connection, "prune/tombstones", cutoff)
        _execute(connection, "prune/turns", cutoff)
    return Pruning(count(events), count(cursors), more)


def _prune_log(connection: apsw.Connection, request: PruneRequest) -> tuple[int, bool]:
    """One batch of the log: how many rows went, and whether more are due."""
    before = request.occurred_before
    surplus = connection.execute(
        statement("prune/surplus"), {"keep_rows": request.keep_rows}
    ).get
    due = {
        "occurred_before": None if before is None else stored(before),
        "surplus": surplus,
    }
    last, rows = connection.execute(
        statement("prune/batch"), {**due, "at_most": request.at_most}
    ).get
    batch = {**due, "last": last or 0}
    gone = 0
    if last is not None:
        _execute(connection, "prune/watermarks", batch)
        gone = _execute(connection, "prune/events", batch)
    # A batch that was not cut has no rest.
    if rows != request.at_most:
        return gone, False
    return gone, connection.execute(statement("prune/more"), batch).get is not None


def restored(connection: apsw.Connection, by: int) -> int:
    """`storage.restored`."""
    highest: int = connection.execute(statement("restored/position")).get
    position = highest + by
    if position > LARGEST:
        raise StorageError("failed", "its series of sequences would pass 2^53 - 1")
    for name in ("counter", "first_counter", "heads", "mark"):
        _execute(connection, f"restored/{name}", {"position": position})
    return position


def set_settings(connection: apsw.Connection, settings: list[Setting]) -> None:
    """`settings.set`."""
    for setting in settings:
        _execute(connection, "settings/set", {"name": setting.name, "value": setting.value})
