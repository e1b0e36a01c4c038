"""How a store is opened: every choice with its default."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Literal

from . import apart, native
from .api import Headsup
from .engine import Durability, Engine, Options
from .errors import OpenError
from .listener import Listener, OnLog, OnNotice, OnWake

EngineName = Literal["component", "native"]


def open(
    path: str | os.PathLike[str],
    *,
    durability: Durability = "full",
    on_notice: OnNotice | None = None,
    on_wake: OnWake | None = None,
    on_log: OnLog | None = None,
    plugin: str | os.PathLike[str] | None = None,
    engine: EngineName | None = None,
    busy_timeout: float = 5.0,
    deadline: float = 1.0,
    manual_clock: int | None = None,
    monitor: bool = False,
    source_folders: Sequence[str | os.PathLike[str]] | None = None,
) -> Headsup:
    """Opens a store and recovers: what is pending is announced before this returns. The file is made
    with its folders if it is not there; `:memory:` is a store that ends with this one.

    - `durability`: what a committed call survives; `full` also a loss of power, `normal` the end of
      the process only, at several times the speed.
    - `on_notice(watcher, notice)`, `on_wake(watcher)`, `on_log(level, message)`: called on the thread
      of the call that caused the news, after its commit and before it returns; later wakes, and what
      the monitor finds, come from threads of the engine's own. They may call the same store. What
      they raise is logged. Log lines go to the logger `headsup` unless `on_log` is given.
    - `plugin`: a component to use in place of the built-in core.
    - `engine`: `native` is the C library, `component` runs the component in this process; unless
      one is named, `native` where its library is found.
    - `busy_timeout`, in s: how long a call waits for another process to finish writing before it
      fails with `store-busy`.
    - `deadline`, in s: how long the core may take for a call; a quarter of `busy_timeout` at most.
    - `manual_clock`: time stands there, in ms since the Unix epoch, and moves only by `clock`.
    - `monitor`: checks the sources of adopted sessions every minute.
    - `source_folders`: where files of adopted sessions may be read; `None` stands for the folders
      where the tools of this user keep their sessions.

    Raises `OpenError`: what cannot be opened or loaded, and what to do.
    """
    if durability not in ("full", "normal"):
        raise OpenError("unknown-value", "durability must be 'full' or 'normal'")
    options = Options(
        path=_path("path", path),
        durability=durability,
        busy_timeout_ms=_milliseconds("busy_timeout", busy_timeout, 1, 600_000),
        deadline_ms=_milliseconds("deadline", deadline, 10, 2**32 - 1),
        plugin=None if plugin is None else _path("plugin", plugin),
        manual_clock=_time("manual_clock", manual_clock),
        monitor=_choice("monitor", monitor),
        source_folders=_folders("source_folders", source_folders),
    )
    for name, heard in (("on_notice", on_notice), ("on_wake", on_wake), ("on_log", on_log)):
        if heard is not None and not callable(heard):
            raise _unfit(name, "it must be a function")
    if engine is None:
        engine = "native" if native.library() is not None else "component"
    with apart.opening(engine, options.path) as opened:
        started = _started(engine, options, Listener(on_notice, on_wake, on_log))
        return Headsup(started, opened())


def _started(name: EngineName, options: Options, listener: Listener) -> Engine:
    if name == "native":
        return native.NativeEngine(options, listener)
    if name == "component":
        # It brings a library with it, which the other has no use for.
        from .component.engine import ComponentEngine

        return ComponentEngine(options, listener)
    raise OpenError("unknown-value", "engine must be 'component' or 'native'")


# What either engine is given has the same bounds: those of the Rust host's configuration.


def _unfit(name: str, words: str) -> OpenError:
    return OpenError("invalid-configuration", f"{name}: {words}")


def _path(name: str, given: str | os.PathLike[str]) -> str:
    if not isinstance(given, (str, os.PathLike)):
        raise _unfit(name, "it must be a path")
    path: object = os.fspath(given)
    if not isinstance(path, str):
        raise _unfit(name, "it must be a path in text, and not in bytes")
    if not path or any(sign == "\0" or "\ud800" <= sign <= "\udfff" for sign in path):
        raise _unfit(name, "it is empty, or no text in UTF-8; give another path")
    return path


def _milliseconds(name: str, seconds: float, least: int, most: int) -> int:
    if not isinstance(seconds, (int, float)) or not least <= seconds * 1_000 <= most:
        words = f"it must lie between {least / 1_000} and {most / 1_000} s"
        raise _unfit(name, words)
    return int(seconds * 1_000)


def _time(name: str, given: int | None) -> int | None:
    if given is None or (type(given) is int and 0 <= given < 2**53):
        return given
    raise _unfit(name, "it must be a whole number of ms from 0 to 2^53 - 1")


def _choice(name: str, given: bool) -> bool:
    if isinstance(given, bool):
        return given
    raise _unfit(name, "it must be True or False")


def _folders(
    name: str, given: Sequence[str | os.PathLike[str]] | None
) -> Sequence[str | os.PathLike[str]] | None:
    if given is None:
        return None
    if isinstance(given, (str, bytes, os.PathLike)):
        raise _unfit(name, "it must be a list of folders")
    folders = [_path(name, folder) for folder in given]
    if not all(map(os.path.isabs, folders)):
        raise _unfit(name, "every folder must be an absolute path")
    return folders
