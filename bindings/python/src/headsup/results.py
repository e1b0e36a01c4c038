"""What the methods take and return. Names and meanings are those of `docs/api.md`, in Python's
spelling; times are in ms since the Unix epoch, versions are state versions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

Kind = Literal[
    "human_direct_message",
    "upstream_missing",
    "goal_changed",
    "child_spawned",
    "run_completed",
    "run_failed",
    "compacted",
    "adopted",
    "created",
]


@dataclass(frozen=True, slots=True)
class Session:
    """A session: its key, and its agent where that does not follow from the key."""

    key: str
    agent: str | None = None


@dataclass(frozen=True, slots=True)
class Actor:
    """Who caused a signal."""

    type: Literal["human", "agent", "system"]
    id: str | None = None


@dataclass(frozen=True, slots=True)
class Signal:
    """A state change to record. Which fields a kind needs stands in `docs/api.md`."""

    session: str | Session
    kind: Kind
    actor: Actor
    channel: str | None = None
    turns: int | None = None
    change: Literal["created", "updated", "cleared"] | None = None
    outcome: Literal["error", "timeout", "cancelled"] | None = None
    catalog: str | None = None
    host: str | None = None
    run_id: str | None = None
    operation_id: str | None = None
    session_id: str | None = None
    occurred_at: int | None = None
    dedupe_key: str | None = None
    watchers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Recording:
    """What became of a signal. Recording is best effort: `failed` says why, and was logged."""

    outcome: Literal["recorded", "duplicate", "unwatched", "failed"]
    state_version: int | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Watching:
    """The answer to `watch`."""

    watched: bool
    reason: Literal["not-agent-qualified", "watcher-is-target"] | None = None


@dataclass(frozen=True, slots=True)
class Watch:
    """A live watch with its three positions: `last_seen <= notified <= material`."""

    watcher: str
    target: str
    agent: str
    provenance: Literal["spawn", "explicit", "ambient"]
    last_seen: int
    notified: int
    material: int
    pending: bool
    expires_at: int


@dataclass(frozen=True, slots=True)
class Notice:
    """This target changed behind the watcher's back; ask for the changes after `since`."""

    target: str
    agent: str
    since: int
    up_to: int
    text: str
    """One line for the agent."""


@dataclass(frozen=True, slots=True)
class Acknowledgement:
    """How many notices moved a cursor, and what opened for what had changed further."""

    acknowledged: int
    reopened: tuple[Notice, ...]


@dataclass(frozen=True, slots=True)
class Drained:
    """What was pending and is acknowledged now, and what opened for what had changed further."""

    notices: tuple[Notice, ...]
    reopened: tuple[Notice, ...]


@dataclass(frozen=True, slots=True)
class Pending:
    """How many notices a watcher has pending."""

    watcher: str
    notices: int


@dataclass(frozen=True, slots=True)
class Event:
    """A recorded signal."""

    sequence: int
    kind: Kind
    actor_type: Literal["human", "agent", "system"]
    occurred_at: int
    summary: str
    actor_id: str | None = None
    run_id: str | None = None
    payload: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Changes:
    """What changed after a version."""

    events: tuple[Event, ...]
    truncated: bool
    """There is more: ask again after the last event's sequence."""
    history_gap: bool
    """The delta is not whole: refresh the whole session instead of trusting it."""


@dataclass(frozen=True, slots=True)
class Status:
    """A session's state version, and what changed if that was asked for."""

    state_version: int
    state_changes: Changes | None = None


@dataclass(frozen=True, slots=True)
class Removal:
    """What went with a session."""

    cursors: int
    events: int


@dataclass(frozen=True, slots=True)
class Recovery:
    """Notices that were announced again, and events that pruning removed before."""

    pending: int
    pruned: int


@dataclass(frozen=True, slots=True)
class Source:
    """Where an adopted session really lives. Made by one of its three functions."""

    kind: Literal["claude-jsonl", "codex-jsonl", "claude-node"]
    path: str | None = None
    node: str | None = None
    thread: str | None = None

    @staticmethod
    def claude_file(path: str) -> Source:
        """A Claude Code transcript on this machine, by its absolute path."""
        return Source("claude-jsonl", path=path)

    @staticmethod
    def codex_file(path: str) -> Source:
        """A Codex rollout on this machine, by its absolute path."""
        return Source("codex-jsonl", path=path)

    @staticmethod
    def claude_node(node: str, thread: str) -> Source:
        """A Claude thread on a paired node, which the gateway reads."""
        return Source("claude-node", node=node, thread=thread)


@dataclass(frozen=True, slots=True)
class Adoption:
    """Whether a link was made, and the session's state version. Not: the session lived there
    already, and its position was kept."""

    adopted: bool
    state_version: int


@dataclass(frozen=True, slots=True)
class Checks:
    """How many links a check of all of them found in which state."""

    checked: int
    activity: int
    missing: int
    failed: int


@dataclass(frozen=True, slots=True)
class Plan:
    """What the gateway has to read: so many of the newest items of a thread on a node."""

    session: Session
    source: Source
    items: int
    revision: int


@dataclass(frozen=True, slots=True)
class Feeding:
    """What a check of a thread found."""

    finding: Literal["quiet", "activity", "missed", "missing", "unavailable", "superseded"]
    turns: int | None = None
    state_version: int | None = None


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool to give to agents, in the shape of the Model Context Protocol."""

    name: str
    title: str
    description: str
    input_schema: dict[str, Any]
    annotations: dict[str, Any]


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What to answer an agent that called a tool."""

    text: str
    structured: dict[str, Any]
    is_error: bool
    """What the agent got wrong; it can read it and try again."""


@dataclass(frozen=True, slots=True)
class CoreInfo:
    """Which core serves, as it says itself."""

    name: str
    version: str
    protocol: str
