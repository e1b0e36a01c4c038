"""A core that was compiled and looked at: the built-in one, or a component from a file."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Any

from wasmtime import Config, Engine, WasmtimeError
from wasmtime.component import Component, ComponentInstanceType, FuncType

from .. import contract
from ..checkout import checkout
from ..errors import OpenError
from . import interface
from .abi import Codec, codec
from .pulse import Pulse

CORE_STACK = 512 * 1024
"""The most stack a core may use, in bytes. Calls run on their caller's thread."""

MOST_BYTES = 64 << 20
"""Files beyond this are refused unread."""

RECORDS: dict[tuple[str, ...], type] = {
    made._fields: made
    for made in vars(contract).values()
    if isinstance(made, type) and hasattr(made, "_fields") and made is not contract.Case
}
"""The contract's records by their fields: a component's types have no names."""


class Signature:
    """How the values of a function cross."""

    def __init__(self, type_: FuncType, records: Mapping[tuple[str, ...], type]) -> None:
        self.params: list[Codec] = [codec(param, records) for _, param in type_.params]
        result = type_.result
        self.result: Codec | None = None if result is None else codec(result, records)


class Core:
    """A compiled component with the interfaces of a core. Any number of instances run it.

    Another world of the contract's package, such as the one that examines hosts, has another `check`,
    further `records`, and `more` imports: what they do, by interface and function.
    """

    def __init__(
        self,
        name: str,
        wasm: bytes,
        *,
        check: Callable[[Iterable[str], Iterable[str]], None] = interface.check,
        records: Mapping[tuple[str, ...], type] = RECORDS,
        more: Mapping[tuple[str, str], Callable[..., Any]] | None = None,
    ) -> None:
        engine = _engine()
        self.more = more or {}
        self._records = records
        self.name = name
        self.engine = engine
        self.pulse = _pulse()
        if not wasm.startswith(b"\0asm"):
            raise interface.refused(f"{name} is not a WebAssembly component")
        try:
            self.component = Component(engine, wasm)
        except WasmtimeError as error:
            raise interface.refused(f"{name}: {str(error)[:1_000]}") from None
        type_ = self.component.type
        self.imports = _functions(type_.imports(engine), engine)
        exports = type_.exports(engine)
        check(self.imports, exports)
        self._exports = {
            item.partition("@")[0].removeprefix(interface.PACKAGE): item for item in exports
        }
        self._types = _functions(exports, engine)
        self._signatures: dict[tuple[str, str], Signature] = {}
        self._import_signatures: dict[tuple[str, str], Signature] = {}

    def export(self, interface_: str) -> str:
        """The whole name of an exported interface, with its version."""
        return self._exports[interface_]

    def signature(self, interface_: str, function: str) -> Signature:
        """How an exported function is called."""
        at = interface_, function
        if at not in self._signatures:
            functions = self._types[self.export(interface_)]
            self._signatures[at] = _signature(functions, at, self._records)
        return self._signatures[at]

    def import_signature(self, interface_: str, function: str) -> Signature:
        """How an imported function is called; the interface with its version."""
        at = interface_, function
        if at not in self._import_signatures:
            functions = self.imports[interface_]
            self._import_signatures[at] = _signature(functions, at, self._records)
        return self._import_signatures[at]


def _signature(
    functions: dict[str, FuncType], at: tuple[str, str], records: Mapping[tuple[str, ...], type]
) -> Signature:
    try:
        return Signature(functions[at[1]], records)
    except KeyError:
        raise interface.refused(f"its {at[0]} has no {at[1]}") from None
    except TypeError as error:
        raise interface.refused(f"its {at[0]}.{at[1]} differs: {error}") from None


def _functions(items: dict[str, Any], engine: Engine) -> dict[str, dict[str, FuncType]]:
    """The functions of each interface; a name that is no interface has none."""
    found: dict[str, dict[str, FuncType]] = {}
    for name, item in items.items():
        type_ = item.ty
        members = type_.exports(engine) if isinstance(type_, ComponentInstanceType) else {}
        types = {member: extern.ty for member, extern in members.items()}
        found[name] = {
            member: type_ for member, type_ in types.items() if isinstance(type_, FuncType)
        }
    return found


@lru_cache(maxsize=1)
def _engine() -> Engine:
    config = Config()
    config.epoch_interruption = True
    config.max_wasm_stack = CORE_STACK
    config.wasm_component_model = True
    return Engine(config)


@lru_cache(maxsize=1)
def _pulse() -> Pulse:
    return Pulse(_engine())


@lru_cache(maxsize=8)
def _compiled(name: str, digest: bytes, wasm: bytes) -> Core:
    return Core(name, wasm)


def load(path: str | Path) -> Core:
    """The core in a file.

    Raises `OpenError` (`plugin-refused`) if it is none or may not be loaded.
    """
    try:
        if Path(path).stat().st_size > MOST_BYTES:
            raise interface.refused(f"{path} is larger than {MOST_BYTES} bytes")
        wasm = Path(path).read_bytes()
    except OSError as error:
        raise OpenError(
            "plugin-refused", f"the plugin {path} cannot be read: {error.strerror}"
        ) from error
    return _compiled(str(path), hashlib.sha256(wasm).digest(), wasm)


def built_in() -> Core:
    """The core that this package was made with; in a checkout, the one that `make component` left.

    Raises `OpenError` if it is not there.
    """
    packaged = resources.files("headsup") / "data" / "headsup.wasm"
    if packaged.is_file():
        wasm = packaged.read_bytes()
        return _compiled("the built-in core", hashlib.sha256(wasm).digest(), wasm)
    root = checkout()
    if root is not None and (root / "target" / "guest" / "headsup.wasm").is_file():
        return load(root / "target" / "guest" / "headsup.wasm")
    raise OpenError("plugin-refused", "there is no built-in core: run `make component` first")
