"""Cores that misbehave and stores that fail: what a caller gets, and that nothing is half done."""

from __future__ import annotations

import os
import shutil
import subprocess
import threading
import time
from contextlib import closing
from pathlib import Path

import apsw
import pytest

import headsup
from conftest import HAS_NATIVE, ROOT, elsewhere, run_elsewhere
from headsup import Actor, Headsup
from headsup.opening import EngineName

MAIN, WORKER = "agent:main:main", "agent:main:worker"
HUMAN = Actor("human")


@pytest.fixture(scope="session")
def hostile() -> Path:
    """A core that misbehaves when a request names `hostile:<word>`: `tests/hostile`, where the Rust
    tests build it, too."""
    cargo = shutil.which("cargo")
    if cargo is None:
        pytest.skip("cargo is missing, so that the misbehaving core cannot be built")
    target = ROOT / "target" / "tmp" / "hostile"
    build = [cargo, "build", "--locked", "--quiet", "--target", "wasm32-wasip2"]
    build += ["--profile", "guest", "--target-dir", str(target)]
    subprocess.run(build, cwd=ROOT / "tests" / "hostile", check=True)
    return target / "wasm32-wasip2" / "guest" / "hostile.wasm"


def recorded(store: Headsup, session: str) -> headsup.Recording:
    return store.record(session, "created", HUMAN)


@pytest.mark.parametrize("word", ["panic", "recurse", "stack"])
def test_a_trap_undoes_the_call_and_the_next_one_is_served(
    word: str, hostile: Path, engine: EngineName, db: Path
) -> None:
    log: list[str] = []

    def hear(level: str, message: str) -> None:
        log.append(message)

    with headsup.open(db, engine=engine, plugin=hostile, on_log=hear) as store:
        recorded(store, WORKER)
        lost = recorded(store, f"agent:main:hostile:{word}")
        assert lost == headsup.Recording("failed", reason="plugin-trap")
        assert log, "what was lost is logged"
        with pytest.raises(headsup.CallFailed) as failed:
            store.watch(MAIN, f"agent:main:hostile:{word}")
        assert (failed.value.reason, failed.value.code) == ("plugin-trap", -32000)
        assert recorded(store, WORKER) == headsup.Recording("recorded", 2)
        assert store.watches_of(MAIN) == []
    if word == "panic":
        assert any("asked to panic, and did" in line for line in log)


@pytest.mark.parametrize("word", ["loop", "store-loop"])
def test_a_call_that_does_not_end_is_ended_and_undone(
    word: str, hostile: Path, engine: EngineName, db: Path
) -> None:
    with headsup.open(db, engine=engine, plugin=hostile, deadline=0.1) as store:
        lost = recorded(store, f"agent:main:hostile:{word}")
        assert lost == headsup.Recording("failed", reason="plugin-timeout")
        assert recorded(store, WORKER) == headsup.Recording("recorded", 1)


def test_a_core_that_takes_all_memory_is_ended(
    hostile: Path, engine: EngineName, db: Path
) -> None:
    with headsup.open(db, engine=engine, plugin=hostile, deadline=20, busy_timeout=80) as store:
        lost = recorded(store, "agent:main:hostile:memory-bomb")
        assert lost == headsup.Recording("failed", reason="plugin-trap")
        assert recorded(store, WORKER).outcome == "recorded"


def test_what_a_failing_call_opened_is_not_announced(
    hostile: Path, engine: EngineName, db: Path
) -> None:
    heard: list[str] = []

    def hear(watcher: str, _: headsup.Notice) -> None:
        heard.append(watcher)

    with headsup.open(db, engine=engine, plugin=hostile, on_notice=hear) as store:
        session = "agent:main:hostile:panic"
        store.swap(None)
        store.watch(MAIN, session)
        store.swap(hostile)
        store.record(session, "goal_changed", HUMAN, change="updated")
        assert heard == []
        store.swap(None)
        store.record(session, "goal_changed", HUMAN, change="updated")
        assert heard == [MAIN]


def test_a_busy_store_is_a_failed_recording_and_an_error_elsewhere(
    engine: EngineName, db: Path
) -> None:
    with headsup.open(db, engine=engine, busy_timeout=0.1) as store:
        recorded(store, WORKER)
        with elsewhere(db, "BEGIN IMMEDIATE"):
            assert recorded(store, WORKER) == headsup.Recording("failed", reason="store-busy")
            with pytest.raises(headsup.CallFailed) as failed:
                store.watch(MAIN, WORKER)
            assert failed.value.reason == "store-busy"
            # Readers never queue behind a writer, and bad input is refused whatever failed.
            assert store.status(WORKER).state_version == 1
            with pytest.raises(headsup.InvalidInput):
                store.watch("agent:", WORKER)
        assert recorded(store, WORKER) == headsup.Recording("recorded", 2)


def test_many_calls_that_wait_for_a_busy_store_all_fail_with_it(
    engine: EngineName, db: Path
) -> None:
    with headsup.open(db, engine=engine, busy_timeout=0.5) as store:
        recorded(store, WORKER)
        outcomes: list[str | None] = []
        with elsewhere(db, "BEGIN IMMEDIATE"):
            threads = [
                threading.Thread(target=lambda: outcomes.append(recorded(store, WORKER).reason))
                for _ in range(40)
            ]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert outcomes == ["store-busy"] * 40
        assert recorded(store, WORKER) == headsup.Recording("recorded", 2)


def test_what_is_no_store_is_refused_and_left_alone(engine: EngineName, tmp_path: Path) -> None:
    text, folder = tmp_path / "text.db", tmp_path / "folder.db"
    text.write_text("not a database")
    folder.mkdir()
    pipe = tmp_path / "pipe.db"
    os.mkfifo(pipe)
    below = tmp_path / "text.db" / "x" / "headsup.db"
    for path, reason in [
        (text, "store-corrupt"),
        (folder, "store-failed"),
        (pipe, "store-failed"),
        (below, "store-failed"),
    ]:
        with pytest.raises(headsup.OpenError) as refused:
            headsup.open(path, engine=engine)
        assert refused.value.reason == reason, path
        assert str(path) in refused.value.message
    assert text.read_text() == "not a database"


@pytest.mark.parametrize(
    ("sql", "reason"),
    [
        ("CREATE TABLE session_state_events (x)", "foreign-schema"),
        ("CREATE TABLE headsup_migrations (version INTEGER PRIMARY KEY)", "foreign-schema"),
        ("PRAGMA encoding = 'UTF-16'; CREATE TABLE theirs (x)", "foreign-schema"),
    ],
)
def test_a_file_of_somebody_else_is_refused(
    sql: str, reason: str, engine: EngineName, tmp_path: Path
) -> None:
    path = tmp_path / "theirs.db"
    run_elsewhere(path, sql)
    before = path.read_bytes()
    with pytest.raises(headsup.OpenError) as refused:
        headsup.open(path, engine=engine)
    assert refused.value.reason == reason
    assert path.read_bytes() == before


def test_a_store_of_a_newer_headsup_is_refused_and_a_gateways_own_tables_are_not(
    engine: EngineName, tmp_path: Path
) -> None:
    path = tmp_path / "gateway.db"
    run_elsewhere(path, "CREATE TABLE messages (text TEXT); INSERT INTO messages VALUES ('theirs')")
    with headsup.open(path, engine=engine) as store:
        recorded(store, WORKER)
        theirs = "UPDATE messages SET text = text || ' still' WHERE text = 'theirs'"
        run_elsewhere(path, theirs)
    with closing(apsw.Connection(str(path))) as after:
        assert after.execute("SELECT text FROM messages").get == "theirs still"
    run_elsewhere(path, "INSERT INTO headsup_migrations VALUES (3, '0003_later', 0)")
    with pytest.raises(headsup.OpenError) as refused:
        headsup.open(path, engine=engine)
    assert refused.value.reason == "store-too-new"


def test_an_older_sqlite_is_refused_with_the_reason(
    db: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(apsw, "sqlite_lib_version", lambda: "3.40.1")
    with pytest.raises(headsup.OpenError) as refused:
        headsup.open(db, engine="component")
    assert "3.40.1" in refused.value.message and "3.51.3" in refused.value.message
    assert not db.exists()


def test_a_row_that_breaks_the_protocol_is_corrupt_and_never_quoted(
    engine: EngineName, db: Path
) -> None:
    with headsup.open(db, engine=engine) as store:
        recorded(store, WORKER)
        run_elsewhere(
            db,
            "PRAGMA ignore_check_constraints = 1;"
            "UPDATE session_state_heads SET watermark = -77, notifying_actor = 'secret'",
        )
        with pytest.raises(headsup.CallFailed) as failed:
            store.status(WORKER, changes_since=0)
        assert failed.value.reason == "store-corrupt"
        assert "session_state_heads" in failed.value.message
        assert "secret" not in failed.value.message and "77" not in failed.value.message


def test_a_store_that_was_closed_lets_the_file_go(engine: EngineName, db: Path) -> None:
    with headsup.open(db, engine=engine) as store:
        recorded(store, WORKER)
    end = time.monotonic() + 10
    while Path(f"{db}-wal").exists() and time.monotonic() < end:
        time.sleep(0.01)
    assert not Path(f"{db}-wal").exists()


@pytest.mark.skipif(not HAS_NATIVE, reason="the C library is not built")
def test_both_engines_in_one_process_are_kept_off_the_same_file(db: Path) -> None:
    with headsup.open(db, engine="native") as store, headsup.open(db, engine="native"):
        with pytest.raises(headsup.OpenError, match="each other's locks"):
            headsup.open(db, engine="component")
        recorded(store, WORKER)
    with headsup.open(db, engine="component") as store:
        assert store.status(WORKER).state_version == 1
        with pytest.raises(headsup.OpenError, match="each other's locks"):
            headsup.open(db, engine="native")


def test_a_path_with_dots_above_a_link_is_the_one_that_the_system_means(
    engine: EngineName, tmp_path: Path
) -> None:
    (tmp_path / "real" / "inner").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "real" / "inner")
    with headsup.open(f"{tmp_path}/link/../store.db", engine=engine) as store:
        assert recorded(store, WORKER) == headsup.Recording("recorded", 1)
        assert store.versions([WORKER]) == [1]
    assert (tmp_path / "real" / "store.db").exists()
    assert not (tmp_path / "store.db").exists()


def test_a_store_of_the_first_schema_is_brought_up_to_date_with_all_that_it_holds(
    engine: EngineName, tmp_path: Path
) -> None:
    db, schema = tmp_path / "store.db", ROOT / "host" / "sql" / "schema"
    older = apsw.Connection(str(db))
    older.pragma("journal_mode", "WAL")
    for name in ("migrations", "0001_signal_log"):
        older.execute((schema / f"{name}.sql").read_text())
    older.execute(
        "INSERT INTO headsup_migrations VALUES (1, '0001_signal_log', 0);"
        "INSERT INTO session_watch_cursors VALUES"
        " ('agent:main:main', 'agent:main:worker', 'main', 'live', 'explicit', 0, 1, 0)"
    )
    older.close()
    with headsup.open(db, engine=engine, manual_clock=0) as store:
        assert [(one.watcher, one.notices) for one in store.pending()] == [(MAIN, 1)]
        assert len(store.take(MAIN)) == 1


def test_a_path_is_taken_from_the_folder_of_its_opening(
    engine: EngineName, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere_to_be = tmp_path / "elsewhere"
    elsewhere_to_be.mkdir()
    monkeypatch.chdir(tmp_path)
    with headsup.open("store.db", engine=engine) as store:
        monkeypatch.chdir(elsewhere_to_be)
        assert recorded(store, WORKER) == headsup.Recording("recorded", 1)
        assert store.status(WORKER).state_version == 1
    assert list(elsewhere_to_be.iterdir()) == []
