"""The C library from Python's ctypes, complete: it stands for any language with a foreign function
interface. (For Python itself there is a package, `bindings/python`.)

usage: ctypes_gateway.py LIBRARY [STORE]
"""

import ctypes
import json
import sys
from ctypes import CFUNCTYPE, POINTER, byref, c_char_p, c_int32, c_size_t, c_uint32, c_uint64, c_void_p

ABI = 1
OK = 0
WARN = 2


class Notice(ctypes.Structure):
    """headsup_notice: lent, so that whatever is kept of it is copied."""

    _fields_ = [
        ("watcher", c_char_p),
        ("target", c_char_p),
        ("agent", c_char_p),
        ("since", c_uint64),
        ("up_to", c_uint64),
        ("text", c_char_p),
        ("json", c_char_p),
    ]


ON_NOTICE = CFUNCTYPE(None, c_void_p, POINTER(Notice))
ON_WAKE = CFUNCTYPE(None, c_void_p, c_char_p, c_char_p)
ON_LOG = CFUNCTYPE(None, c_void_p, c_int32, c_char_p, c_char_p)


class Listener(ctypes.Structure):
    """headsup_listener."""

    _fields_ = [("user", c_void_p), ("notice", ON_NOTICE), ("wake", ON_WAKE), ("log", ON_LOG)]


def load(path):
    """The library, with the types of its functions."""
    library = ctypes.CDLL(path)
    library.headsup_abi.argtypes, library.headsup_abi.restype = [], c_uint32
    if library.headsup_abi() != ABI:
        raise RuntimeError(f"{path} has ABI {library.headsup_abi()}, not {ABI}")
    types = {
        "headsup_open": [c_char_p, c_size_t, POINTER(Listener), POINTER(c_uint64)],
        # A given text is a bare address: as a c_char_p ctypes would copy it and lose what to free.
        "headsup_call": [c_uint64, c_char_p, c_size_t, POINTER(c_void_p), POINTER(c_size_t)],
        "headsup_swap": [c_uint64, c_char_p, c_size_t, c_int32],
        "headsup_core": [c_uint64, POINTER(c_void_p), POINTER(c_size_t)],
        "headsup_close": [c_uint64],
        "headsup_last_error": [POINTER(c_char_p), POINTER(c_char_p)],
    }
    for name, arguments in types.items():
        function = getattr(library, name)
        function.argtypes, function.restype = arguments, c_int32
    library.headsup_free.argtypes, library.headsup_free.restype = [c_void_p], None
    library.headsup_version.argtypes, library.headsup_version.restype = [], c_char_p
    return library


class Headsup:
    """An open store."""

    def __init__(self, library, configuration, on_notice, on_wake):
        self._library = library
        # ctypes frees a callback that nobody holds.
        self._listener = Listener(
            None,
            ON_NOTICE(lambda _, notice: on_notice(json.loads(notice.contents.json)["params"])),
            ON_WAKE(lambda _, watcher, __: on_wake(watcher.decode())),
            ON_LOG(lambda _, level, message, __: self._log(level, message)),
        )
        self._handle = c_uint64()
        text = json.dumps(configuration).encode()
        self._check(library.headsup_open(text, len(text), byref(self._listener), byref(self._handle)))

    def call(self, method, **params):
        """The result of a method."""
        request = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        text = json.dumps(request).encode()
        given, length = c_void_p(), c_size_t()
        self._check(
            self._library.headsup_call(self._handle, text, len(text), byref(given), byref(length))
        )
        try:
            response = json.loads(ctypes.string_at(given, length.value))
        finally:
            self._library.headsup_free(given)
        if "error" in response:
            raise RuntimeError(response["error"])
        return response["result"]

    def close(self):
        """Closes the store. No callback runs any more when this returns."""
        self._check(self._library.headsup_close(self._handle))

    def _check(self, status):
        if status != OK:
            message, reason = c_char_p(), c_char_p()
            self._library.headsup_last_error(byref(message), byref(reason))
            raise RuntimeError(f"{message.value.decode()} ({reason.value.decode()})")

    @staticmethod
    def _log(level, message):
        if level <= WARN:
            print(message.decode(), file=sys.stderr)


def main():
    library = load(sys.argv[1])
    print("headsup", library.headsup_version().decode())
    parent, child = "agent:main:main", "agent:main:subagent:child"
    path = sys.argv[2] if len(sys.argv) > 2 else ":memory:"
    store = Headsup(
        library,
        {"store": {"path": path}},
        on_notice=lambda notice: print("for", notice["watcher"] + ":", notice["text"]),
        on_wake=lambda watcher: print("start a turn of", watcher),
    )
    try:
        # The parent spawns a child, and thereby watches it.
        spawner = {"type": "agent", "id": parent}
        store.call("record", session=child, kind="child_spawned", runId="run-1", actor=spawner, watchers=[parent])
        # A person changes the child's goal behind the parent's back.
        store.call("record", session=child, kind="goal_changed", change="updated", actor={"type": "human"})
        # The parent's next turn shows what is pending, catches up, and only then says so.
        notices = store.call("take", watcher=parent)["notices"]
        for notice in notices:
            delta = store.call("status", session=child, changesSince=notice["since"])
            for event in delta["stateChanges"]["events"]:
                print(event["sequence"], event["summary"])
        print(store.call("acknowledge", watcher=parent, notices=notices))
    finally:
        store.close()


main()
