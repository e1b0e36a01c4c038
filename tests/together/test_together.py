"""One store, written by hosts in every language at the same time and one after the other, is the same for
all of them."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from programs import COMMAND, PROGRAMS, Program

SHARED = "agent:main:worker"
"""A session that all write to."""

FOUND = {
    name: command for name, find in PROGRAMS.items() if isinstance(command := find(), list)
}

pytestmark = pytest.mark.skipif(len(FOUND) < 2, reason="there is but one program on this machine")


def own(name: str) -> str:
    """A session that one program writes to."""
    return f"agent:main:{name.replace(' ', '-')}"


def watcher(name: str) -> str:
    """A session that watches the shared one."""
    return f"agent:{name.replace(' ', '-')}:main"


def change(session: str, number: int) -> dict[str, Any]:
    """What a record of a change asks for."""
    actor = {"type": "human", "id": "ana"}
    fields = {"kind": "goal_changed", "change": "updated", "runId": f"r{number}"}
    return {"session": session, "actor": actor, **fields}


@pytest.fixture
def db(tmp_path: Path) -> Path:
    return tmp_path / "shared.db"


@pytest.fixture
def all_of_them(db: Path) -> Iterator[list[Program]]:
    programs = [Program(name, command, db) for name, command in FOUND.items()]
    yield programs
    for program in programs:
        program.kill()


def compared(programs: list[Program], sessions: list[str]) -> dict[str, list[Any]]:
    """The logs of these sessions, which every program must see alike, and their versions with them."""
    first, *others = programs
    logs = {session: first.history(session) for session in sessions}
    versions = first.call("versions", sessions=sessions)
    assert versions["versions"] == [log[-1]["sequence"] for log in logs.values()]
    for other in others:
        assert other.call("versions", sessions=sessions) == versions, other.name
        for session, log in logs.items():
            assert other.history(session) == log, f"{other.name}: {session}"
    return logs


def doctor(db: Path) -> None:
    if COMMAND.is_file():
        checked = subprocess.run([COMMAND, "doctor", "--db", db], capture_output=True, text=True)
        assert checked.returncode == 0, checked.stdout + checked.stderr


def test_all_write_at_once_and_see_the_same(db: Path, all_of_them: list[Program]) -> None:
    rounds, burst = 8, 6
    for program in all_of_them:
        watched = program.call("watch", watcher=watcher(program.name), target=SHARED)
        assert watched == {"watched": True}
    given: list[int] = []
    for turn in range(rounds):
        # Nobody waits for anybody: all of these are under way at once.
        for program in all_of_them:
            for number in range(burst):
                session = SHARED if number % 2 else own(program.name)
                program.send("record", **change(session, turn * burst + number))
        for program in all_of_them:
            answers = [program.receive() for _ in range(burst)]
            assert all(answer["outcome"] == "recorded" for answer in answers), program.name
            versions = [answer["stateVersion"] for answer in answers]
            assert versions == sorted(versions), program.name
            given += versions
        # What was acknowledged is there for all.
        seen = [program.call("versions", sessions=[SHARED]) for program in all_of_them]
        assert seen == [seen[0]] * len(seen)
    assert sorted(given) == list(range(1, rounds * burst * len(all_of_them) + 1))
    sessions = [SHARED, *(own(program.name) for program in all_of_them)]
    logs = compared(all_of_them, sessions)
    assert sum(len(log) for log in logs.values()) == len(given)
    for program in all_of_them:
        program.end()
    doctor(db)


def test_a_notice_is_taken_by_one_and_acknowledged_by_another(
    db: Path, all_of_them: list[Program]
) -> None:
    names = [program.name for program in all_of_them]
    for program in all_of_them:
        program.call("watch", watcher=watcher(program.name), target=SHARED)
    for number, program in enumerate(all_of_them):
        program.call("record", **change(SHARED, number))
    pending = {"watchers": sorted(({"watcher": watcher(n), "notices": 1} for n in names), key=str)}
    for program in all_of_them:
        found = program.call("pending")["watchers"]
        assert {"watchers": sorted(found, key=str)} == pending, program.name
    for number, name in enumerate(names):
        taken = [p.call("take", watcher=watcher(name))["notices"] for p in all_of_them]
        assert taken == [taken[0]] * len(taken)
        (notice,) = taken[0]
        assert (notice["since"], notice["upTo"]) == (0, 1)
        # Another one than the one that made the watch, and then a late one.
        acknowledger = all_of_them[(number + 1) % len(all_of_them)]
        outcome = acknowledger.call("acknowledge", watcher=watcher(name), notices=[notice])
        assert outcome["acknowledged"] == 1, acknowledger.name
        assert [one["since"] for one in outcome["reopened"]] == [1]
        late = all_of_them[number].call("acknowledge", watcher=watcher(name), notices=[notice])
        assert late == {"acknowledged": 0, "reopened": []}
        drained = all_of_them[number].call("drain", watcher=watcher(name))
        assert [one["since"] for one in drained["notices"]] == [1]
    for program in all_of_them:
        assert program.call("pending") == {"watchers": []}, program.name
        watches = program.call("watches", target=SHARED)["watches"]
        assert [watch["lastSeen"] for watch in watches] == [len(names)] * len(names)
        program.end()
    doctor(db)


def test_one_after_the_other_goes_on_where_the_last_one_stopped(db: Path) -> None:
    version = 0
    log: list[Any] = []
    for turn, (name, command) in enumerate([*FOUND.items()] * 2):
        program = Program(name, command, db)
        try:
            if turn == 0:
                program.call("watch", watcher=watcher("first"), target=SHARED)
            else:
                assert program.history(SHARED) == log, name
                recovered = [one for one in program.heard if one["method"] == "notice"]
                assert [one["params"]["since"] for one in recovered] == [0], name
            answer = program.call("record", **change(SHARED, turn))
            assert answer == {"outcome": "recorded", "stateVersion": version + 1}, name
            version, log = version + 1, program.history(SHARED)
            assert len(log) == version
            program.end()
        finally:
            program.kill()
    doctor(db)


def test_a_killed_one_harms_no_other(db: Path, all_of_them: list[Program]) -> None:
    for victim in list(all_of_them):
        survivors = [program for program in all_of_them if program is not victim]
        answer = victim.call("record", **change(SHARED, 0))
        for number in range(10):
            victim.send("record", **change(SHARED, number))
        victim.kill()
        for program in survivors:
            assert program.call("versions", sessions=[SHARED])["versions"][0] >= answer["stateVersion"]
            assert program.call("record", **change(SHARED, 1))["outcome"] == "recorded"
        compared(survivors, [SHARED])
        all_of_them.remove(victim)
        all_of_them.append(Program(victim.name, FOUND[victim.name], db))
    for program in all_of_them:
        program.end()
    doctor(db)
