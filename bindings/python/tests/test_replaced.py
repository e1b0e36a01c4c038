"""The file of an open store, or what lies beside it, is removed or replaced."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import headsup
from conftest import python_environment
from headsup import Actor, Headsup
from headsup.opening import EngineName

MAIN, WORKER = "agent:main:main", "agent:main:worker"


def recorded(store: Headsup, session: str) -> headsup.Recording:
    return store.record(session, "created", Actor("human"))


def test_a_store_that_is_replaced_refuses_work_until_its_own_file_is_back(
    engine: EngineName, db: Path
) -> None:
    other, old = db.with_name("other.db"), db.with_name("old.db")
    headsup.open(other, engine=engine).close()

    def shift(source: Path, to: Path) -> None:
        for suffix in ("", "-wal", "-shm"):
            beside = Path(f"{source}{suffix}")
            if beside.exists():
                beside.rename(f"{to}{suffix}")

    def refuses(store: Headsup) -> None:
        assert recorded(store, WORKER) == headsup.Recording("failed", reason="store-failed")
        with pytest.raises(headsup.CallFailed, match="removed or replaced") as failed:
            store.status(WORKER)
        assert failed.value.reason == "store-failed"

    with headsup.open(db, engine=engine) as store:
        for version in (1, 2):
            assert recorded(store, WORKER) == headsup.Recording("recorded", version)
            shift(db, old)
            refuses(store)
            assert not db.exists(), "nothing is made in its place"
            shutil.copy(other, db)
            refuses(store)
            shift(old, db)
            assert store.status(WORKER).state_version == version


@pytest.mark.parametrize("gone", [["-wal"], ["-shm"], ["-wal", "-shm"]])
@pytest.mark.parametrize("calls", [True, False], ids=["by a call", "by closing"])
def test_a_store_whose_log_is_taken_away_loses_nothing(
    engine: EngineName, db: Path, gone: list[str], calls: bool
) -> None:
    headsup.open(db, engine=engine).close()
    with headsup.open(db, engine=engine) as store:
        assert recorded(store, WORKER) == headsup.Recording("recorded", 1)
        # A connection that reads: whichever is closed first is not the last.
        assert store.versions([WORKER]) == [1]
        for suffix in gone:
            Path(f"{db}{suffix}").unlink()
        if calls:
            refuses_for_good(store)
            # As it is if the process is killed now.
            left = shutil.copy(db, db.with_name("left.db"))
            with headsup.open(left, engine=engine) as copied:
                assert copied.versions([WORKER]) == [1]
    with headsup.open(db, engine=engine) as store:
        assert store.versions([WORKER]) == [1]
        assert recorded(store, WORKER) == headsup.Recording("recorded", 2)


def test_no_other_store_is_opened_beside_one_whose_log_was_taken_away(
    engine: EngineName, db: Path
) -> None:
    with headsup.open(db, engine=engine) as first:
        assert recorded(first, WORKER) == headsup.Recording("recorded", 1)
        for suffix in ("-wal", "-shm"):
            Path(f"{db}{suffix}").unlink()
        with pytest.raises(headsup.OpenError, match="removed or replaced") as refused:
            headsup.open(db, engine=engine)
        # Its first read opens a connection, too.
        with pytest.raises(headsup.CallFailed, match="removed or replaced"):
            first.versions([WORKER])
    # Also for who keeps the exception, and with it whatever its frames hold.
    assert refused.value.reason == "store-failed"
    with headsup.open(db, engine=engine) as second:
        assert recorded(second, WORKER) == headsup.Recording("recorded", 2)


def test_a_store_that_is_refused_for_good_costs_no_memory_with_each_call(
    engine: EngineName, db: Path
) -> None:
    with headsup.open(db, engine=engine) as store:
        recorded(store, WORKER)
        Path(f"{db}-wal").unlink()
        refuses_for_good(store)

        def depth() -> int:
            try:
                store.unwatch(MAIN, WORKER)
            except headsup.CallFailed as failed:
                error: BaseException | None = failed
            frames = 0
            while error is not None:
                trace = error.__traceback__
                while trace is not None:
                    frames, trace = frames + 1, trace.tb_next
                error = error.__cause__ or error.__context__
            return frames

        first = depth()
        for _ in range(20):
            assert depth() == first


@pytest.mark.parametrize("calls", [True, False], ids=["by a call", "by closing"])
def test_what_another_process_records_after_the_log_was_taken_away_stays(
    engine: EngineName, db: Path, calls: bool
) -> None:
    headsup.open(db, engine=engine).close()
    with headsup.open(db, engine=engine) as store:
        assert recorded(store, WORKER) == headsup.Recording("recorded", 1)
        for suffix in ("-wal", "-shm"):
            Path(f"{db}{suffix}").unlink()
        program = (
            "import os, sys, headsup; s = headsup.open(sys.argv[1], engine=sys.argv[2]);"
            "s.record(sys.argv[3], 'goal_changed', headsup.Actor('human'), change='updated');"
            # Killed: what it was told is in its log alone.
            "os.kill(os.getpid(), 9)"
        )
        other = [sys.executable, "-c", program, str(db), engine, MAIN]
        assert subprocess.run(other, env=python_environment()).returncode == -9
        if calls:
            refuses_for_good(store)
    with headsup.open(db, engine=engine) as store:
        assert store.versions([MAIN]) == [1]


def refuses_for_good(store: Headsup) -> None:
    for _ in range(2):
        assert recorded(store, WORKER) == headsup.Recording("failed", reason="store-failed")
        with pytest.raises(headsup.CallFailed, match="removed or replaced"):
            store.unwatch(MAIN, WORKER)
