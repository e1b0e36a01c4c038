"""Where the time of a record goes in the component engine: for `record_cost`, and never in a call."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, TypeVar

from ..api import Headsup
from ..storage import Store
from . import answers, envelope, instance

Result = TypeVar("Result")

SAMPLE = 1_000
"""Records that are watched; fewer if fewer were asked for."""


class _Watch:
    """Adds up the time inside functions, each without the watched functions that it calls."""

    def __init__(self) -> None:
        self.spent: dict[str, int] = {}
        self._inner = [0]

    def around(self, part: str, act: Callable[..., Result]) -> Callable[..., Result]:
        def watched(*values: Any, **named: Any) -> Result:
            self._inner.append(0)
            start = time.perf_counter_ns()
            try:
                return act(*values, **named)
            finally:
                whole = time.perf_counter_ns() - start
                own = whole - self._inner.pop()
                self._inner[-1] += whole
                self.spent[part] = self.spent.get(part, 0) + own

        return watched


def parts(
    store: Headsup, run: Callable[[Headsup, int], int], records: int
) -> dict[str, int]:
    """The time of a run by what it is spent on, scaled to so many records: `looking` at the request,
    making the `values` of the call, `begin`, the `component` with the values of its imports, `storage`,
    `checking` the response, `commit`.

    Watching costs something itself, most where parts are small; what is not watched is `rest`.
    """
    watch, kept = _Watch(), []

    def replace(owner: Any, name: str, part: str) -> None:
        kept.append((owner, name, getattr(owner, name)))
        setattr(owner, name, watch.around(part, getattr(owner, name)))

    replace(Store, "begin_write", "begin")
    replace(Store, "commit", "commit")
    replace(instance.Instance, "_stored", "storage")
    replace(instance, "_call", "component")
    replace(instance.Instance, "call", "values")
    replace(envelope, "look", "looking")
    replace(answers, "check", "checking")
    try:
        sample = min(SAMPLE, records)
        whole = run(store, sample)
    finally:
        for owner, name, act in kept:
            setattr(owner, name, act)
    watch.spent["rest"] = whole - sum(watch.spent.values())
    return {part: spent * records // sample for part, spent in watch.spent.items()}
