"""What was found of a source, in the contract's terms (`wit/sources.wit`, `found`)."""

from __future__ import annotations

import errno
import re

from ..contract import Case

REASON_BYTES = 256
"""The longest reason."""

MISSING = Case("missing")
UNCHANGED = Case("unchanged")

_CONTROL = re.compile("[\\x00-\\x1f\\x7f-\\x9f]")


def unavailable(why: object) -> Case:
    """It could not be read this time."""
    return Case("unavailable", _reason(why))


def refused(why: object) -> Case:
    """It may not be read by this host."""
    return Case("refused", _reason(why))


def is_absence(error: OSError) -> bool:
    """Whether this says that there is nothing of this name."""
    return error.errno in (errno.ENOENT, errno.ENOTDIR)


def words(error: OSError) -> str:
    """What the system says, without the path."""
    return error.strerror or type(error).__name__


def _reason(why: object) -> str:
    """Words on one line and within the contract's bound: a path may hold anything."""
    text = _CONTROL.sub(" ", str(why)).encode(errors="replace")
    return text[:REASON_BYTES].decode(errors="ignore")
