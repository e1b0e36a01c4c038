"""The conformance vectors of `tests/vectors`, unchanged, against both engines."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import headsup
from conftest import ROOT
from headsup.opening import EngineName
from headsup.results import Notice
from headsup.wire import given

FILES = sorted((ROOT / "tests" / "vectors").glob("*.jsonl"))


class Lines:
    """A store in memory, with everything that comes back in one list."""

    def __init__(self, engine: EngineName, folder: Path) -> None:
        self.found: list[Any] = []
        self.store = headsup.open(
            ":memory:",
            engine=engine,
            manual_clock=0,
            source_folders=[folder],
            on_notice=self._notice,
            on_wake=lambda watcher: self._notify("wake", {"watcher": watcher}),
            on_log=self._log,
        )

    def send(self, line: str) -> list[Any]:
        """What comes back because of a line."""
        response = self.store.call(line)
        if response is not None:
            self.found.append(json.loads(response))
        found, self.found = self.found, []
        return found

    def _notice(self, watcher: str, notice: Notice) -> None:
        self._notify("notice", {"watcher": watcher, **given(notice)})

    def _log(self, level: str, message: str) -> None:
        if level in ("error", "warn"):
            self._notify("log", {"level": level, "message": message})

    def _notify(self, method: str, params: dict[str, Any]) -> None:
        self.found.append({"jsonrpc": "2.0", "method": method, "params": params})


def without_messages(found: Any, expected: Any) -> Any:
    """What came back, without the one thing that a vector may leave out: the words of an error."""
    if isinstance(found, list) and isinstance(expected, list):
        pairs = zip(found, expected, strict=False)
        return [without_messages(one, other) for one, other in pairs] + found[len(expected) :]
    if not (isinstance(found, dict) and "error" in found and isinstance(expected, dict)):
        return found
    message = found["error"].get("message")
    if "message" in expected.get("error", {}) or not (isinstance(message, str) and message):
        return found
    error = {name: one for name, one in found["error"].items() if name != "message"}
    return {**found, "error": error}


def same(one: Any, other: Any) -> bool:
    """Equal as JSON: `1`, `1.0` and `true` are different."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def test_there_are_vectors() -> None:
    assert len(FILES) > 20


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.stem))
def test_every_step_is_answered_as_it_must_be(
    file: Path, engine: EngineName, tmp_path: Path
) -> None:
    lines = Lines(engine, tmp_path)
    rule, steps = "", 0
    with lines.store:
        for number, line in enumerate(file.read_text(encoding="utf-8").split("\n"), 1):
            if not line.strip() or line.startswith("#"):
                continue
            step = json.loads(line)
            assert step.keys() <= {"name", "send", "expect"}
            rule, steps = step.get("name", rule), steps + 1
            send = step["send"]
            answer = lines.send(send if isinstance(send, str) else json.dumps(send))
            found = without_messages(answer, step["expect"])
            assert same(found, step["expect"]), f"{file.name}, line {number}: {rule}: {answer}"
    assert steps > 0
