"""headsup: session state awareness for gateways of agent sessions.

    with headsup.open("headsup.db", on_wake=start_a_turn) as h:
        h.watch("agent:main:main", "agent:main:worker")

`docs/embedding/python.md` has the rest.
"""

from .api import AnySession, Headsup
from .errors import CallFailed, Closed, HeadsupError, InvalidInput, OpenError, Unavailable
from .opening import open as open
from .results import (
    Acknowledgement,
    Actor,
    Adoption,
    Changes,
    Checks,
    CoreInfo,
    Drained,
    Event,
    Feeding,
    Kind,
    Notice,
    Pending,
    Plan,
    Recording,
    Recovery,
    Removal,
    Session,
    Signal,
    Source,
    Status,
    Tool,
    ToolResult,
    Watch,
    Watching,
)

__version__ = "0.1.0"

# Without `open`: `from headsup import *` must not take the place of the built-in one.
__all__ = [
    "Acknowledgement",
    "Actor",
    "Adoption",
    "AnySession",
    "CallFailed",
    "Changes",
    "Checks",
    "Closed",
    "CoreInfo",
    "Drained",
    "Event",
    "Feeding",
    "Headsup",
    "HeadsupError",
    "InvalidInput",
    "Kind",
    "Notice",
    "OpenError",
    "Pending",
    "Plan",
    "Recording",
    "Recovery",
    "Removal",
    "Session",
    "Signal",
    "Source",
    "Status",
    "Tool",
    "ToolResult",
    "Unavailable",
    "Watch",
    "Watching",
]
