"""Finding a file without opening it: opening a pipe or a device may wait for ever."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import NamedTuple

from ..contract import Case
from . import system
from .folders import Folders
from .found import MISSING, is_absence, refused, unavailable, words

LINKS = 40
"""Most symbolic links that are followed to find out where one leads that leads nowhere."""


class Located(NamedTuple):
    """A regular file inside an allowed folder: its path without symbolic links, and what the system
    says of it."""

    real: Path
    status: system.Status


def locate(place: Path, folders: Folders) -> Located | Case:
    """Finds the regular file at this place, or says what there is instead."""
    if not place.is_absolute():
        return refused("the path is not absolute")
    try:
        real = Path(os.path.realpath(place, strict=True))
    except ValueError:
        return refused("the path has a character that no path has")
    except OSError as error:
        return _unreached(place, folders, error)
    outside = folders.admit(real, place)
    if outside is not None:
        return outside
    try:
        status = system.look(str(real))
    except OSError as error:
        return _unreached(place, folders, error)
    if stat.S_ISREG(status.of.st_mode):
        return Located(real, status)
    # A link took its place since.
    return unavailable("it was just replaced") if stat.S_ISLNK(status.of.st_mode) else MISSING


def _unreached(place: Path, folders: Folders, error: OSError) -> Case:
    """What it means that looking for the file failed."""
    if is_absence(error):
        return _absent(place, folders)
    # A name that is too long proves nothing about what is there, but where it would be.
    if error.errno == errno.ENAMETOOLONG:
        found = _absent(place, folders)
        return found if found.tag == "refused" else unavailable(words(error))
    return unavailable(words(error))


def _absent(place: Path, folders: Folders) -> Case:
    """A file is definitively missing if what is missing on the way to it is inside an allowed folder:
    the project it belonged to may be gone. If the allowed folder itself is, a disk may not be
    mounted; and the same if the way ends in a symbolic link, because where that leads a disk may not
    be either."""
    way = place
    for hop in range(LINKS):
        try:
            reached, beyond = _reach(way)
        except OSError as error:
            return unavailable(words(error))
        if not beyond:
            return unavailable("it was just replaced")
        try:
            target = os.readlink(reached / beyond[0])
        except OSError:
            found = folders.absent(way, reached)
            if found == MISSING and hop > 0:
                return unavailable("a symbolic link leads nowhere")
            return found
        # An allowed folder may be a link itself, or lie behind one.
        away = folders.away(way)
        if away is not None:
            return away
        way = reached.joinpath(target, *beyond[1:])
    return unavailable("too many symbolic links")


def _reach(way: Path) -> tuple[Path, tuple[str, ...]]:
    """The deepest place on a way that there is, without symbolic links, and what is left of the
    way."""
    for above in (way, *way.parents):
        try:
            reached = Path(os.path.realpath(above, strict=True))
        except OSError as error:
            if is_absence(error) or error.errno == errno.ENAMETOOLONG:
                continue
            raise
        return reached, way.parts[len(above.parts) :]
    raise FileNotFoundError(errno.ENOENT, "there is nothing on the way")
