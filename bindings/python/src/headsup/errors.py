"""Why a call or an opening failed, in types for programs and in words for people."""

from __future__ import annotations

from typing import Any


class HeadsupError(Exception):
    """Why something failed. Whatever it is, the call changed nothing."""

    def __init__(
        self, reason: str, message: str, *, code: int | None = None, field: str | None = None
    ) -> None:
        super().__init__(message)
        self.reason = reason
        """The stable kebab-case word, as in `docs/api.md`: `agent-required`, `store-busy`."""
        self.code = code
        """The code of JSON-RPC: -32602 for bad input, -32000 for a failure of the store or the core.
        `None` where there was no response: at the opening."""
        self.field = field
        """The path of the field that is at fault, if one is: `signals[3].actor.id`."""
        self.message = message
        """What is wrong and what to do."""

    @staticmethod
    def of(error: dict[str, Any]) -> HeadsupError:
        """The exception for the `error` of a response."""
        data = error.get("data", {})
        kind = _KINDS.get(error["code"], InvalidInput)
        return kind(
            data.get("reason", "failed"),
            error["message"],
            code=error["code"],
            field=data.get("field"),
        )


class InvalidInput(HeadsupError):
    """The input was refused: which field, why, and what to do."""


class CallFailed(HeadsupError):
    """The store or the core failed: `store-busy`, `store-full`, `plugin-trap`, `plugin-timeout`, ..."""


class Unavailable(HeadsupError):
    """This host, as it was opened, does not offer the method; or there is no such method."""


class OpenError(HeadsupError):
    """The store cannot be opened or the core not be loaded: what is wrong, and what to do."""


class Closed(HeadsupError):
    """The store was closed."""

    def __init__(self) -> None:
        super().__init__("closed", "the store was closed; open it again")


_KINDS: dict[int, type[HeadsupError]] = {-32000: CallFailed, -32601: Unavailable}
