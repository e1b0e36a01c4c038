"""Rows into the contract's records, in the column order that the SQL files state. A number out of
range or a word that is none of ours means that somebody else wrote the row."""

from __future__ import annotations

from typing import Any, cast

from ..contract import (
    LARGEST,
    Case,
    Cursor,
    Entry,
    Head,
    Notifying,
    Pair,
    Positions,
    Provenance,
    Row,
    Session,
)
from .failure import broken_row

SqlRow = tuple[Any, ...]

EVENTS = "session_state_events"
HEADS = "session_state_heads"
CURSORS = "session_watch_cursors"

CURSOR_COLUMNS = 8
"""Columns of a cursor in a row."""

_MOST_STORED = (1 << 63) - 1


def stored(number: int) -> int:
    """A number as SQLite keeps it. Those that cross the contract fit; a larger one is cut to a value
    that every column's range refuses."""
    return min(number, _MOST_STORED)


def count(rows: int) -> int:
    """A count of rows as the contract says it."""
    return min(rows, (1 << 32) - 1)


def number(value: object, table: str) -> int:
    """A number that every language holds exactly."""
    if type(value) is not int or not 0 <= value <= LARGEST:
        raise broken_row(table, "a number out of range")
    return value


def head(row: SqlRow, first: int) -> Head | None:
    """A head whose first column is `first`; nothing where an outer join left it out."""
    if row[first] is None:
        return None
    version = number(row[first], HEADS)
    notifying = None
    if row[first + 2] is not None:
        newest, other = number(row[first + 2], HEADS), number(row[first + 4], HEADS)
        if other >= newest or newest > version:
            raise broken_row(HEADS, "notifying events out of order")
        notifying = Notifying(newest, row[first + 3], other)
    watermark, moved_at = number(row[first + 1], HEADS), number(row[first + 5], HEADS)
    return Head(version, watermark, notifying, moved_at)


def cursor(row: SqlRow) -> Cursor:
    """A cursor whose first column is the row's first."""
    match row[3]:
        case "live":
            state = Case("live", _positions(row))
        case "unwatched":
            state = Case("unwatched")
        case _:
            raise broken_row(CURSORS, "a state of another name")
    pair = Pair(row[0], Session(row[1], row[2]))
    return Cursor(pair, state, number(row[7], CURSORS))


def _positions(row: SqlRow) -> Positions:
    if row[4] not in ("spawn", "explicit", "ambient"):
        raise broken_row(CURSORS, "a provenance of another name")
    last_seen, notified = number(row[5], CURSORS), number(row[6], CURSORS)
    if last_seen > notified:
        raise broken_row(CURSORS, "last_seen after notified")
    return Positions(last_seen, notified, cast(Provenance, row[4]))


def event(row: SqlRow) -> Row:
    """A row of the log."""
    sequence, key, agent, kind, actor_type, actor_id, occurred_at, *rest = row
    summary, session_id, run_id, payload, dedupe_key = rest
    entry = Entry(
        Session(key, agent),
        kind,
        actor_type,
        actor_id,
        number(occurred_at, EVENTS),
        summary,
        session_id,
        run_id,
        payload,
        dedupe_key,
    )
    return Row(number(sequence, EVENTS), entry)
