"""The values that cross between a core and its host, as `wit/` names them.

Records are named tuples with the members of the WIT record in its order, so that the component
engine can pass them on by place; a test compares them with the component's own types. Enums are
their words, options are `None` or the value, and a variant is a `Case`.

Times are in ms since the Unix epoch; sequences and times lie between 0 and 2^53 - 1.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

LARGEST = (1 << 53) - 1
"""The largest number that every language holds exactly."""

Fault = Literal["busy", "full", "corrupt", "read-only", "too-new", "foreign-schema", "failed"]
Provenance = Literal["spawn", "explicit", "ambient"]
Level = Literal["error", "warn", "info", "debug"]


class Case(NamedTuple):
    """A case of a variant: its name, and what it holds or `None`."""

    tag: str
    value: Any = None


class Session(NamedTuple):
    key: str
    agent: str


class Notice(NamedTuple):
    target: Session
    since: int
    up_to: int
    text: str


class Opening(NamedTuple):
    watcher: str
    notice: Notice
    delivery: Literal["announce", "announce-and-wake", "wake"]


class PendingNotice(NamedTuple):
    notice: Notice
    wakes: bool


class StorageFault(NamedTuple):
    fault: Fault
    message: str


class InvalidInput(NamedTuple):
    reason: str
    field: str
    message: str


class Entry(NamedTuple):
    session: Session
    kind: str
    actor_type: str
    actor_id: str | None
    occurred_at: int
    summary: str
    session_id: str | None
    run_id: str | None
    payload: str | None
    dedupe_key: str | None


class Row(NamedTuple):
    sequence: int
    entry: Entry


class Notifying(NamedTuple):
    newest: int
    actor: str | None
    other: int


class Head(NamedTuple):
    version: int
    watermark: int
    notifying: Notifying | None
    moved_at: int


class Positions(NamedTuple):
    last_seen: int
    notified: int
    provenance: Provenance


class Pair(NamedTuple):
    watcher: str
    target: Session


class Cursor(NamedTuple):
    pair: Pair
    state: Case
    """`live` with `Positions`, or `unwatched`."""
    moved_at: int


class AppendRequest(NamedTuple):
    entry: Entry
    only_if_watched: bool
    settled: bool
    named: list[str]


class Appended(NamedTuple):
    sequence: int
    head: Head | None
    cursors: list[Cursor]


class HeadChange(NamedTuple):
    session: Session
    head: Head


class Changes(NamedTuple):
    heads: list[HeadChange]
    cursors: list[Cursor]


class Watched(NamedTuple):
    cursor: Cursor
    head: Head | None


class PairState(NamedTuple):
    cursor: Cursor | None
    head: Head | None


class LogPage(NamedTuple):
    head: Head | None
    restored_at: int
    rows: list[Row]


class Source(NamedTuple):
    kind: str
    place: str
    thread: str | None


class Link(NamedTuple):
    source: Source
    catalog: str
    generation: int
    revision: int
    misses: int
    claimed: bool
    state: str


class Upstream(NamedTuple):
    session: Session
    link: Link | None
    sent: str
    running_until: int
    watched: bool


class ClaimRequest(NamedTuple):
    kinds: list[str]
    now: int
    running_at_most: int
    until: int
    claimed_too: bool


class PruneRequest(NamedTuple):
    occurred_before: int | None
    keep_rows: int
    moved_before: int | None
    at_most: int


class Pruning(NamedTuple):
    events: int
    cursors: int
    more: bool


class Removal(NamedTuple):
    cursors: int
    events: int


class PendingCount(NamedTuple):
    watcher: str
    notices: int


class Setting(NamedTuple):
    name: str
    value: str


class Recovery(NamedTuple):
    pending: int
    pruned: int


class Method(NamedTuple):
    name: str
    access: Literal["reads", "writes", "depends", "host"]


class Metadata(NamedTuple):
    name: str
    version: str
    protocol: str


class Datetime(NamedTuple):
    seconds: int
    nanoseconds: int


class FileRead(NamedTuple):
    places: list[str]
    start: int
    at_most: int
    stamp: str | None


class FileFound(NamedTuple):
    identity: str
    stamp: str | None
    size: int
    modified_at: int
    head: bytes
    start: int
    bytes: bytes


class Plan(NamedTuple):
    session: Session
    source: Source
    revision: int
    file: FileRead | None


class Check(NamedTuple):
    finding: str
    turns: int
    state_version: int | None


class Tally(NamedTuple):
    checked: int
    activity: int
    missing: int
    failed: int
