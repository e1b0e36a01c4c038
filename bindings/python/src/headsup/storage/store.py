"""One connection to a store: opening it, its transactions, and the verbs in them. A file that is not
ours to use is refused before anything is written to it."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable
from typing import Concatenate, Literal, ParamSpec, TypeVar

import apsw

from . import append, lifecycle, reads, schema, upstream
from .companions import Kept, companions_of, give_up, refuse_opening, taken_away
from .failure import StorageError, of_sqlite, read_only
from .options import StoreOptions
from .place import make_folder, refuse_what_is_no_database, remove_empty, unless_folder_refuses
from .sql import statement

OLDEST_SQLITE = (3, 51, 3)
"""Older ones can corrupt a file in WAL mode."""

CACHED_STATEMENTS = 128
"""More than there are statements, so that each is prepared once for each connection."""

CHECKPOINT_PAGES = 4_000
"""16 MB of commits beside the file before they are brought into it."""

WAL_RETRY = 0.01
"""How long to wait before trying again to switch a new file to WAL, in s."""

Values = ParamSpec("Values")
Result = TypeVar("Result")
Verb = Callable[Concatenate[apsw.Connection, Values], Result]


class Store:
    """One connection to a store. Used by one thread at a time; a verb outside a transaction fails.

    Every failure is a `StorageError`.
    """

    def __init__(self, connection: apsw.Connection, place: str, *, writable: bool) -> None:
        self._connection = connection
        self._place = place
        self._writable = writable
        self._transaction: Literal["read", "write"] | None = None
        self._companions = companions_of(connection, self)
        self.in_doubt = False
        """Whether nobody knows what the disk has: a sync failed on this connection, or its log was taken
        away."""

    @classmethod
    def open(cls, options: StoreOptions) -> Store:
        """Opens a store to write, and makes it if it is not there: missing folders, the file, our
        tables beside whatever else the file holds. An older schema is brought up to date.

        `read-only`, `corrupt`, `too-new` and `foreign-schema` leave the file as it was.
        """
        with _worded(options.path):
            connection = _memory() if options.is_in_memory else _made_or_opened(options)
        return cls(connection, options.path, writable=True)

    @classmethod
    def reader(cls, options: StoreOptions) -> Store:
        """Another connection to a store that a writer has opened before: it only reads, and neither
        waits for the writer nor holds it up."""
        with _worded(options.path):
            refuse_old_sqlite()
            connection = _connect(options, apsw.SQLITE_OPEN_READWRITE)
            with _closed_on_failure(connection):
                connection.pragma("query_only", True)
                _refuse_other_encodings(connection)
                if _found_version(connection) != schema.NEWEST:
                    raise StorageError("failed", "its schema changed since it was opened")
        return cls(connection, options.path, writable=False)

    def close(self) -> None:
        """Closes the connection; what was not committed is undone."""
        self._transaction = None
        if self._companions is not None:
            self._part_with(self._companions.kept())
            give_up(self._companions, self)
            self._companions = None
        # Nothing of ours is open by now, and what SQLite still has to say changes nothing.
        with contextlib.suppress(apsw.Error):
            self._connection.close(force=True)

    def begin_write(self) -> None:
        """Begins a transaction that can write. It holds the store's one write lock from the start,
        so that no verb in it ever meets another writer."""
        if not self._writable:
            raise read_only().at(self._place)
        self._control("BEGIN IMMEDIATE")
        self._transaction = "write"
        kept = "all" if self._companions is None else self._companions.kept()
        if kept != "all":
            raise self._given_up(kept)

    def _given_up(self, kept: Kept) -> StorageError:
        """Ends the use of a connection whose log was taken away."""
        self.rollback()
        self._part_with(kept)
        self.in_doubt = True
        return taken_away().at(self._place)

    def _part_with(self, kept: Kept) -> None:
        """Brings what was acknowledged from a log that nobody will find again into the file, while the
        file is nobody else's. To a process that wrote to it since, both are left: the last connection to
        close would bring the log in by itself, over what is there, and remove the log of that one."""
        # What fails here cannot be done at all; the store is refused either way.
        with contextlib.suppress(apsw.Error):
            if kept == "not-all":
                self._connection.wal_checkpoint()
            elif kept == "usurped":
                self._connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)

    def begin_read(self) -> None:
        """Begins a transaction that only reads: one snapshot of the store as it is now."""
        self._control("BEGIN DEFERRED")
        self._transaction = "read"
        try:
            self._control(statement("open/snapshot"))
        except StorageError:
            self.rollback()
            raise

    def commit(self) -> None:
        """Makes everything since the beginning durable and visible to others. On a failure nothing
        was, and the transaction is over."""
        try:
            self._control("COMMIT")
        except StorageError:
            self.rollback()
            raise
        self._transaction = None

    def rollback(self) -> None:
        """Undoes everything since the beginning. Does nothing outside a transaction."""
        self._transaction = None
        if self._connection.in_transaction:
            # Fails only where SQLite has rolled back by itself already.
            with contextlib.suppress(StorageError):
                self._control("ROLLBACK")

    def read(
        self,
        verb: Verb[Values, Result],
        *values: Values.args,
        **named: Values.kwargs,
    ) -> Result:
        """Runs a verb that reads."""
        try:
            if self._transaction is None or not self._connection.in_transaction:
                raise StorageError("failed", "no transaction is open, or it was lost")
            return verb(self._connection, *values, **named)
        except StorageError as error:
            raise error.at(self._place) from error
        except (apsw.Error, UnicodeDecodeError) as error:
            raise self._word(error) from error

    def write(
        self,
        verb: Verb[Values, Result],
        *values: Values.args,
        **named: Values.kwargs,
    ) -> Result:
        """Runs a verb that writes."""
        if self._transaction == "read":
            message = "the core called a verb that writes in a call that only reads"
            raise StorageError("failed", message).at(self._place)
        return self.read(verb, *values, **named)

    def _control(self, sql: str) -> None:
        try:
            for _ in self._connection.execute(sql):
                pass
        except apsw.Error as error:
            raise self._word(error) from error

    def _word(self, error: apsw.Error | UnicodeDecodeError) -> StorageError:
        worded = of_sqlite(error).at(self._place)
        self.in_doubt |= worded.unsynced
        return worded


# The contract's verbs, by the names of `wit/storage.wit` and `wit/settings.wit`; those in WRITES
# need a transaction that can write.
READS: dict[str, Callable[..., object]] = {
    "cursors": reads.cursors,
    "pairs": reads.pairs,
    "open-counts": reads.open_counts,
    "heads": reads.heads,
    "history": reads.history,
    "upstream-of": upstream.upstream_of,
    "get": reads.settings,
}
WRITES: dict[str, Callable[..., object]] = {
    "append": append.append,
    "save": append.save,
    "reset": lifecycle.reset,
    "delete": lifecycle.delete,
    "prune": lifecycle.prune,
    "restored": lifecycle.restored,
    "save-upstream": upstream.save_upstream,
    "claim": upstream.claim,
    "set": lifecycle.set_settings,
}


@contextlib.contextmanager
def _worded(place: str):  # type: ignore[no-untyped-def]
    try:
        yield
    except StorageError as error:
        raise error.at(place) from error
    except apsw.Error as error:
        raise of_sqlite(error).at(place) from error


def refuse_old_sqlite() -> None:
    """Refuses a SQLite that is not safe for a file that several processes share."""
    found = tuple(int(part) for part in apsw.sqlite_lib_version().split("."))
    if found < OLDEST_SQLITE:
        raise StorageError(
            "failed",
            f"SQLite {apsw.sqlite_lib_version()} can damage a file in WAL mode; 3.51.3 or newer is "
            "needed: install the `apsw` that this package asks for, which brings its own",
        )


def _memory() -> apsw.Connection:
    refuse_old_sqlite()
    connection = apsw.Connection(":memory:", statementcachesize=CACHED_STATEMENTS)
    _configure(connection, 0)
    _bring_up_to_date(connection, 0)
    return connection


def _made_or_opened(options: StoreOptions) -> apsw.Connection:
    is_new = not os.path.exists(options.path)
    try:
        return _writer(options)
    except (StorageError, apsw.Error) as error:
        failure = error if isinstance(error, StorageError) else of_sqlite(error)
        # A full disk leaves no empty file where there was none.
        if is_new and failure.fault == "full":
            remove_empty(options.path)
        raise failure from error


def _writer(options: StoreOptions) -> apsw.Connection:
    refuse_old_sqlite()
    make_folder(options.path)
    try:
        connection = _connect(options, apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE)
    except apsw.CantOpenError as error:
        raise unless_folder_refuses(of_sqlite(error), options.path) from error
    with _closed_on_failure(connection):
        if connection.readonly("main"):
            raise read_only()
        # Looks before it touches: the journal mode is a property of the file.
        _refuse_other_encodings(connection)
        version = _found_version(connection)
        _use_wal(connection, options.busy_timeout_ms)
        connection.pragma("synchronous", options.durability.upper())
        connection.pragma("wal_autocheckpoint", CHECKPOINT_PAGES)
        _bring_up_to_date(connection, version)
    return connection


def _connect(options: StoreOptions, flags: int) -> apsw.Connection:
    refuse_what_is_no_database(options.path)
    refuse_opening(options.path)
    connection = apsw.Connection(
        options.path, flags=flags, statementcachesize=CACHED_STATEMENTS
    )
    with _closed_on_failure(connection):
        _configure(connection, options.busy_timeout_ms)
    return connection


@contextlib.contextmanager
def _closed_on_failure(connection: apsw.Connection):  # type: ignore[no-untyped-def]
    try:
        yield
    except BaseException:
        connection.close(force=True)
        raise


def _configure(connection: apsw.Connection, busy_timeout_ms: int) -> None:
    """What every connection needs and what changes nothing in the file."""
    connection.set_busy_timeout(busy_timeout_ms)
    # Without it, statistics in the file would have statements prepared again at each use.
    connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
    # The schema of a shared file is not ours to trust.
    connection.config(apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
    connection.pragma("cell_size_check", True)
    # Sorting while pruning must not need a place to write beside the store.
    connection.pragma("temp_store", "MEMORY")


def _refuse_other_encodings(connection: apsw.Connection) -> None:
    """Keys compare byte by byte only where text is UTF-8."""
    if connection.pragma("encoding") != "UTF-8":
        raise StorageError(
            "foreign-schema",
            "the file keeps its text as UTF-16; give headsup a file of its own",
        )


def _found_version(connection: apsw.Connection) -> int:
    """The schema version, looked up in one snapshot: another process may be migrating."""
    connection.execute("BEGIN")
    try:
        return schema.version(connection)
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def _use_wal(connection: apsw.Connection, patience_ms: int) -> None:
    """Switches the file to WAL, which lets readers and the writer run beside each other. The switch
    needs the file for itself for a moment and does not wait for that by itself."""
    end = time.monotonic() + patience_ms / 1_000
    while True:
        try:
            mode = connection.pragma("journal_mode", "WAL")
        except apsw.BusyError:
            if time.monotonic() >= end:
                raise
            time.sleep(WAL_RETRY)
            continue
        if mode == "wal":
            return
        raise StorageError(
            "failed", "its file system does not support WAL; put it on a local disk"
        )


def _bring_up_to_date(connection: apsw.Connection, found: int) -> None:
    if found == schema.NEWEST:
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        # Looks again under the lock: another process may have been faster.
        schema.migrate(connection, schema.version(connection))
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
