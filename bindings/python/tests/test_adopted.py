"""Adopted sessions: their files are read inside the allowed folders, and what people did there is
reported once."""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import apsw
import pytest

import headsup
from headsup import Checks, Headsup, Source
from headsup.contract import Case, FileRead
from headsup.opening import EngineName
from headsup.sources import FolderFiles
from headsup.sources.crew import Crew
from headsup.sources.window import MOST
from test_processes import served

MAIN, WORKER = "agent:main:main", "agent:main:worker"
QUIET = Checks(1, 0, 0, 0)


def row(text: str, at: int) -> str:
    """A turn that a person typed, at so many ms."""
    when = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(at // 1_000)) + f".{at % 1_000:03}Z"
    message = {"role": "user", "content": text}
    return json.dumps({"type": "user", "timestamp": when, "message": message}) + "\n"


class Adopted:
    """A store with a session that lives in a file, and somebody who watches it."""

    def __init__(self, store: Headsup, path: Path) -> None:
        self.store = store
        self.path = path
        self.at = int(time.time() * 1_000)
        path.write_text(row("history", self.at))
        adoption = store.adopt(WORKER, Source.claude_file(str(path)), "claude")
        assert adoption == headsup.Adoption(True, 1)
        store.watch(MAIN, WORKER)

    def type(self, *texts: str) -> None:
        """A person types."""
        with self.path.open("a") as file:
            for text in texts:
                self.at += 1
                file.write(row(text, self.at))

    def check(self) -> Checks:
        return self.store.check_upstreams()

    def summaries(self) -> list[str]:
        changes = self.store.status(WORKER, changes_since=1).state_changes
        assert changes is not None
        return [event.summary for event in changes.events]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "projects"
    folder.mkdir()
    return folder


@pytest.fixture
def adopted(engine: EngineName, db: Path, folder: Path) -> Iterator[Adopted]:
    with headsup.open(db, engine=engine, source_folders=[folder]) as store:
        yield Adopted(store, folder / "session.jsonl")


def test_turns_are_reported_once_and_history_never(adopted: Adopted) -> None:
    assert adopted.check() == QUIET
    adopted.type("hello", "are you there?")
    assert adopted.check() == Checks(1, 1, 0, 0)
    assert adopted.check() == QUIET
    assert adopted.summaries() == ["human message via claude"]
    (notice,) = adopted.store.take(MAIN)
    assert notice.target == WORKER


def test_half_a_line_waits_for_its_end(adopted: Adopted) -> None:
    line = row("slowly", adopted.at + 5)
    for half in (line[:40], line[40:]):
        with adopted.path.open("a") as file:
            file.write(half)
        checks = adopted.check()
    assert checks == Checks(1, 1, 0, 0)


def test_what_the_gateway_itself_sent_is_no_intervention(adopted: Adopted) -> None:
    adopted.store.sent(WORKER, "Please  run\nthe tests.")
    adopted.type("Please run the tests.")
    assert adopted.check() == QUIET


def test_a_file_that_was_replaced_reports_its_new_turns_alone(adopted: Adopted) -> None:
    adopted.type("first")
    adopted.check()
    fresh = adopted.path.with_suffix(".new")
    fresh.write_text(row("history", adopted.at - 1) + row("first", adopted.at))
    os.replace(fresh, adopted.path)
    assert adopted.check() == QUIET
    adopted.type("second")
    assert adopted.check() == Checks(1, 1, 0, 0)
    assert len(adopted.summaries()) == 2


def test_a_file_that_is_gone_for_good_is_reported_after_three_checks(adopted: Adopted) -> None:
    adopted.path.unlink()
    for _ in range(3):
        assert adopted.check() == Checks(1, 0, 1, 0)
    assert adopted.check() == Checks(0, 0, 0, 0)
    assert adopted.summaries() == ["upstream missing via claude"]


def test_a_folder_that_is_gone_takes_no_source_away(adopted: Adopted) -> None:
    away = adopted.path.parent.with_name("unmounted")
    adopted.path.parent.rename(away)
    for _ in range(4):
        assert adopted.check() == Checks(1, 0, 0, 1)
    away.rename(adopted.path.parent)
    adopted.type("back again")
    assert adopted.check() == Checks(1, 1, 0, 0)


def test_nothing_is_read_while_a_turn_runs_or_nobody_watches(adopted: Adopted) -> None:
    adopted.type("hello")
    adopted.store.busy(WORKER, True)
    assert adopted.check() == Checks(0, 0, 0, 0)
    adopted.store.busy(WORKER, False)
    adopted.store.unwatch(MAIN, WORKER)
    assert adopted.check() == Checks(0, 0, 0, 0)


def test_what_lies_outside_the_allowed_folders_is_refused(
    engine: EngineName, db: Path, folder: Path, tmp_path: Path
) -> None:
    outside, link = tmp_path / "outside.jsonl", folder / "link.jsonl"
    outside.write_text(row("secret", 1))
    link.symlink_to(outside)
    with headsup.open(db, engine=engine, source_folders=[folder]) as store:
        for path, reason in [
            (outside, "source-refused"),
            (link, "source-refused"),
            (folder / ".." / "outside.jsonl", "source-refused"),
            (folder / "none.jsonl", "source-missing"),
            (folder, "source-missing"),
            (Path("relative.jsonl"), "invalid-path"),
        ]:
            with pytest.raises(headsup.InvalidInput) as refused:
                store.adopt(WORKER, Source.codex_file(str(path)), "codex")
            assert refused.value.reason == reason, path
            assert "secret" not in refused.value.message


def test_the_monitor_checks_by_itself(engine: EngineName, db: Path, folder: Path) -> None:
    with headsup.open(
        db, engine=engine, source_folders=[folder], manual_clock=0, monitor=True
    ) as store:
        adopted = Adopted(store, folder / "session.jsonl")
        adopted.type("hello")
        store.clock(14_999)
        assert adopted.summaries() == []
        store.clock(15_000)
        assert adopted.summaries() == ["human message via claude"]


def test_the_command_goes_on_where_this_package_stopped(
    engine: EngineName, db: Path, folder: Path, command: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(folder))
    with headsup.open(db, engine=engine) as store:
        adopted = Adopted(store, folder / "session.jsonl")
        with served([str(command), "serve", "--stdio", "--db", str(db)]) as other:
            adopted.type("one")
            assert adopted.check() == Checks(1, 1, 0, 0)
            adopted.type("two")
            checked = {"checked": 1, "activity": 1, "missing": 0, "failed": 0}
            assert other.call("checkUpstreams") == checked
            adopted.type("three")
            assert adopted.check() == Checks(1, 1, 0, 0)
            assert other.call("checkUpstreams")["activity"] == 0
    # The same file is the same for both: nothing looked like a rotation.
    with closing(apsw.Connection(str(db))) as after:
        state = after.execute("SELECT state_json FROM session_upstream_links").get
    assert "rotations" not in json.loads(state)


def test_a_line_beyond_what_this_host_reads_is_said_to_be_unavailable(folder: Path) -> None:
    path = folder / "long.jsonl"
    path.write_bytes(b"x" * (MOST + 2))
    files = FolderFiles([folder])
    found = files.read_on(FileRead([str(path)], 0, 64 << 20, None))
    assert found.tag == "unavailable" and str(MOST) in found.value
    assert files.read_ends(str(path)).tag == "unavailable"
    path.write_bytes(b"x" * (2 << 20) + b"\n" + b"y" * (1 << 20))
    ends = files.read_ends(str(path))
    assert (len(ends.value.head), ends.value.start) == (1 << 20, (1 << 20) + 1)


class Hanging:
    """Files of which one hangs until it is let go."""

    def __init__(self) -> None:
        self.go = threading.Event()

    def read_on(self, read: FileRead) -> Case:
        if "hangs" in read.places[0]:
            self.go.wait()
        return Case("missing")

    def read_ends(self, path: str) -> Case:
        raise OSError("broken")


def test_a_source_that_hangs_stops_neither_others_nor_the_next_check() -> None:
    files = Hanging()
    crew = Crew(files, 0.05)
    reads: list[FileRead | str] = [FileRead([f"/{name}"], 0, 1, None) for name in ("hangs", "a", "b")]
    for _ in range(2):
        found = dict(crew.read(reads))
        assert found[0].tag == "unavailable" and found[1] == found[2] == Case("missing")
    files.go.set()
    assert crew.read_ends("/x").value == "reading it failed: OSError"
