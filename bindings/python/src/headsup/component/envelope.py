"""As much of JSON-RPC as a host has to know: which method a request asks for, whether somebody waits
for a response, where the requests of a batch end. What a request means is the core's business."""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

_BLANK = b" \t\r"

# A string, a bracket, or a comma: all that matters for where an element ends.
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{},]', re.DOTALL)


class Envelope(NamedTuple):
    """What a request says of itself."""

    method: str
    """Empty if it is no request at all: the core refuses it, for which any connection will do. Of
    several, the last one counts."""
    wants_response: bool
    """All but a request without an id."""


def look(request: str) -> Envelope:
    """Looks at a request, which may be anything."""
    members = _parsed(request)
    if not isinstance(members, dict):
        return Envelope("", True)
    method = members.get("method")
    return Envelope(method if isinstance(method, str) else "", "id" in members)


def is_response(response: str) -> bool:
    """Whether this can be sent as a line: one JSON object."""
    if not response.startswith("{") or "\n" in response or "\r" in response:
        return False
    return isinstance(_parsed(response), dict)


def is_blank(line: bytes) -> bool:
    """Whether there is nothing on a line."""
    return not line.strip(_BLANK)


def batch(line: bytes) -> list[str] | None:
    """The requests of a batch, as they are written; `None` if the line is no batch, or an empty
    one."""
    if not line.lstrip(_BLANK).startswith(b"["):
        return None
    try:
        text = line.decode()
        elements = json.loads(text, parse_constant=_no_constant, parse_int=str, parse_float=str)
    except RecursionError:
        # Nested too deep for Python to look into: each element is the core's to refuse.
        elements = True
    except ValueError:
        return None
    return _split(text) if elements else None


def _split(text: str) -> list[str] | None:
    """The elements of a list; `None` if it does not end."""
    depth, start = 0, 0
    elements: list[str] = []
    for token in _TOKEN.finditer(text):
        match token.group():
            case "[" | "{":
                depth += 1
                if depth == 1:
                    start = token.end()
            case "]" | "}":
                depth -= 1
                if depth == 0:
                    elements.append(text[start : token.start()].strip(" \t\r\n"))
            case "," if depth == 1:
                elements.append(text[start : token.start()].strip(" \t\r\n"))
                start = token.end()
    return elements if depth == 0 else None


def _parsed(text: str) -> Any:
    """What the text says; `None` if it is no JSON, or nested too deep. Numbers are not looked at: a
    long one would take long."""
    try:
        return json.loads(text, parse_constant=_no_constant, parse_int=str, parse_float=str)
    except (ValueError, RecursionError):
        return None


def _no_constant(word: str) -> None:
    raise ValueError(f"{word} is not JSON")
