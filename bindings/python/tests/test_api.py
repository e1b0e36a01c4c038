"""Every method with typed values, and what is refused, by both engines."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import headsup
from conftest import ROOT
from headsup import Actor, Headsup, Session, Signal, Source
from headsup.opening import EngineName

MAIN, WORKER = "agent:main:main", "agent:main:worker"
HUMAN = Actor("human", "ana")


def test_a_signal_opens_a_notice_that_is_taken_and_acknowledged(opened: Headsup) -> None:
    assert opened.watch(MAIN, WORKER) == headsup.Watching(True)
    recording = opened.record(WORKER, "goal_changed", HUMAN, change="updated")
    assert recording == headsup.Recording("recorded", 1)
    notices = opened.take(MAIN)
    assert [(n.target, n.agent, n.since, n.up_to) for n in notices] == [(WORKER, "main", 0, 1)]
    assert opened.pending() == [headsup.Pending(MAIN, 1)]
    opened.record(WORKER, "human_direct_message", HUMAN, channel="telegram", turns=2)
    outcome = opened.acknowledge(MAIN, notices)
    assert outcome.acknowledged == 1 and [n.since for n in outcome.reopened] == [1]
    assert [n.up_to for n in opened.drain(MAIN).notices] == [2]
    assert opened.drain(MAIN) == headsup.Drained((), ())


def test_what_changed_after_a_version_comes_typed(opened: Headsup) -> None:
    opened.record(WORKER, "run_failed", HUMAN, run_id="r1", outcome="timeout", occurred_at=-5)
    opened.record(WORKER, "goal_changed", Actor("system"), change="cleared")
    assert opened.status(WORKER) == headsup.Status(2)
    status = opened.status(WORKER, changes_since=0, limit=1)
    assert status.state_changes is not None and status.state_changes.truncated
    (event,) = status.state_changes.events
    assert event == headsup.Event(
        1, "run_failed", "human", 0, "child run timed out", "ana", "r1", {"outcome": "timeout"}
    )
    assert opened.versions([WORKER, Session("global", "ops")]) == [2, None]


def test_many_signals_are_one_transaction(opened: Headsup) -> None:
    created = Signal(WORKER, "created", HUMAN, session_id="s1")
    again = Signal(Session(WORKER, "main"), "created", HUMAN, session_id="s1")
    spawned = Signal(WORKER, "child_spawned", HUMAN, run_id="r1", watchers=(MAIN,))
    outcomes = [recording.outcome for recording in opened.record_many([created, again, spawned])]
    assert outcomes == ["recorded", "duplicate", "recorded"]
    bad = Signal(WORKER, "run_completed", HUMAN)
    with pytest.raises(headsup.InvalidInput) as refused:
        opened.record_many([created, bad])
    assert refused.value.field == "signals[1].runId"
    assert opened.status(WORKER).state_version == 2


def test_watches_are_listed_from_either_side(opened: Headsup) -> None:
    opened.watch(MAIN, WORKER, ambient=True)
    (watch,) = opened.watches_of(MAIN)
    assert watch == opened.watches_on(WORKER)[0]
    assert (watch.target, watch.provenance, watch.pending) == (WORKER, "ambient", False)
    assert opened.unwatch(MAIN, WORKER) and not opened.unwatch(MAIN, WORKER)
    unwatchable = opened.watch("global", WORKER)
    assert unwatchable == headsup.Watching(False, "not-agent-qualified")


def test_sessions_start_over_and_go(opened: Headsup) -> None:
    opened.watch(MAIN, WORKER)
    opened.record(WORKER, "goal_changed", HUMAN, change="updated")
    assert opened.recover() == headsup.Recovery(pending=1, pruned=0)
    assert opened.reset(MAIN) == headsup.Removal(cursors=1, events=0)
    assert opened.delete(WORKER) == headsup.Removal(cursors=0, events=1)
    gone = opened.status(WORKER, changes_since=0).state_changes
    assert gone is not None and gone.history_gap


def test_threads_on_nodes_are_planned_and_fed(opened: Headsup) -> None:
    source = Source.claude_node("mac-1", "t-1")
    adoption = opened.adopt(WORKER, source, "claude", host="mac-1", thread="t")
    assert adoption.adopted and not opened.adopt(WORKER, source, "claude").adopted
    opened.sent(WORKER, "Please run the tests.")
    opened.busy(WORKER, False)
    opened.watch(MAIN, WORKER)
    assert opened.check_upstreams() == headsup.Checks(0, 0, 0, 0)
    (plan,) = opened.plan_upstreams()
    assert plan.source == source and plan.items == 50
    assert opened.feed_upstream(plan, items=[]).finding == "quiet"
    assert opened.feed_upstream(plan, unavailable=True).finding == "superseded"
    opened.clock(60_000)
    (plan,) = opened.plan_upstreams()
    row = {"type": "user", "message": {"role": "user", "content": "hello"}, "uuid": "u1"}
    fed = opened.feed_upstream(plan, items=[row, json.dumps({**row, "uuid": "u2"})])
    assert (fed.finding, fed.turns) == ("activity", 2)


def test_tools_are_for_agents(opened: Headsup) -> None:
    names = {tool.name: tool for tool in opened.tools()}
    assert "sessionKey" in names["session_status"].input_schema["properties"]
    watched = opened.call_tool("sessions_watch", {"sessionKey": WORKER}, MAIN)
    assert watched.structured == {"watched": True} and json.loads(watched.text) == {"watched": True}
    wrong = opened.call_tool("session_status", {"sessionKey": "global"}, MAIN)
    assert wrong.is_error and wrong.structured["error"]["reason"] == "agent-required"


def test_bad_input_names_its_reason_its_field_and_its_code(opened: Headsup) -> None:
    with pytest.raises(headsup.InvalidInput) as refused:
        opened.status("global")
    error = refused.value
    assert (error.reason, error.field) == ("agent-required", "session.agent")
    assert error.code == -32602 and "agent" in error.message and str(error) == error.message
    with pytest.raises(headsup.InvalidInput) as typed:
        opened.status(WORKER, changes_since=-1)
    assert (typed.value.reason, typed.value.field) == ("invalid-version", "changesSince")
    with pytest.raises(headsup.InvalidInput, match="turns"):
        opened.record(WORKER, "human_direct_message", HUMAN, turns=0)


def test_raw_requests_get_raw_responses(opened: Headsup) -> None:
    call = {"jsonrpc": "2.0", "id": "x", "method": "pending"}
    answer = {"jsonrpc": "2.0", "id": "x", "result": {"watchers": []}}
    assert json.loads(opened.call(call) or "") == answer
    assert json.loads(opened.call([call, call]) or "") == [answer, answer]
    del call["id"]
    assert opened.call(json.dumps(call)) is None and opened.call(" \t") is None
    broken_ones: list[tuple[str | bytes, str]] = [
        (b"\xff", "not-utf8"),
        ("{", "malformed-json"),
        ("\ud800", "not-utf8"),
    ]
    for broken, reason in broken_ones:
        error = json.loads(opened.call(broken) or "")["error"]
        assert error["data"]["reason"] == reason
    long = json.loads(opened.call(b" " * (4 << 20) + b"{}") or "")["error"]["data"]["reason"]
    assert long == "too-long"
    many = json.loads(opened.call([1] * 1_001) or "")["error"]["data"]["reason"]
    assert many == "too-many"


def test_the_clock_moves_only_where_it_is_manual(engine: EngineName, opened: Headsup) -> None:
    assert opened.clock(1_790_000_000_000) == 1_790_000_000_000
    with headsup.open(":memory:", engine=engine) as real:
        with pytest.raises(headsup.Unavailable) as refused:
            real.clock(5)
    assert (refused.value.reason, refused.value.code) == ("unavailable", -32601)


def test_a_closed_store_says_so(engine: EngineName, db: Path) -> None:
    store = headsup.open(db, engine=engine)
    store.close()
    store.close()
    for act in (store.pending, store.core, lambda: store.swap(None), lambda: store.call("{}")):
        with pytest.raises(headsup.Closed):
            act()


def test_a_plugin_of_somebody_else_serves_and_is_swapped(engine: EngineName, db: Path) -> None:
    plugin = ROOT / "target" / "guest" / "headsup.wasm"
    with headsup.open(db, engine=engine, plugin=plugin) as store:
        assert store.core().name == "headsup"
        store.record(WORKER, "created", HUMAN)
        store.swap(plugin)
        store.swap(None)
        assert store.status(WORKER).state_version == 1


@pytest.mark.parametrize("wasm", [b"", b"no component", b"\0asm\x0d\0\1\0", b"\0asm\1\0\0\0"])
def test_what_is_no_core_is_refused(wasm: bytes, engine: EngineName, tmp_path: Path) -> None:
    plugin = tmp_path / "plugin.wasm"
    plugin.write_bytes(wasm)
    with pytest.raises(headsup.OpenError) as refused:
        headsup.open(":memory:", engine=engine, plugin=plugin)
    assert refused.value.reason == "plugin-refused"
    with headsup.open(":memory:", engine=engine) as store:
        with pytest.raises(headsup.OpenError):
            store.swap(plugin)
        assert store.pending() == []


def test_an_engine_or_durability_that_there_is_not_is_refused() -> None:
    with pytest.raises(headsup.OpenError, match="engine"):
        headsup.open(":memory:", engine="quantum")  # type: ignore[arg-type]
    with pytest.raises(headsup.OpenError, match="durability"):
        headsup.open(":memory:", durability="most")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "name, value",
    [
        ("busy_timeout", -1),
        ("busy_timeout", 0),
        ("busy_timeout", float("nan")),
        ("busy_timeout", float("inf")),
        ("busy_timeout", "5"),
        ("busy_timeout", 601),
        ("deadline", 0.001),
        ("deadline", 1e12),
        ("manual_clock", -1),
        ("manual_clock", 1.5),
        ("manual_clock", 2**53),
        ("manual_clock", True),
        ("monitor", "no"),
        ("plugin", 7),
        ("plugin", "\udcff"),
        ("source_folders", "/folder"),
        ("source_folders", ["relative"]),
        ("source_folders", [7]),
        ("on_notice", 7),
        ("on_wake", "x"),
        ("path", b"bytes.db"),
        ("path", ""),
        ("path", "a\0b"),
        ("path", "\ud800.db"),
    ],
)
def test_a_choice_that_cannot_be_is_refused_by_name_by_either_engine(
    engine: EngineName, name: str, value: object
) -> None:
    choices: dict[str, Any] = {"path": ":memory:", "engine": engine, name: value}
    with pytest.raises(headsup.OpenError, match=f"^{name}: ") as refused:
        headsup.open(**choices)
    assert refused.value.reason == "invalid-configuration"
