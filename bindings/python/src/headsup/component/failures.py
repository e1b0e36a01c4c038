"""What only a host can know of a call, as an exception and in words: the store failed, the core trapped
or took too long."""

from __future__ import annotations

import json

from ..contract import Case
from ..errors import CallFailed, HeadsupError, InvalidInput


class Failed(CallFailed):
    """A call that failed outside the core."""

    def __init__(self, failure: Case) -> None:
        reason, words = failure_words(failure)
        super().__init__(reason, words, code=-32000)
        self.failure = failure


def refusal(error: Case) -> HeadsupError:
    """The exception for the error side of a typed export."""
    if error.tag == "storage":
        return Failed(error)
    reason, field, message = error.value
    return InvalidInput(reason, message, code=-32602, field=field)


def store_word(fault: str) -> str:
    """The word on the wire for a fault of the store."""
    return fault if fault == "foreign-schema" else f"store-{fault}"


def failure_words(failure: Case) -> tuple[str, str]:
    """The word and the words for a failure outside the core, where no core says them."""
    match failure:
        case ("storage", (fault, message)):
            return store_word(fault), message
        case ("trap", words):
            return "plugin-trap", f"the core trapped: {words}"
        case ("timeout", ms):
            return "plugin-timeout", f"the core did not return within {ms} ms"
        case (tag, value):
            return tag, f"{tag}: {value}"
    raise AssertionError(failure)


def last_words(failure: Case) -> str:
    """Should no core be able to say it."""
    reason, message = failure_words(failure)
    error = {"code": -32000, "message": message, "data": {"reason": reason}}
    return json.dumps({"jsonrpc": "2.0", "id": None, "error": error})
