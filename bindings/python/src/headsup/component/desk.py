"""Where calls run: connections with an instance of the core each. One call is one transaction."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..clock import Clock
from ..contract import Case, StorageFault
from ..storage import Store, StoreOptions
from ..storage.failure import StorageError
from ..storage.place import identity, refuse_another
from .core import Core
from .effects import Effects
from .instance import Instance, Trapped

Body = Callable[[Instance], Any]
"""What a call does in its transaction. A `Case` `err` rolls it back; anything else is kept."""

READERS = 4
"""Most calls that read at once beside the writer; others wait for one of them to end."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How much a core may use."""

    memory: int
    """Bytes of linear memory an instance may have."""
    deadline_ms: int
    """How long an ordinary call may take."""
    long_deadline_ms: int
    """How long recovery, pruning, deleting and taking in what was read may take a transaction."""


class Done:
    """How a call ended: an answer, or a failure outside the core (a case of `wire.failure`)."""

    def __init__(self, answer: Any, failure: Case | None, effects: Effects) -> None:
        self.answer = answer
        self.failure = failure
        self.effects = effects

    @staticmethod
    def failed(failure: Case, effects: Effects | None = None) -> Done:
        effects = effects or Effects()
        effects.roll_back()
        return Done(None, failure, effects)


def stored(error: StorageError) -> Case:
    """A failure of the store, as `wire.failure` has it."""
    return Case("storage", StorageFault(error.fault, error.message))


class Trust:
    """Whether a store may be worked on, over all its connections."""

    def __init__(self, options: StoreOptions) -> None:
        self._path = options.path
        self._file = None if options.is_in_memory else identity(options.path)
        self._refused: StorageError | None = None

    def refuse(self, error: StorageError) -> None:
        """No more, once a sync failed: after that the system may say of the next one that all is well,
        although what the first should have saved is lost. Nor once the log was taken away."""
        self._refused = self._refused or error

    def check(self) -> None:
        """Raises a `StorageError` once it was refused, and as long as the path does not lead to the file
        that was opened first."""
        if self._refused is not None:
            # A new one: one that is raised again and again grows with every call.
            raise StorageError(self._refused.fault, self._refused.message)
        if self._file is not None:
            refuse_another(self._path, self._file)


class Desk:
    """One connection with its instance, set up anew where something failed. One call at a time."""

    def __init__(
        self,
        opened: Callable[[StoreOptions], Store],
        options: StoreOptions,
        clock: Clock,
        limits: Limits,
        trust: Trust,
        storage: Store | None = None,
    ) -> None:
        self._open = opened
        self._options = options
        self._clock = clock
        self._limits = limits
        self._trust = trust
        self._storage = storage
        self._instance: Instance | None = None

    def ready(self) -> Store:
        """The connection, opened if it is not."""
        if self._storage is None:
            self._storage = self._open(self._options)
        return self._storage

    def run(self, core: Core, body: Body, *, write: bool) -> Done:
        """Runs a call in a transaction of its own."""
        try:
            self._trust.check()
        except StorageError as error:
            return Done.failed(stored(error))
        try:
            storage = self.ready()
            instance = self._instance_of(core, storage)
            # Before the deadline is set: it must not run while this waits for the lock.
            storage.begin_write() if write else storage.begin_read()
        except StorageError as error:
            self._suspect(error)
            return Done.failed(stored(error))
        except Trapped as trapped:
            return Done.failed(trapped.failure)
        try:
            return self._transact(instance, storage, body, write=write)
        except BaseException:
            # Nobody knows what is left of the instance.
            self._drop_instance()
            storage.rollback()
            raise

    def _transact(self, instance: Instance, storage: Store, body: Body, *, write: bool) -> Done:
        instance.lost = None
        try:
            answer, trap = body(instance), None
        except Trapped as trapped:
            answer, trap = None, trapped.failure
            self._drop_instance()
        effects, lost = instance.take_effects(), instance.lost
        if instance.is_swollen:
            self._drop_instance()
        refused = isinstance(answer, Case) and answer.tag == "err"
        failure = trap
        if failure is None and lost is not None and not refused:
            # The transaction is lost even if the core says ok.
            failure = stored(lost)
        if write and failure is None and not refused:
            try:
                storage.commit()
                return Done(answer, None, effects)
            except StorageError as error:
                failure, lost = stored(error), error
        # Does nothing after a commit that failed.
        storage.rollback()
        effects.roll_back()
        if lost is not None:
            self._suspect(lost)
        return Done(answer if failure is None else None, failure, effects)

    def close(self) -> None:
        self._drop_instance()
        self._drop_storage()

    def _instance_of(self, core: Core, storage: Store) -> Instance:
        if self._instance is not None and (
            self._instance.core is not core or self._instance.storage is not storage
        ):
            self._drop_instance()
        if self._instance is None:
            self._instance = Instance(core, self._clock, self._limits.memory, storage)
        return self._instance

    def _suspect(self, error: StorageError) -> None:
        """A connection that failed in any other way than being busy is closed: the next call opens
        the file anew, and works once the fault is gone. A store in memory would end with it."""
        if error.unsynced or (self._storage is not None and self._storage.in_doubt):
            self._trust.refuse(error)
        if error.fault != "busy" and not self._options.is_in_memory:
            self._drop_instance()
            self._drop_storage()

    def _drop_instance(self) -> None:
        if self._instance is not None:
            self._instance.close()
            self._instance = None

    def _drop_storage(self) -> None:
        if self._storage is not None:
            self._storage.close()
            self._storage = None


class Desks:
    """The one writer of a process and readers beside it, which never queue behind it. A store in
    memory has one connection, which does both."""

    def __init__(self, core: Core, options: StoreOptions, clock: Clock, limits: Limits) -> None:
        self.core = core
        # The connection that makes the file goes first, and says what is wrong with it.
        first = Store.open(options)
        trust = Trust(options)
        self._writer = Desk(Store.open, options, clock, limits, trust, first)
        self._writing = threading.Lock()
        # When a call began to wait for the lock that it did not get, and the failure.
        self._busy: tuple[float, Case] | None = None
        readers = 0 if options.is_in_memory else READERS
        self._readers = [
            Desk(Store.reader, options, clock, limits, trust) for _ in range(readers)
        ]
        self._idle = list(self._readers)
        self._returned = threading.Condition()
        self._closed = False

    def write(self, body: Body) -> Done:
        """Runs a call in a transaction that can write.

        A call that has waited through a whole busy time-out of another one fails with it: else the
        last of a hundred waiting calls would wait a hundred times as long.
        """
        made = time.monotonic()
        with self._writing:
            self._check_open()
            if self._busy is not None and made <= self._busy[0]:
                return Done.failed(self._busy[1])
            begun = time.monotonic()
            done = self._writer.run(self.core, body, write=True)
            failure = done.failure
            self._busy = None if failure is None or not _is_busy(failure) else (begun, failure)
            return done

    def read(self, body: Body) -> Done:
        """Runs a call on one snapshot."""
        if not self._readers:
            with self._writing:
                self._check_open()
                return self._writer.run(self.core, body, write=False)
        with self._returned:
            self._returned.wait_for(lambda: self._idle or self._closed)
            self._check_open()
            desk, core = self._idle.pop(), self.core
        try:
            return desk.run(core, body, write=False)
        finally:
            self._give_back(desk)

    def switch(self, core: Core) -> None:
        """Serves the calls to come with another core, once all that run have ended: no call begins
        before that, and none sees both."""
        with self._writing, self._returned:
            self._returned.wait_for(lambda: len(self._idle) == len(self._readers))
            self.core = core

    def close(self) -> None:
        """Closes every connection, once all calls that run have ended."""
        with self._writing, self._returned:
            self._closed = True
            self._returned.notify_all()
            self._returned.wait_for(lambda: len(self._idle) == len(self._readers))
            for desk in (*self._readers, self._writer):
                desk.close()

    def _give_back(self, desk: Desk) -> None:
        with self._returned:
            self._idle.append(desk)
            self._returned.notify_all()

    def _check_open(self) -> None:
        if self._closed:
            raise ClosedError


def _is_busy(failure: Case) -> bool:
    return failure.tag == "storage" and failure.value.fault == "busy"


class ClosedError(Exception):
    """The store was closed while a call waited."""
