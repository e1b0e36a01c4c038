"""Values between Python's spelling and that of JSON: `state_version` is `stateVersion` there, and what
is `None` is left out."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import fields
from functools import lru_cache
from typing import Any, TypeVar

from .results import Changes, Event, Notice, Plan, Session, Signal, Source, Status

Made = TypeVar("Made")


@lru_cache(maxsize=None)
def camel(name: str) -> str:
    """`run_id` as `runId`."""
    return re.sub("_([a-z])", lambda found: found[1].upper(), name)


def members(**values: object) -> dict[str, Any]:
    """The members of an object; what is `None` is left out."""
    return {camel(name): value for name, value in values.items() if value is not None}


_known: dict[type, list[tuple[str, str]]] = {}


def _names(made: type[Any]) -> list[tuple[str, str]]:
    """The fields of a dataclass, each with its name in JSON."""
    if made not in _known:
        _known[made] = [(field.name, camel(field.name)) for field in fields(made)]
    return _known[made]


def given(value: Any) -> dict[str, Any]:
    """A flat dataclass as JSON."""
    found = ((theirs, getattr(value, ours)) for ours, theirs in _names(type(value)))
    return {name: one for name, one in found if one is not None}


def taken(made: type[Made], found: Mapping[str, Any]) -> Made:
    """A flat dataclass out of JSON; what is left out has its default."""
    return made(**{ours: found[theirs] for ours, theirs in _names(made) if theirs in found})


def session(value: str | Session) -> str | dict[str, Any]:
    return value if isinstance(value, str) else given(value)


def signal(value: Signal) -> dict[str, Any]:
    found = given(value)
    found["session"] = session(value.session)
    found["actor"] = given(value.actor)
    if value.watchers:
        found["watchers"] = list(value.watchers)
    else:
        del found["watchers"]
    return found


def notices(found: list[dict[str, Any]]) -> tuple[Notice, ...]:
    return tuple(taken(Notice, notice) for notice in found)


def status(found: dict[str, Any]) -> Status:
    changes = found.get("stateChanges")
    if changes is None:
        return Status(found["stateVersion"])
    events = tuple(taken(Event, event) for event in changes["events"])
    whole = Changes(events, changes["truncated"], changes["historyGap"])
    return Status(found["stateVersion"], whole)


def plan(found: dict[str, Any]) -> Plan:
    return Plan(
        taken(Session, found["session"]),
        taken(Source, found["source"]),
        found["items"],
        found["revision"],
    )


def planned(value: Plan) -> dict[str, Any]:
    return {
        "session": given(value.session),
        "source": given(value.source),
        "items": value.items,
        "revision": value.revision,
    }
