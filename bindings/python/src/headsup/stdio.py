"""`python -m headsup.stdio`: what `headsup serve --stdio` does, by this package.

One request or batch a line on standard input; one response or notification a line on standard
output, notifications before the response of what caused them; logs on standard error alone.
"""

from __future__ import annotations

import argparse
import json
import sys
import threading
from collections.abc import Iterator
from typing import BinaryIO

from .contract import Level
from .errors import OpenError
from .opening import open
from .results import Notice
from .wire import given

REQUEST_BYTES = 4 << 20
"""The longest line that is kept; of a longer one there is enough to see that it is too long."""


class Output:
    """Where lines go, whole and whichever thread they come from."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._lock = threading.Lock()
        self.is_open = True
        """Whether lines still arrive: false once the reader has gone."""

    def line(self, line: str) -> None:
        with self._lock:
            if not self.is_open:
                return
            try:
                self._stream.write(line.encode() + b"\n")
                self._stream.flush()
            except BrokenPipeError:
                self.is_open = False

    def notify(self, method: str, params: dict[str, object]) -> None:
        self.line(json.dumps({"jsonrpc": "2.0", "method": method, "params": params}))

    def notice(self, watcher: str, notice: Notice) -> None:
        self.notify("notice", {"watcher": watcher, **given(notice)})

    def wake(self, watcher: str) -> None:
        self.notify("wake", {"watcher": watcher})

    def log(self, level: Level, message: str) -> None:
        print(f"{level}: {message}", file=sys.stderr, flush=True)
        if level in ("error", "warn"):
            self.notify("log", {"level": level, "message": message})


def lines(stream: BinaryIO) -> Iterator[bytes]:
    """Lines without their ends. What is beyond the limit of one is read and not kept."""
    while line := stream.readline(REQUEST_BYTES + 2):
        whole = line
        while not whole.endswith(b"\n") and (whole := stream.readline(REQUEST_BYTES)):
            pass
        yield line.removesuffix(b"\n").removesuffix(b"\r")


def main() -> int:
    """Serves until the input ends or nobody reads the output any more."""
    parser = argparse.ArgumentParser(prog="python -m headsup.stdio", description=__doc__)
    parser.add_argument("--db", required=True, help="the store, or :memory:")
    parser.add_argument("--engine", choices=("component", "native"), help="what runs the core")
    parser.add_argument("--plugin", help="a component in place of the built-in core")
    parser.add_argument("--durability", choices=("full", "normal"), default="full")
    parser.add_argument(
        "--manual-clock",
        nargs="?",
        type=int,
        const=0,
        metavar="MS",
        help="time stands there and moves only by the method clock",
    )
    chosen = parser.parse_args()
    output = Output(sys.stdout.buffer)
    try:
        store = open(
            chosen.db,
            engine=chosen.engine,
            plugin=chosen.plugin,
            durability=chosen.durability,
            manual_clock=chosen.manual_clock,
            monitor=True,
            on_notice=output.notice,
            on_wake=output.wake,
            on_log=output.log,
        )
    except OpenError as error:
        print(f"headsup: {error.message} ({error.reason})", file=sys.stderr)
        return 1
    with store:
        for line in lines(sys.stdin.buffer):
            response = store.call(line)
            if response is not None:
                output.line(response)
            if not output.is_open:
                break
    return 0


if __name__ == "__main__":
    sys.exit(main())
