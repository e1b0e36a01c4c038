"""Which schema a file has: ours, none yet, a newer one, or somebody else's; and bringing it up to
date. A file may belong to a gateway, so only our own tables are looked at."""

from __future__ import annotations

from functools import lru_cache

import apsw

from .failure import StorageError
from .sql import statement

MIGRATIONS = ("0001_signal_log", "0002_broken_order_is_open")
"""All schema files, oldest first; the first one makes version 1."""

NEWEST = len(MIGRATIONS)
"""The schema version that this host makes and understands."""

_TABLE = "headsup_migrations"

Part = tuple[str, str, int, str, str]
"""One line of a file's shape: owner, kind, position, part, detail."""


def version(connection: apsw.Connection) -> int:
    """The schema version of a file: 0 if there is nothing of ours yet. Changes nothing.

    Raises `too-new`, or `foreign-schema` if something has one of our names and is not what we made.
    """
    shape = _shape(connection)
    if not shape:
        return 0
    first = min(shape)
    if not any(part[0] == _TABLE for part in shape):
        raise _foreign(first[1], first[0])
    # Our migration table first: what it says counts only if it is ours.
    if _of_migrations(shape) != _of_migrations(_shape_of(NEWEST)):
        raise _foreign("table", _TABLE)
    found = _applied(connection)
    differences = shape ^ _shape_of(found)
    if differences:
        part = min(differences)
        raise _foreign(part[1], part[0])
    return found


def migrate(connection: apsw.Connection, start: int, end: int = NEWEST) -> None:
    """Brings a file from a version to another. To be called inside a write transaction."""
    if start == 0:
        connection.execute(statement("schema/migrations"))
    for number, name in list(enumerate(MIGRATIONS, 1))[start:end]:
        connection.execute(statement(f"schema/{name}"))
        connection.execute(statement("schema/record"), {"version": number, "name": name})


@lru_cache(maxsize=None)
def _shape_of(at: int) -> frozenset[Part]:
    """The shape that we make, as a fresh store has it."""
    fresh = apsw.Connection(":memory:")
    try:
        migrate(fresh, 0, at)
        return _shape(fresh)
    finally:
        fresh.close()


def _shape(connection: apsw.Connection) -> frozenset[Part]:
    return frozenset(connection.execute(statement("schema/shape")))


def _of_migrations(shape: frozenset[Part]) -> frozenset[Part]:
    return frozenset(part for part in shape if part[0] == _TABLE)


def _applied(connection: apsw.Connection) -> int:
    """How many schema files ran."""
    ran = list(connection.execute(statement("schema/applied")))
    if len(ran) > NEWEST:
        raise StorageError(
            "too-new",
            f"a newer headsup made it (schema {len(ran)}, this one knows {NEWEST}); nothing was "
            "changed. Use that version, or a newer one",
        )
    if ran != list(enumerate(MIGRATIONS, 1))[: len(ran)]:
        raise _foreign("table", _TABLE)
    return len(ran)


def _foreign(kind: str, name: str) -> StorageError:
    return StorageError(
        "foreign-schema",
        f"the {kind} `{name}` is not as headsup makes it, so somebody else made or changed it; "
        "nothing was changed. Rename it, or give headsup a file of its own",
    )
