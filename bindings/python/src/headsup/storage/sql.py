"""The SQL of `host/sql/`: packaged copies made when the wheel is built, or the checkout's own files.

A statement is named after its file, `append/insert`; its values are given under the names that its
text has.
"""

from __future__ import annotations

from functools import lru_cache
from importlib import resources
from importlib.resources.abc import Traversable

from ..checkout import checkout


@lru_cache(maxsize=1)
def _folder() -> Traversable:
    packaged = resources.files("headsup") / "data" / "sql"
    if packaged.is_dir():
        return packaged
    root = checkout()
    if root is None:
        raise RuntimeError("this headsup was packaged without its SQL; install it again")
    return root / "host" / "sql"


@lru_cache(maxsize=None)
def statement(name: str) -> str:
    """The text of a statement, without the comment that opens its file: SQLite's cache looks it up
    by its text at each use."""
    file = _folder()
    for part in f"{name}.sql".split("/"):
        file = file / part
    lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
    while lines and lines[0].startswith("--"):
        del lines[0]
    return "".join(lines)
