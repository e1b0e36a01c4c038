"""The example gateway, from outside."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import urllib.request
from typing import Any

from conftest import ROOT, python_environment
from headsup.opening import EngineName


def test_a_manager_hears_of_a_message_to_its_worker_once_and_catches_up(
    engine: EngineName,
) -> None:
    program = ROOT / "bindings" / "python" / "examples" / "gateway.py"
    gateway = subprocess.Popen(
        [sys.executable, str(program), "--port", "0", "--engine", engine],
        stdout=subprocess.PIPE,
        text=True,
        env=python_environment(),
    )
    assert gateway.stdout is not None
    try:
        address = gateway.stdout.readline().split(" at ")[1].split()[0]

        def ask(path: str, body: str | None = None) -> Any:
            data = None if body is None else body.encode()
            with urllib.request.urlopen(address + path, data=data, timeout=60) as answer:
                return json.load(answer)

        assert ask("/worker") == {"stateVersion": 1, "pending": False}
        for number in range(3):
            sent = ask("/messages", "forget that, do this")
            assert sent == {"outcome": "recorded", "stateVersion": number + 2}
        assert ask("/worker")["pending"] is True
        turn = ask("/turns", "")
        assert len(turn["notices"]) == 1 and '"changesSince":1' in turn["notices"][0]
        assert turn["delta"] == ["human message via http"] * 3
        assert ask("/turns", "")["delta"] == ["human message via http"] * 2
        assert ask("/turns", "") == {"notices": [], "delta": []}
        gateway.send_signal(signal.SIGTERM)
        assert gateway.wait(60) == 0
        told = gateway.stdout.read()
        assert "agent:main:main should run a turn" in told
    finally:
        gateway.kill()
        gateway.wait()
