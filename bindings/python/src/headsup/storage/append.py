"""The verbs that record: `append` and `save`."""

from __future__ import annotations

import apsw

from ..contract import (
    LARGEST,
    AppendRequest,
    Appended,
    Case,
    Changes,
    Cursor,
    Entry,
    HeadChange,
    Positions,
    Session,
)
from .failure import StorageError
from .rows import cursor, head, stored
from .sql import statement


def append(connection: apsw.Connection, request: AppendRequest) -> Case:
    """`storage.append`."""
    entry = request.entry
    duplicate = _duplicate_of(connection, entry)
    if duplicate is not None:
        return Case("duplicate", duplicate)
    is_watched, has_settled, *columns = connection.execute(
        statement("append/target"),
        {
            "only_if_watched": request.only_if_watched,
            "session_key": entry.session.key,
            "agent_id": entry.session.agent,
            "settled": request.settled,
        },
    ).get
    if is_watched == 0:
        return Case("unwatched")
    before = head(tuple(columns), 0)
    sequence = _insert(connection, entry)
    cursors = _cursors_asked_for(connection, request, bool(has_settled))
    return Case("appended", Appended(sequence, before, cursors))


def _duplicate_of(connection: apsw.Connection, entry: Entry) -> int | None:
    if entry.dedupe_key is None:
        return None
    key, agent = entry.session
    values = {"session_key": key, "agent_id": agent, "dedupe_key": entry.dedupe_key}
    found: int | None = connection.execute(statement("append/duplicate"), values).get
    return found


def _insert(connection: apsw.Connection, entry: Entry) -> int:
    values = {
        "dedupe_key": entry.dedupe_key,
        "session_key": entry.session.key,
        "agent_id": entry.session.agent,
        "session_id": entry.session_id,
        "kind": entry.kind,
        "actor_type": entry.actor_type,
        "actor_id": entry.actor_id,
        "run_id": entry.run_id,
        "occurred_at": stored(entry.occurred_at),
        "summary": entry.summary,
        "payload_json": entry.payload,
    }
    try:
        connection.execute(statement("append/insert"), values)
    except apsw.Error:
        if _series_is_over(connection):
            raise StorageError(
                "failed",
                "its series of sequences has come to its end, 2^53 - 1; bring back a backup, or "
                "start a new store",
            ) from None
        raise
    return connection.last_insert_rowid()


def _series_is_over(connection: apsw.Connection) -> bool:
    """Whether no number is left to give: SQLite would speak of a full disk."""
    try:
        given = connection.execute(statement("append/counter")).get
    except apsw.Error:
        return False
    return isinstance(given, int) and given >= LARGEST


def _cursors_asked_for(
    connection: apsw.Connection, request: AppendRequest, has_settled: bool
) -> list[Cursor]:
    """Settled and named cursors, each once: a named watcher may be a settled one."""
    session = request.entry.session
    found = _settled(connection, session) if has_settled else []
    if not request.named:
        return found
    by_watcher = {cursor.pair.watcher: cursor for cursor in found}
    for watcher in request.named:
        if watcher in by_watcher:
            continue
        values = {
            "watcher_key": watcher,
            "session_key": session.key,
            "agent_id": session.agent,
        }
        for row in connection.execute(statement("append/named"), values):
            by_watcher[watcher] = cursor(row)
    # By bytes, which is not the order of Python's text beyond the basic plane.
    return [by_watcher[watcher] for watcher in sorted(by_watcher, key=str.encode)]


def _settled(connection: apsw.Connection, session: Session) -> list[Cursor]:
    values = {"session_key": session.key, "agent_id": session.agent}
    return [cursor(row) for row in connection.execute(statement("append/settled"), values)]


def save(connection: apsw.Connection, changes: Changes) -> None:
    """`storage.save`."""
    for change in changes.heads:
        _save_head(connection, change)
    for moved in changes.cursors:
        if not _move_live_cursor(connection, moved):
            _put_cursor(connection, moved)


def _save_head(connection: apsw.Connection, change: HeadChange) -> None:
    (key, agent), changed = change
    notifying = changed.notifying
    values = {
        "version": stored(changed.version),
        "watermark": stored(changed.watermark),
        "notifying_newest": None if notifying is None else stored(notifying.newest),
        "notifying_actor": None if notifying is None else notifying.actor,
        "notifying_other": None if notifying is None else stored(notifying.other),
        "moved_at": stored(changed.moved_at),
        "session_key": key,
        "agent_id": agent,
    }
    connection.execute(statement("save/head"), values)
    if connection.changes() == 0:
        connection.execute(statement("save/first_head"), values)


def _move_live_cursor(connection: apsw.Connection, moved: Cursor) -> bool:
    """Whether there was a live cursor, which is now as given."""
    positions = moved.state.value
    if not isinstance(positions, Positions):
        return False
    connection.execute(
        statement("save/move_cursor"),
        {
            "provenance": positions.provenance,
            "last_seen": stored(positions.last_seen),
            "notified": stored(positions.notified),
            "moved_at": stored(moved.moved_at),
            "watcher_key": moved.pair.watcher,
            "target_key": moved.pair.target.key,
            "target_agent_id": moved.pair.target.agent,
        },
    )
    return connection.changes() > 0


def _put_cursor(connection: apsw.Connection, put: Cursor) -> None:
    positions = put.state.value
    live = isinstance(positions, Positions)
    connection.execute(
        statement("save/put_cursor"),
        {
            "watcher_key": put.pair.watcher,
            "target_key": put.pair.target.key,
            "target_agent_id": put.pair.target.agent,
            "state": put.state.tag,
            "provenance": positions.provenance if live else None,
            "last_seen": stored(positions.last_seen) if live else None,
            "notified": stored(positions.notified) if live else None,
            "moved_at": stored(put.moved_at),
        },
    )
