"""What the tests share: where things are, and each engine in turn."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import headsup
from headsup import native
from headsup.opening import EngineName

ROOT = Path(__file__).resolve().parents[3]
HEADSUP = ROOT / "target" / "debug" / "headsup"
TEMPLATE = ROOT / "target" / "guest" / "plugin-template.wasm"

# The library that is built with everything else, and not one that an earlier release build left.
for suffix in ("so", "dylib"):
    if (ROOT / "target" / "debug" / f"libheadsup.{suffix}").is_file():
        os.environ["HEADSUP_LIBRARY"] = str(ROOT / "target" / "debug" / f"libheadsup.{suffix}")

HAS_NATIVE = native.library() is not None


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Whatever is missing on the machine, in one line each."""
    if not HAS_NATIVE:
        terminalreporter.write_line(
            "headsup: left out: the engine `native`, because the C library is not built"
        )
    if not (ROOT / "target" / "guest" / "headsup-conformance.wasm").is_file():
        terminalreporter.write_line(
            "headsup: left out: the examination of the storage, because its component is not built"
        )
    if not TEMPLATE.is_file():
        terminalreporter.write_line(
            "headsup: left out: a core with rules of its own, because it is not built"
        )
    if shutil.which("cargo") is None:
        terminalreporter.write_line(
            "headsup: left out: cores that misbehave, because cargo is missing"
        )
    if not HEADSUP.is_file():
        terminalreporter.write_line(
            "headsup: left out: sharing a store with the command, because it is not built"
        )


@pytest.fixture(params=["component", "native"])
def engine(request: pytest.FixtureRequest) -> EngineName:
    """Each engine in turn."""
    if request.param == "native" and not HAS_NATIVE:
        pytest.skip("the C library is not built")
    name: EngineName = request.param
    return name


@pytest.fixture
def command() -> Path:
    """The command of the Rust host."""
    if not HEADSUP.is_file():
        pytest.skip("the command is not built")
    return HEADSUP


@pytest.fixture
def db(tmp_path: Path) -> Path:
    """Where a store may be made."""
    return tmp_path / "store" / "headsup.db"


@pytest.fixture
def opened(engine: EngineName, db: Path) -> Iterator[headsup.Headsup]:
    """A store in a file with a manual clock at 0."""
    with headsup.open(db, engine=engine, manual_clock=0) as store:
        yield store


def python_environment() -> dict[str, str]:
    """For processes that run this package."""
    return {**os.environ, "PYTHONPATH": str(ROOT / "bindings" / "python" / "src")}


@contextmanager
def elsewhere(db: Path, sql: str) -> Iterator[None]:
    """Another process runs this on the file, and holds what it began until the end. Another one,
    because two copies of SQLite in one process do not see each other's locks."""
    program = (
        "import apsw, sys; c = apsw.Connection(sys.argv[1]); c.execute(sys.argv[2]);"
        "print('ran', flush=True); sys.stdin.read(); c.close()"
    )
    other = subprocess.Popen(
        [sys.executable, "-c", program, str(db), sql],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert other.stdout is not None and other.stdout.readline() == "ran\n"
        yield
    finally:
        other.communicate()


def run_elsewhere(db: Path, sql: str) -> None:
    """Another process runs this on the file."""
    with elsewhere(db, sql):
        pass
