"""Copies what the package shares with every other host into the wheel: the SQL, the built-in core, and
the C library if it was built. Nothing of it stands twice in the repository."""

from __future__ import annotations

import shutil
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py

ROOT = Path(__file__).resolve().parents[2]
CORE = ROOT / "target" / "guest" / "headsup.wasm"
LIBRARIES = [
    ROOT / "target" / "release" / name
    for name in ("libheadsup.so", "libheadsup.dylib", "headsup.dll")
]


class BuildWithData(build_py):
    """Builds the package, and fills its folder `data`."""

    def run(self) -> None:
        super().run()
        data = Path(self.build_lib) / "headsup" / "data"
        shutil.rmtree(data, ignore_errors=True)
        shutil.copytree(ROOT / "host" / "sql", data / "sql")
        if not CORE.is_file():
            raise SystemExit("headsup: there is no built-in core to package; run `make component`")
        for file in (CORE, *filter(Path.is_file, LIBRARIES)):
            shutil.copy2(file, data / file.name)


class Distributed(Distribution):
    """A wheel with the C library in it is for one platform."""

    def has_ext_modules(self) -> bool:
        return any(map(Path.is_file, LIBRARIES))


setup(cmdclass={"build_py": BuildWithData}, distclass=Distributed)
