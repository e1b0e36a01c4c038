"""Who hears what and when; callbacks that raise, call back, or come from timers."""

from __future__ import annotations

import os
import queue
import sys
import threading
from pathlib import Path

import pytest

import headsup
from conftest import HAS_NATIVE
from headsup import Actor, Headsup, Notice
from headsup.component import alarm
from headsup.component.wakes import Wakes
from headsup.opening import EngineName

MAIN, WORKER = "agent:main:main", "agent:main:worker"
HUMAN = Actor("human")


def change(store: Headsup, session: str = WORKER) -> headsup.Recording:
    return store.record(session, "goal_changed", HUMAN, change="updated")


class Heard:
    """What the callbacks heard, in order."""

    def __init__(self) -> None:
        self.news: list[str] = []

    def notice(self, watcher: str, notice: Notice) -> None:
        self.news.append(f"notice {watcher} {notice.since}-{notice.up_to}")

    def wake(self, watcher: str) -> None:
        self.news.append(f"wake {watcher}")

    def taken(self) -> list[str]:
        news, self.news = self.news, []
        return news


def heard(engine: EngineName, path: str | Path = ":memory:") -> tuple[Headsup, Heard]:
    ears = Heard()
    store = headsup.open(
        path, engine=engine, manual_clock=0, on_notice=ears.notice, on_wake=ears.wake
    )
    return store, ears


def test_a_notice_and_its_wake_are_heard_before_the_call_returns(engine: EngineName) -> None:
    store, ears = heard(engine)
    with store:
        store.watch(MAIN, WORKER)
        change(store)
        assert ears.taken() == [f"notice {MAIN} 0-1", f"wake {MAIN}"]
        change(store)
        assert ears.taken() == []


def test_wakes_keep_their_distance_and_remind(engine: EngineName) -> None:
    store, ears = heard(engine)
    with store:
        for target in (WORKER, "agent:main:other"):
            store.watch(MAIN, target)
            change(store, target)
        assert ears.taken().count(f"wake {MAIN}") == 1
        store.clock(19_999)
        assert ears.taken() == []
        store.clock(20_000)
        assert ears.taken() == [f"wake {MAIN}"]
        store.clock(20_000 + 15 * 60_000)
        assert ears.taken() == [f"wake {MAIN}"]
        store.drain(MAIN)
        store.clock(20_000 + 45 * 60_000)
        assert ears.taken() == []


def test_what_was_pending_is_announced_at_the_opening(engine: EngineName, db: Path) -> None:
    store, _ = heard(engine, db)
    with store:
        store.watch(MAIN, WORKER)
        change(store)
    store, ears = heard(engine, db)
    with store:
        assert ears.taken() == [f"notice {MAIN} 0-1", f"wake {MAIN}"]


def test_a_callback_that_raises_harms_nobody(
    engine: EngineName, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: object) -> None:
        raise ValueError("not today")

    with headsup.open(
        ":memory:", engine=engine, on_notice=fail, on_wake=fail, on_log=fail
    ) as store:
        store.watch(MAIN, WORKER)
        assert change(store).outcome == "recorded"
        assert len(store.take(MAIN)) == 1
    assert "on_notice raised" in caplog.text and "on_wake raised" in caplog.text


def test_a_callback_may_call_the_same_store(engine: EngineName, db: Path) -> None:
    found: list[int] = []

    def catch_up(watcher: str, notice: Notice) -> None:
        changes = store.status(notice.target, changes_since=notice.since).state_changes
        assert changes is not None
        found.append(len(changes.events))
        store.acknowledge(watcher, [notice])

    with headsup.open(db, engine=engine, on_notice=catch_up) as store:
        store.watch(MAIN, WORKER)
        change(store)
        change(store)
        assert store.pending() == []
    assert found == [1, 1]


@pytest.mark.skipif(not HAS_NATIVE, reason="the C library is not built")
def test_the_native_engine_refuses_to_close_or_swap_in_a_callback(db: Path) -> None:
    reasons: list[str] = []

    def meddle(*_: object) -> None:
        for act in (store.close, lambda: store.swap(None)):
            with pytest.raises(headsup.HeadsupError) as refused:
                act()
            reasons.append(refused.value.reason)

    with headsup.open(db, engine="native", on_notice=meddle) as store:
        store.watch(MAIN, WORKER)
        change(store)
        assert reasons == ["in-callback"] * 2
        assert len(store.take(MAIN)) == 1


def test_threads_call_at_once_and_lose_nothing(engine: EngineName, db: Path) -> None:
    each, threads = 15, 6
    failures: list[BaseException] = []
    with headsup.open(db, engine=engine, durability="normal") as store:
        store.watch(MAIN, WORKER)

        def work() -> None:
            try:
                for _ in range(each):
                    assert change(store).outcome == "recorded"
                    assert store.status(WORKER).state_version > 0
                    store.take(MAIN)
            except BaseException as error:
                failures.append(error)

        running = [threading.Thread(target=work) for _ in range(threads)]
        for thread in running:
            thread.start()
        for thread in running:
            thread.join()
        assert failures == []
        assert store.status(WORKER).state_version == each * threads
        changes = store.status(WORKER, changes_since=0).state_changes
        assert changes is not None
        assert [e.sequence for e in changes.events] == list(range(1, each * threads + 1))


def test_later_wakes_come_from_a_thread_of_the_engine(
    db: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the machine's clock, and a policy that does not take a quarter of an hour to see."""
    monkeypatch.setattr(alarm, "Wakes", lambda: Wakes(window=50, reminder=100))
    wakes: queue.Queue[str] = queue.Queue()

    def wake(watcher: str) -> None:
        wakes.put(threading.current_thread().name)

    with headsup.open(db, engine="component", on_wake=wake) as store:
        for target in (WORKER, "agent:main:other"):
            store.watch(MAIN, target)
            change(store, target)
        assert wakes.get() == threading.current_thread().name
        # The end of the window, and then reminders for as long as something is pending.
        assert [wakes.get(timeout=60) for _ in range(3)] == ["headsup-wakes"] * 3


@pytest.mark.skipif(sys.platform != "linux", reason="asks /proc what is open")
def test_an_opening_that_is_interrupted_in_a_callback_lets_the_file_go(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with headsup.open(path, engine="component") as store:
        store.watch(MAIN, WORKER)
        change(store)

    def interrupted(watcher: str, notice: Notice) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as raised:
        headsup.open(path, engine="component", on_notice=interrupted)
    # Its trace, and so the engine, is still there: it was closed, and not only collected.
    assert raised.value.__traceback__ is not None
    files = {os.path.realpath(f"/proc/self/fd/{number}") for number in os.listdir("/proc/self/fd")}
    assert not {file for file in files if file.startswith(str(path))}
