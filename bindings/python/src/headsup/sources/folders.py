"""The folders that sources may be read from."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from ..contract import Case
from .found import MISSING, is_absence, refused, unavailable, words


def user_folders() -> list[str]:
    """Where the tools of this user keep their sessions: `$CLAUDE_CONFIG_DIR`, or `.claude` in the
    home folder; `$CODEX_HOME`, or `.codex` there."""
    home = os.path.expanduser("~")
    given = (("CLAUDE_CONFIG_DIR", ".claude"), ("CODEX_HOME", ".codex"))
    return [os.environ.get(variable) or os.path.join(home, name) for variable, name in given]


class Folders:
    """The allowed folders of one read. They are looked up each time, so that one may come later; a
    file counts as missing only if its folder is there: an unmounted disk takes no session's source
    away."""

    def __init__(self, given: Iterable[str]) -> None:
        self._given = [Path(folder) for folder in given]

    def admit(self, real: Path, place: Path) -> Case | None:
        """Refuses a path without symbolic links that lies in none of them; `None` if it does in one.

        Those that the path was written with are looked up first: another one, on a disk that hangs,
        is then no concern of it.
        """
        trouble = None
        for folder in sorted(self._given, key=lambda folder: not place.is_relative_to(folder)):
            try:
                if real.is_relative_to(_root(folder)):
                    return None
            except OSError as error:
                if not is_absence(error):
                    trouble = f"the folder {folder}: {words(error)}"
        return self._outside() if trouble is None else unavailable(trouble)

    def absent(self, place: Path, reached: Path) -> Case:
        """What it means that nothing of a name is there, where `reached` is the deepest folder on
        the way that is."""
        found = self.admit(reached, place)
        if found is None:
            # Something else in the place of an allowed folder is as if that was not there.
            if not reached.is_dir() and any(_is_at(folder, reached) for folder in self._given):
                return unavailable(f"{reached} is no folder")
            return MISSING
        return self.away(place) or found if found.tag == "refused" else found

    def away(self, place: Path) -> Case | None:
        """What it means that an allowed folder which the place is in, as it is written, is not
        there."""
        for folder in self._given:
            if place.is_relative_to(folder):
                try:
                    _root(folder)
                except OSError:
                    return unavailable(f"the folder {folder} is not there")
        return None

    def _outside(self) -> Case:
        folders = ", ".join(str(folder) for folder in self._given)
        beyond = "it lies, or a symbolic link leads, outside the folders that are allowed"
        return refused(f"{beyond}: {folders}" if folders else beyond)


def _root(folder: Path) -> Path:
    """An allowed folder without symbolic links."""
    # A relative path would depend on where the process was started.
    if not folder.is_absolute():
        raise NotADirectoryError(20, "it is no absolute path")
    return Path(os.path.realpath(folder, strict=True))


def _is_at(folder: Path, real: Path) -> bool:
    try:
        return _root(folder) == real
    except OSError:
        return False
