"""The wheel, and the page that people begin with."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from conftest import ROOT, python_environment
from headsup.component.core import RECORDS, Signature, built_in
from headsup.component.engine import TYPED
from headsup.opening import EngineName
from headsup.storage import sql

PAGE = ROOT / "docs" / "embedding" / "python.md"


def minimum(page: Path = PAGE) -> str:
    """The first program on a page."""
    found = re.search(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    assert found is not None
    return found[1]


def test_the_minimum_on_the_page_runs(engine: EngineName, tmp_path: Path) -> None:
    program = minimum().replace("headsup.open(", f'headsup.open(engine="{engine}", path=')
    for _ in range(2):
        ended = subprocess.run(
            [sys.executable, "-c", program],
            cwd=tmp_path,
            env=python_environment(),
            capture_output=True,
            text=True,
        )
        assert ended.returncode == 0, ended.stderr
        assert "was changed by someone else" in ended.stdout
        assert "goal updated" in ended.stdout


@pytest.mark.parametrize("page", ["docs/embedding.md", "README.md"])
def test_the_programs_of_the_overview_and_of_the_readme_run(
    page: str, command: Path, tmp_path: Path
) -> None:
    path = f"{command.parent}{os.pathsep}{os.environ['PATH']}"
    ended = subprocess.run(
        [sys.executable, "-c", minimum(ROOT / page)],
        cwd=tmp_path,
        env={**python_environment(), "PATH": path},
        capture_output=True,
        text=True,
    )
    assert ended.returncode == 0, ended.stderr
    assert "was changed by someone else" in ended.stdout


def test_the_wheel_brings_all_that_it_needs(tmp_path: Path) -> None:
    source = ROOT / "bindings" / "python"
    build = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    ended = subprocess.run(
        [*build, "--wheel-dir", str(tmp_path), str(source)],
        capture_output=True,
        text=True,
        env={**python_environment(), "PIP_DISABLE_PIP_VERSION_CHECK": "1"},
    )
    assert ended.returncode == 0, ended.stderr
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "installed")
    installed = tmp_path / "installed" / "headsup"
    packaged = {
        str(file.relative_to(installed / "data" / "sql")) for file in installed.rglob("*.sql")
    }
    ours = ROOT / "host" / "sql"
    assert packaged == {str(file.relative_to(ours)) for file in ours.rglob("*.sql")}
    # From somewhere that is no checkout, without the checkout's C library.
    program = (
        "import headsup; h = headsup.open('x.db', engine='component');"
        "print(h.record('agent:main:w', 'created', headsup.Actor('human')).outcome, headsup.__file__)"
    )
    run = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        env={**python_environment(), "PYTHONPATH": str(tmp_path / "installed")},
        capture_output=True,
        text=True,
    )
    assert run.stdout.split() == ["recorded", str(installed / "__init__.py")], run.stderr


def test_every_statement_of_the_verbs_is_there_once() -> None:
    """No statement is retyped: everything that is executed is looked up in `host/sql`."""
    package = ROOT / "bindings" / "python" / "src" / "headsup"
    names = set()
    for module in (package / "storage").glob("*.py"):
        text = module.read_text(encoding="utf-8")
        names |= set(re.findall(r'statement\("([a-z_/]+)"\)', text))
        assert not re.search(r"(SELECT|INSERT|UPDATE|DELETE) ", text), module
    assert len(names) > 20
    for name in names:
        assert sql.statement(name)


def test_the_records_have_the_members_of_the_contract() -> None:
    """Each record of ours that a function of the core uses has the fields of the WIT record, in order:
    a core could not be loaded otherwise. What is not used is not there."""
    core = built_in()
    seen: set[tuple[str, ...]] = set()

    class Noting(dict[tuple[str, ...], type]):
        def get(self, names: tuple[str, ...], default: type | None = None) -> type | None:  # type: ignore[override]
            seen.add(names)
            return super().get(names, default)

    noting = Noting(RECORDS)
    for interface, function in TYPED:
        Signature(core._types[core.export(interface)][function], noting)
    for functions in core.imports.values():
        for type_ in functions.values():
            Signature(type_, noting)
    assert seen == set(RECORDS)
