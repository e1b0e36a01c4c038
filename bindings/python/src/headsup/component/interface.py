"""What a component imports and exports, compared with the contract by name and version. Types are
compared when the functions that a host uses are bound."""

from __future__ import annotations

from collections.abc import Iterable

from ..errors import OpenError

PACKAGE = "headsup:awareness/"
CONTRACT = "0.1.0"
"""The version of the contract that this host has."""

IMPORTS = frozenset({"types", "sources", "storage", "settings", "queue", "log"})
"""What a core may import of the contract."""

WALL_CLOCK = ("wasi:clocks/wall-clock", "0.2.6")
"""The one interface of WASI that a core may import."""

EXPORTS = (
    "signals",
    "watches",
    "notices",
    "reconciliation",
    "upstreams",
    "maintenance",
    "wire",
    "plugin",
)
"""What a core has to export."""


def check(imports: Iterable[str], exports: Iterable[str]) -> None:
    """Raises `OpenError` unless these are a core's."""
    for item in imports:
        _check_import(item)
    found = dict(_split(item) for item in exports)
    for name in EXPORTS:
        version = found.get(PACKAGE + name)
        if version is None:
            raise refused(f"it does not export {PACKAGE}{name}: it is no core")
        _compatible(PACKAGE + name, version, CONTRACT)
    for name in found:
        # An added interface of the contract's package is a minor change.
        if not name.startswith(PACKAGE):
            raise refused(f"it exports {name}, which is not the contract's")


def refused(why: str) -> OpenError:
    """Why a component may not be loaded."""
    return OpenError("plugin-refused", f"the plugin may not be loaded: {why}")


def _check_import(item: str) -> None:
    name, version = _split(item)
    if name == WALL_CLOCK[0]:
        return _compatible(name, version, WALL_CLOCK[1])
    if name.startswith(PACKAGE) and name.removeprefix(PACKAGE) in IMPORTS:
        return _compatible(name, version, CONTRACT)
    raise refused(f"it asks for {item}, which no core may have")


def _split(item: str) -> tuple[str, str]:
    name, _, version = item.partition("@")
    return name, version


def _compatible(name: str, version: str, offered: str) -> None:
    """Versions are compatible when their majors are equal, and while those are 0, their minors. A
    pre-release promises nothing."""
    if "-" in version or _series(version) is None or _series(version) != _series(offered):
        raise refused(f"it has {name}@{version}, and this host has {name}@{offered}")


def _series(version: str) -> tuple[int, int] | None:
    numbers = version.partition("+")[0].split(".")
    if len(numbers) < 2 or not all(part.isascii() and part.isdigit() for part in numbers[:2]):
        return None
    major, minor = int(numbers[0]), int(numbers[1])
    return major, minor if major == 0 else 0
