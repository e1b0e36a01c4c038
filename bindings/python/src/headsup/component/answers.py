"""Asking a core for the response to a request, and telling whether it is one: a core may be anybody's."""

from __future__ import annotations

from typing import Any

from ..contract import Case
from . import envelope
from .desk import Body
from .instance import SWOLLEN, Instance, Trapped

RESPONSE_BYTES = 64 << 20
"""Longest response that a core may give."""

_NO_RESPONSE = "the core returned something that is not a JSON object on one line"
_SILENCE = "the core returned no response to a request that has an id"


def asking(
    seen: envelope.Envelope, deadline: int, function: str, request: str, *values: Any
) -> Body:
    """What asks the core for a response, and counts an answer that is none as a trap."""

    def body(instance: Instance) -> Case:
        answer: Case = instance.call("wire", function, request, *values, deadline_ms=deadline)
        instance.is_swollen |= max(map(size, (request, answer.value, *values))) > SWOLLEN
        check(seen, answer.value)
        return answer

    return body


def size(value: Any) -> int:
    """About how many bytes a value takes in the core, where that can be many."""
    match value:
        case str():
            return len(value)
        case Case("file", found):
            return len(found.head) + len(found.bytes)
        case Case(_, value):
            return size(value)
        case _:
            return 0


def check(seen: envelope.Envelope, response: str | None) -> None:
    if response is None:
        if seen.wants_response:
            raise Trapped(Case("trap", _SILENCE))
    elif len(response) > RESPONSE_BYTES or not envelope.is_response(response):
        raise Trapped(Case("trap", _NO_RESPONSE))
