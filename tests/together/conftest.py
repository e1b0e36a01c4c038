"""What is left out on this machine is said in one line each."""

from __future__ import annotations

from typing import Any

from programs import PROGRAMS


def pytest_terminal_summary(terminalreporter: Any) -> None:
    for name, find in PROGRAMS.items():
        found = find()
        if isinstance(found, str):
            terminalreporter.write_line(
                f"headsup: left out: sharing a store with the program in {name}, because {found}"
            )
