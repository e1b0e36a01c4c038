"""Where the sources are, when the package runs out of a checkout and not out of a wheel."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path


@lru_cache(maxsize=1)
def checkout() -> Path | None:
    """The root of the checkout that this package is a part of, if it is one."""
    for folder in Path(__file__).resolve().parents:
        if (folder / "wit" / "world.wit").is_file() and (folder / "host" / "sql").is_dir():
            return folder
    return None
