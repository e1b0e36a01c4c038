"""The core of `bindings/plugin-template`, in which one rule is another: the file that every host loads."""

from __future__ import annotations

from pathlib import Path

import pytest

import headsup
from conftest import TEMPLATE
from headsup import Actor
from headsup.opening import EngineName

MAIN, OPS, WORKER = "agent:main:main", "agent:ops:main", "agent:main:worker"

pytestmark = pytest.mark.skipif(not TEMPLATE.is_file(), reason="the template is not built")


def test_a_goal_that_a_main_agent_changes_tells_nobody_and_a_humans_does(
    engine: EngineName, db: Path
) -> None:
    with headsup.open(db, engine=engine, plugin=TEMPLATE) as store:
        store.watch(OPS, WORKER)
        store.record(WORKER, "goal_changed", Actor("agent", MAIN), change="updated")
        assert store.take(OPS) == []
        store.record(WORKER, "goal_changed", Actor("human"), change="updated")
        assert [notice.up_to for notice in store.take(OPS)] == [2]


def test_the_rule_comes_and_goes_with_the_core(engine: EngineName, db: Path) -> None:
    with headsup.open(db, engine=engine) as store:
        store.watch(OPS, WORKER)
        for plugin, told in ((TEMPLATE, 0), (None, 1)):
            store.swap(plugin)
            store.record(WORKER, "goal_changed", Actor("agent", MAIN), change="updated")
            assert len(store.take(OPS)) == told
