"""Several processes on one store: this package, the command, and processes that are killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import headsup
from conftest import python_environment
from headsup import Actor
from headsup.opening import EngineName

MAIN, WORKER = "agent:main:main", "agent:main:worker"
HUMAN = Actor("human")


class Served:
    """A process that serves a store over standard input and output."""

    def __init__(self, command: list[str]) -> None:
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=python_environment(),
        )
        self.heard: list[Any] = []
        self._next = 0

    def send(self, method: str, **params: Any) -> None:
        assert self.process.stdin is not None
        self._next += 1
        call = {"jsonrpc": "2.0", "id": self._next, "method": method, "params": params}
        self.process.stdin.write(json.dumps(call).encode() + b"\n")
        self.process.stdin.flush()

    def receive(self) -> Any:
        """The next response; notifications before it are heard. `None` at the end."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            message = json.loads(line)
            if "id" in message:
                return message.get("result", message)
            self.heard.append(message)
        return None

    def call(self, method: str, **params: Any) -> Any:
        self.send(method, **params)
        return self.receive()

    def change(self) -> Any:
        actor = {"type": "human"}
        return self.call("record", session=WORKER, kind="goal_changed", actor=actor, change="updated")

    def end(self) -> int:
        assert self.process.stdin is not None
        self.process.stdin.close()
        return self.process.wait(60)


@contextmanager
def served(command: list[str]) -> Iterator[Served]:
    server = Served(command)
    try:
        yield server
    finally:
        server.process.kill()
        server.process.wait()


def python(db: Path, engine: EngineName, *more: str) -> list[str]:
    command = [sys.executable, "-m", "headsup.stdio", "--db", str(db), "--engine", engine]
    return [*command, *more]


def test_python_and_the_command_write_one_store_at_once(
    engine: EngineName, db: Path, command: Path
) -> None:
    rounds = 20
    with headsup.open(db, engine=engine) as store:
        with served([str(command), "serve", "--stdio", "--db", str(db)]) as other:
            assert other.call("watch", watcher=MAIN, target=WORKER) == {"watched": True}
            for number in range(rounds):
                ours = store.record(WORKER, "goal_changed", HUMAN, change="updated")
                assert ours.state_version == number * 2 + 1
                assert other.call("versions", sessions=[WORKER]) == {"versions": [number * 2 + 1]}
                assert other.change() == {"outcome": "recorded", "stateVersion": number * 2 + 2}
                assert store.status(WORKER).state_version == number * 2 + 2
            notices = store.take(MAIN)
            assert len(notices) == 1
            theirs = other.call("take", watcher=MAIN)["notices"]
            assert [notice.up_to for notice in notices] == [one["upTo"] for one in theirs]
            assert other.call("acknowledge", watcher=MAIN, notices=theirs)["acknowledged"] == 1
            assert store.acknowledge(MAIN, notices).acknowledged == 0
            history = store.status(WORKER, changes_since=0).state_changes
            assert history is not None and len(history.events) == 2 * rounds
            assert other.end() == 0
    checked = subprocess.run([command, "doctor", "--db", db], capture_output=True, text=True)
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_a_killed_process_loses_nothing_that_it_acknowledged(
    engine: EngineName, db: Path
) -> None:
    acknowledged = 0
    for _ in range(3):
        with served(python(db, engine)) as server:
            server.call("watch", watcher=MAIN, target=WORKER)
            for _ in range(10):
                acknowledged = server.change()["stateVersion"]
            # More that nobody waits for, and the end comes somewhere in it.
            for _ in range(30):
                server.send(
                    "record",
                    session=WORKER,
                    kind="goal_changed",
                    actor={"type": "human"},
                    change="updated",
                )
            acknowledged = server.receive()["stateVersion"]
            os.kill(server.process.pid, signal.SIGKILL)
            while (answer := server.receive()) is not None:
                acknowledged = answer["stateVersion"]
        with headsup.open(db, engine=engine) as store:
            version = store.status(WORKER).state_version
            assert version >= acknowledged
            history = store.status(WORKER, changes_since=0).state_changes
            assert history is not None
            assert [e.sequence for e in history.events] == list(range(1, version + 1))
            assert len(store.take(MAIN)) == 1


def test_stdio_answers_in_order_with_notifications_before_and_ends_with_its_input(
    engine: EngineName, db: Path
) -> None:
    with served(python(db, engine, "--manual-clock=5")) as server:
        server.call("watch", watcher=MAIN, target=WORKER)
        assert server.change() == {"outcome": "recorded", "stateVersion": 1}
        assert [message["method"] for message in server.heard] == ["notice", "wake"]
        assert server.call("clock", now=7) == {"now": 7}
        assert server.end() == 0
    # Recovery at the start.
    with served(python(db, engine, "--manual-clock")) as server:
        server.call("pending")
        assert [message["method"] for message in server.heard] == ["notice", "wake"]
        assert server.process.stdin is not None
        server.process.stdin.write(b"\n{\r\n" + b"x" * (5 << 20) + b"\n[]\n")
        server.process.stdin.flush()
        reasons = [server.receive()["error"]["data"]["reason"] for _ in range(3)]
        assert reasons == ["malformed-json", "too-long", "invalid-request"]
        assert server.end() == 0


def test_a_store_that_cannot_be_opened_ends_the_program_with_the_reason(tmp_path: Path) -> None:
    ended = subprocess.run(
        python(tmp_path, "component"),
        input="",
        capture_output=True,
        text=True,
        env=python_environment(),
    )
    assert ended.returncode == 1
    assert "store-failed" in ended.stderr and ended.stdout == ""


def test_the_cost_of_a_record_is_one_line_of_json(engine: EngineName, db: Path) -> None:
    command = [sys.executable, "-m", "headsup.record_cost", "--db", str(db), "--records", "20"]
    ended = subprocess.run(
        [*command, "--durability", "normal", "--engine", engine],
        capture_output=True,
        text=True,
        env=python_environment(),
        check=True,
    )
    (line,) = ended.stdout.splitlines()
    cost = json.loads(line)
    assert cost["records"] == 20 and cost["nanoseconds"] > 0 and cost["parts"]


def test_a_store_that_nobody_closed_ends_with_its_process(engine: EngineName, db: Path) -> None:
    program = (
        "import sys, headsup; h = headsup.open(sys.argv[1], engine=sys.argv[2], on_log=print);"
        "print(h.record('agent:main:w', 'created', headsup.Actor('human')).outcome)"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program, str(db), engine],
        capture_output=True,
        text=True,
        env=python_environment(),
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "recorded\n", "")
    assert not Path(f"{db}-wal").exists()


def test_importing_the_package_loads_neither_sqlite_nor_wasmtime() -> None:
    program = (
        "import sys, headsup; print(sorted({'apsw', 'wasmtime', 'sqlite3'} & set(sys.modules)))"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        env=python_environment(),
        check=True,
    )
    assert ended.stdout == "[]\n"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_forked_process_has_no_store_of_its_parent(engine: EngineName, db: Path) -> None:
    with headsup.open(db, engine=engine, manual_clock=0) as store:
        store.watch(MAIN, WORKER)
        child = os.fork()
        if child == 0:
            os._exit(_in_the_child(store, db, engine))
        assert os.waitpid(child, 0)[1] == 0
        store.record(WORKER, "goal_changed", HUMAN, change="updated")
        assert len(store.take(MAIN)) == 1
    with headsup.open(db, engine=engine, manual_clock=0) as store:
        child = os.fork()
        if child == 0:
            store.close()
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        assert store.versions([WORKER]) == [1]


def _in_the_child(store: headsup.Headsup, db: Path, engine: EngineName) -> int:
    """Which part of it is not refused; 0 if all is."""
    calls: list[Callable[[], object]] = [
        lambda: store.versions([WORKER]),
        store.core,
        lambda: store.swap(None),
    ]
    for number, call in enumerate(calls, 1):
        try:
            call()
        except headsup.Closed:
            continue
        return number
    try:
        headsup.open(db, engine=engine)
    except headsup.OpenError as refused:
        if refused.reason != "store-failed" or "forked" not in refused.message:
            return 10
    else:
        return 11
    # Another store of its own is fine.
    with headsup.open(":memory:", engine=engine) as own:
        own.watch(MAIN, WORKER)
    return 0
