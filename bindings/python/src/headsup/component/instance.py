"""A running core: one instance with its imports and limits, and what its calls end as."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable
from typing import Any

from wasmtime import Store as WasmStore
from wasmtime import WasmtimeError
from wasmtime import _ffi as ffi
from wasmtime.component import Linker, LinkerInstance

from ..clock import Clock
from ..contract import Case, Datetime, Level, Opening, StorageFault
from ..storage import Store
from ..storage.failure import StorageError
from ..storage.store import READS, WRITES
from . import interface
from .abi import SIZE, delete, function
from .core import Core, Signature
from .effects import Effects
from .pulse import ticks

TABLE_ELEMENTS = 20_000
"""Most elements of a core's tables; those of the built-in core have a few hundred."""

SWOLLEN = 1 << 20
"""After a call with a larger request or answer, in bytes, an instance is given up: a guest gives no
memory back."""

_WORDS = 1_000

_CALLBACK = ctypes.CFUNCTYPE(
    ctypes.c_size_t,
    ctypes.c_void_p,
    ctypes.c_void_p,
    ctypes.c_void_p,
    ctypes.c_void_p,
    ctypes.c_size_t,
    ctypes.c_void_p,
    ctypes.c_size_t,
)
_add_func = function(
    "wasmtime_component_linker_instance_add_func",
    ctypes.POINTER(ffi.wasmtime_error_t),
    ctypes.c_void_p,
    ctypes.c_char_p,
    ctypes.c_size_t,
    _CALLBACK,
    ctypes.c_void_p,
    ctypes.c_void_p,
)
_new_error = function("wasmtime_error_new", ctypes.c_void_p, ctypes.c_char_p)
_call = function(
    "wasmtime_component_func_call",
    ctypes.POINTER(ffi.wasmtime_error_t),
    ctypes.c_void_p,
    ctypes.c_void_p,
    ctypes.c_void_p,
    ctypes.c_size_t,
    ctypes.c_void_p,
    ctypes.c_size_t,
)


class Trapped(Exception):
    """A core that did not answer. `failure` is a case of the contract's `wire.failure`."""

    def __init__(self, failure: Case) -> None:
        super().__init__(failure)
        self.failure = failure


class Instance:
    """An instance of a core, over a connection or over none. After a trap it serves no more calls.

    Used by one thread at a time.
    """

    def __init__(self, core: Core, clock: Clock, memory: int, storage: Store | None) -> None:
        self.core = core
        self.storage = storage
        self.effects = Effects()
        self.lost: StorageError | None = None
        """The first storage failure of the running call: its transaction is lost, whatever the core
        makes of it."""
        self.is_swollen = False
        """Whether it took so much memory that the next call is better off with another one."""
        self._clock = clock
        self._broken: BaseException | None = None
        self._functions: dict[tuple[str, str], Any] = {}
        self._callbacks: list[Any] = []
        self._store = WasmStore(core.engine)
        self._store.set_limits(memory, TABLE_ELEMENTS, 16, 16, 4)
        linker = Linker(core.engine)
        for imported, names in core.imports.items():
            with linker.root() as root, root.add_instance(imported) as instance:
                for name in names:
                    self._offer(instance, imported, name)
        with self.core.pulse:
            self._store.set_epoch_deadline(ticks(1_000))
            try:
                self._instance = linker.instantiate(self._store, core.component)
            except WasmtimeError as error:
                raise Trapped(self._failure(str(error), 1_000)) from None

    def call(self, interface_: str, name: str, *values: Any, deadline_ms: int) -> Any:
        """Calls an export. Raises `Trapped` if there was no answer: give this instance up then.

        A result is a `Case`, `ok` or `err`.
        """
        signature = self.core.signature(interface_, name)
        func = self._found(interface_, name)
        params = [param.lower(value) for param, value in zip(signature.params, values, strict=True)]
        arguments = ctypes.create_string_buffer(b"".join(params), max(1, len(params) * SIZE))
        result = ctypes.create_string_buffer(SIZE)
        results = 0 if signature.result is None else 1
        try:
            # Not before the arguments are made: the deadline is the core's.
            with self.core.pulse:
                self._store.set_epoch_deadline(ticks(deadline_ms))
                failed = _call(
                    ctypes.byref(func._func),
                    self._store._context(),
                    arguments,
                    len(params),
                    result,
                    results,
                )
            if failed:
                words = str(WasmtimeError._from_ptr(failed))
                raise Trapped(self._failure(words, deadline_ms))
            if signature.result is None:
                return None
            try:
                return signature.result.lift(result.raw, 0)
            finally:
                delete(ctypes.addressof(result), 1)
        finally:
            delete(ctypes.addressof(arguments), len(params))

    def take_effects(self) -> Effects:
        """What was collected since this was last asked."""
        effects, self.effects = self.effects, Effects()
        return effects

    def close(self) -> None:
        """Gives the memory back. The connection stays its owner's."""
        self._store.close()

    def _found(self, interface_: str, name: str) -> Any:
        at = interface_, name
        if at not in self._functions:
            whole = self.core.export(interface_)
            outer = self._instance.get_export_index(self._store, whole)
            inner = self._instance.get_export_index(self._store, name, outer)
            func = None if inner is None else self._instance.get_func(self._store, inner)
            if func is None:
                raise interface.refused(f"its {interface_} has no {name}")
            self._functions[at] = func
        return self._functions[at]

    def _offer(self, instance: LinkerInstance, imported: str, name: str) -> None:
        signature = self.core.import_signature(imported, name)
        act = self._import(imported.partition("@")[0].rpartition("/")[2], name)
        callback = _CALLBACK(self._callback(signature, act))
        self._callbacks.append(callback)
        encoded = name.encode()
        failed = _add_func(instance.ptr(), encoded, len(encoded), callback, None, None)
        if failed:
            raise interface.refused(str(WasmtimeError._from_ptr(failed)))

    def _callback(self, signature: Signature, act: Callable[..., Any]) -> Callable[..., int]:
        lifts = [(param.lift, place * SIZE) for place, param in enumerate(signature.params)]
        size = len(lifts) * SIZE
        lower = None if signature.result is None else signature.result.lower

        def call(_: int, __: int, ___: int, args: int, ____: int, results: int, _____: int) -> int:
            try:
                content = ctypes.string_at(args, size) if size else b""
                answer = act(*[lift(content, place) for lift, place in lifts])
                if lower is not None:
                    ctypes.memmove(results, lower(answer), SIZE)
                return 0
            # Whatever it is, it ends the call: no exception can cross the component.
            except BaseException as error:
                self._broken = error
                pointer: int = _new_error(b"the host failed")
                return pointer

        return call

    def _import(self, interface_: str, name: str) -> Callable[..., Any]:
        """What an import does."""
        more = self.core.more.get((interface_, name))
        if more is not None:
            return more
        match interface_, name:
            case ("storage" | "settings"), _ if name in READS:
                return lambda *values: self._stored(Store.read, READS[name], values)
            case ("storage" | "settings"), _ if name in WRITES:
                return lambda *values: self._stored(Store.write, WRITES[name], values)
            case "queue", "enqueue":
                return self._enqueue
            case "log", "write":
                return self._log
            case "wall-clock", "now":
                return lambda: _datetime(self._clock.now())
            case "wall-clock", "resolution":
                return lambda: Datetime(0, 1_000_000)
        raise interface.refused(f"it asks for {interface_}.{name}, which no core may have")

    def _stored(self, run: Callable[..., Any], verb: Any, values: tuple[Any, ...]) -> Case:
        try:
            if self.storage is None:
                message = "this call has no transaction; the core may not use storage here"
                raise StorageError("failed", message)
            return Case("ok", run(self.storage, verb, *values))
        except StorageError as error:
            self.lost = self.lost or error
            return Case("err", StorageFault(error.fault, error.message))

    def _enqueue(self, openings: list[Opening]) -> None:
        self.effects.enqueue(openings)

    def _log(self, level: Level, message: str) -> None:
        self.effects.log(level, message)

    def _failure(self, words: str, deadline_ms: int) -> Case:
        """Words how a call ended that returned nothing."""
        if self._broken is not None:
            broken, self._broken = self._broken, None
            if not isinstance(broken, Exception):
                raise broken
            return Case("trap", f"the host failed: {type(broken).__name__}: {broken}"[:_WORDS])
        if "wasm trap: interrupt" in words:
            return Case("timeout", deadline_ms)
        trap = words.rstrip().rpartition("Caused by:")[2].strip().removeprefix("wasm trap: ")
        function = _innermost(words)
        said = self.effects.last_error()
        told = trap + (f", in `{function}`" if function else "") + (f": {said}" if said else "")
        return Case("trap", " ".join(told.split())[:_WORDS])


def _datetime(now: int) -> Datetime:
    return Datetime(now // 1_000, now % 1_000 * 1_000_000)


def _innermost(words: str) -> str | None:
    """The function that trapped, if names were kept: the first that is not panic machinery."""
    frames = re.findall(r"^\s*\d+:\s+0x[0-9a-f]+ - \S*!(.*)$", words, re.MULTILINE)
    ours = (name for name in frames if "panic" not in name and "begin_unwind" not in name)
    return next(ours, frames[0] if frames else None)
