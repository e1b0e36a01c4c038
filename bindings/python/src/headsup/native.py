"""The engine that calls the C library: the Rust host behind the C ABI of `bindings/c`, by `ctypes`."""

from __future__ import annotations

import ctypes
import json
import os
import sys
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Any

from .checkout import checkout
from .contract import Level
from .engine import Options
from .errors import Closed, OpenError
from .listener import Listener

ABI = 1
"""What `headsup_abi` answers in a library that has this header."""

_OK = 0
_NOT_UTF8 = 2
_NOT_OPEN = 4

_LEVELS: dict[int, Level] = {1: "error", 2: "warn", 3: "info", 4: "debug"}


class _NoticeView(ctypes.Structure):
    _fields_ = [
        ("watcher", ctypes.c_char_p),
        ("target", ctypes.c_char_p),
        ("agent", ctypes.c_char_p),
        ("since", ctypes.c_uint64),
        ("up_to", ctypes.c_uint64),
        ("text", ctypes.c_char_p),
        ("json", ctypes.c_char_p),
    ]


_OnNotice = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.POINTER(_NoticeView))
_OnWake = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p)
_OnLog = ctypes.CFUNCTYPE(
    None, ctypes.c_void_p, ctypes.c_int32, ctypes.c_char_p, ctypes.c_char_p
)


class _Listener(ctypes.Structure):
    _fields_ = [
        ("user", ctypes.c_void_p),
        ("notice", _OnNotice),
        ("wake", _OnWake),
        ("log", _OnLog),
    ]


def library() -> Path | None:
    """Where the C library is: `HEADSUP_LIBRARY`, beside this package, or in the checkout's `target`."""
    given = os.environ.get("HEADSUP_LIBRARY")
    if given:
        return Path(given)
    name = {"win32": "headsup.dll", "darwin": "libheadsup.dylib"}.get(sys.platform, "libheadsup.so")
    packaged = resources.files("headsup") / "data" / name
    if isinstance(packaged, Path) and packaged.is_file():
        return packaged
    root = checkout()
    found = () if root is None else (root / "target" / kind / name for kind in ("release", "debug"))
    return next((path for path in found if path.is_file()), None)


@lru_cache(maxsize=None)
def _loaded(path: str) -> Any:
    try:
        loaded = ctypes.CDLL(path)
        loaded.headsup_abi.restype = ctypes.c_uint32
        abi = loaded.headsup_abi()
    except (OSError, AttributeError) as error:
        raise OpenError("unavailable", f"{path} is no library of headsup: {error}") from None
    if abi != ABI:
        raise OpenError(
            "unavailable", f"{path} has the ABI {abi}, and this package knows {ABI}: use its own"
        )
    size, text, handle = ctypes.c_size_t, ctypes.c_char_p, ctypes.c_uint64
    out = ctypes.POINTER(ctypes.c_void_p)
    for name, arguments in {
        "open": (text, size, ctypes.POINTER(_Listener), ctypes.POINTER(handle)),
        "call": (handle, text, size, out, ctypes.POINTER(size)),
        "swap": (handle, text, size, ctypes.c_int32),
        "core": (handle, out, ctypes.POINTER(size)),
        "close": (handle,),
        "last_error": (ctypes.POINTER(text), ctypes.POINTER(text)),
    }.items():
        function = getattr(loaded, f"headsup_{name}")
        function.restype, function.argtypes = ctypes.c_int32, arguments
    loaded.headsup_free.restype, loaded.headsup_free.argtypes = None, (ctypes.c_void_p,)
    return loaded


class NativeEngine:
    """An open store of the C library."""

    name = "native"

    def __init__(self, options: Options, listener: Listener) -> None:
        path = library()
        if path is None:
            raise OpenError(
                "unavailable",
                "the C library of headsup is not here: build it (`cargo build --workspace` in a "
                "checkout), name it in HEADSUP_LIBRARY, or use the engine 'component'",
            )
        self._library = _loaded(str(path))
        self._listener = _heard_by(listener)
        self._handle = ctypes.c_uint64(0)
        configuration = json.dumps(_configuration(options)).encode()
        opened = self._library.headsup_open(
            configuration,
            len(configuration),
            ctypes.byref(self._listener),
            ctypes.byref(self._handle),
        )
        if opened != _OK:
            raise self._failure()

    def answer(self, line: bytes) -> str | None:
        response, length = ctypes.c_void_p(), ctypes.c_size_t()
        status = self._library.headsup_call(
            self._handle, line, len(line), ctypes.byref(response), ctypes.byref(length)
        )
        if status not in (_OK, _NOT_UTF8):
            raise Closed if status == _NOT_OPEN else self._failure()
        return self._taken(response, length)

    def swap(self, plugin: str | None) -> None:
        encoded = None if plugin is None else plugin.encode()
        length = 0 if encoded is None else len(encoded)
        status = self._library.headsup_swap(self._handle, encoded, length, 0)
        if status != _OK:
            raise Closed if status == _NOT_OPEN else self._failure()

    def describe(self) -> dict[str, str]:
        text, length = ctypes.c_void_p(), ctypes.c_size_t()
        status = self._library.headsup_core(
            self._handle, ctypes.byref(text), ctypes.byref(length)
        )
        if status != _OK:
            raise Closed if status == _NOT_OPEN else self._failure()
        described: dict[str, str] = json.loads(self._taken(text, length) or "{}")
        return described

    def close(self) -> None:
        status = self._library.headsup_close(self._handle)
        if status not in (_OK, _NOT_OPEN):
            raise self._failure()

    def _taken(self, text: ctypes.c_void_p, length: ctypes.c_size_t) -> str | None:
        """A text that is ours now."""
        if text.value is None:
            return None
        try:
            return ctypes.string_at(text.value, length.value).decode()
        finally:
            self._library.headsup_free(text)

    def _failure(self) -> OpenError:
        message, reason = ctypes.c_char_p(), ctypes.c_char_p()
        self._library.headsup_last_error(ctypes.byref(message), ctypes.byref(reason))
        return OpenError((reason.value or b"").decode(), (message.value or b"").decode())


def _configuration(options: Options) -> dict[str, Any]:
    """The same choices in the C library's words."""
    upstreams: dict[str, Any] = {}
    if options.source_folders is not None:
        upstreams["folders"] = [os.fspath(folder) for folder in options.source_folders]
    core: dict[str, Any] = {"deadline_ms": options.deadline_ms}
    if options.plugin is not None:
        core["plugin"] = options.plugin
    configuration: dict[str, Any] = {
        "store": {
            "path": options.path,
            "durability": options.durability,
            "busy_timeout_ms": options.busy_timeout_ms,
        },
        "core": core,
        "serve": {
            "request_bytes": options.request_bytes,
            "batch_requests": options.batch_requests,
        },
        "upstreams": upstreams,
        "monitor": options.monitor,
    }
    if options.manual_clock is not None:
        configuration["manual_clock_ms"] = options.manual_clock
    return configuration


def _heard_by(listener: Listener) -> _Listener:
    """The callbacks in C. They live as long as what holds them does; what a listener raises never
    reaches C, because it raises nothing."""

    def notice(_: int, view: Any) -> None:
        seen = view.contents
        watcher, target, agent = seen.watcher.decode(), seen.target.decode(), seen.agent.decode()
        listener.notice(watcher, target, agent, seen.since, seen.up_to, seen.text.decode())

    def wake(_: int, watcher: bytes, __: bytes) -> None:
        listener.wake(watcher.decode())

    def log(_: int, level: int, message: bytes, __: bytes) -> None:
        listener.log(_LEVELS.get(level, "error"), message.decode())

    return _Listener(None, _OnNotice(notice), _OnWake(wake), _OnLog(log))
