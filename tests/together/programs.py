"""The programs that serve one store, one for each language: all of them read requests a line on standard
input, and answer a line on standard output."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
DEBUG = ROOT / "target" / "debug"
COMMAND = DEBUG / "headsup"

Found = list[str] | str
"""A command, or why there is none on this machine."""


def rust() -> Found:
    return [str(COMMAND), "serve", "--stdio"] if COMMAND.is_file() else "the command is not built"


@lru_cache(maxsize=1)
def c() -> Found:
    """Compiled at its first use, as somebody with a program of his own would."""
    source = ROOT / "bindings" / "c" / "examples" / "stdio.c"
    compiler = shutil.which(os.environ.get("CC", "cc"))
    if compiler is None:
        return "there is no C compiler"
    if not source.is_file() or not (DEBUG / "libheadsup.so").is_file():
        return "the C library is not built"
    program = Path(tempfile.mkdtemp(prefix="headsup-together-")) / "stdio"
    include = ROOT / "bindings" / "c" / "include"
    link = [f"-L{DEBUG}", "-lheadsup", f"-Wl,-rpath,{DEBUG}", "-pthread"]
    flags = ["-std=c11", "-D_POSIX_C_SOURCE=200809L", f"-I{include}"]
    subprocess.run([compiler, *flags, str(source), *link, "-o", str(program)], check=True)
    return [str(program)]


def node() -> Found:
    package = ROOT / "bindings" / "node"
    found = shutil.which("node")
    if found is None:
        return "Node.js is missing"
    if not (package / "node_modules").is_dir() or not (package / "dist").is_dir():
        return "its package is not set up (make test-node)"
    return [found, str(package / "examples" / "stdio.js")]


def python(engine: str) -> Found:
    if engine == "native" and not (DEBUG / "libheadsup.so").is_file():
        return "the C library is not built"
    return [sys.executable, "-m", "headsup.stdio", "--engine", engine]


PROGRAMS: dict[str, Callable[[], Found]] = {
    "rust": rust,
    "c": c,
    "node": node,
    "python": lambda: python("component"),
    "python over c": lambda: python("native"),
}


class Program:
    """A running one. Notifications are heard beside the responses."""

    def __init__(self, name: str, command: list[str], db: Path) -> None:
        self.name = name
        self.heard: list[Any] = []
        self._sent = 0
        path = str(ROOT / "bindings" / "python" / "src")
        self._process = subprocess.Popen(
            [*command, "--db", str(db)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={
                **os.environ,
                "PYTHONPATH": path,
                "HEADSUP_LIBRARY": str(DEBUG / "libheadsup.so"),
            },
        )

    def send(self, method: str, **params: Any) -> None:
        """Sends a request and waits for nothing."""
        assert self._process.stdin is not None
        self._sent += 1
        call = {"jsonrpc": "2.0", "id": self._sent, "method": method, "params": params}
        self._process.stdin.write(json.dumps(call).encode() + b"\n")
        self._process.stdin.flush()

    def receive(self) -> Any:
        """The result of the next request."""
        assert self._process.stdout is not None
        for line in self._process.stdout:
            message = json.loads(line)
            if "id" not in message:
                self.heard.append(message)
                continue
            assert "result" in message, f"{self.name}: {message}"
            return message["result"]
        raise AssertionError(f"{self.name} ended")

    def call(self, method: str, **params: Any) -> Any:
        self.send(method, **params)
        return self.receive()

    def history(self, session: str) -> list[Any]:
        """The whole log of a session, page by page."""
        events: list[Any] = []
        while True:
            since = events[-1]["sequence"] if events else 0
            page = self.call("status", session=session, changesSince=since)["stateChanges"]
            assert not page["historyGap"]
            events += page["events"]
            if not page["truncated"]:
                return events

    def end(self) -> None:
        """The end of its input ends it."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        assert self._process.wait(60) == 0, self.name

    def kill(self) -> None:
        """Leaves nothing behind, however a test ended."""
        self._process.kill()
        self._process.wait()
