"""Clocks of containers that can be moved, each by itself: a library that stands before the system's.

Containers have the clock of their machine, and so has every other program on it. libfaketime adds what a file
says to each look at the time of day; what counts durations goes on evenly, as when somebody sets a clock.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from tools.containers.base_image import bases
from tools.containers.engine import FOLDER, LABEL, Engine

LIBRARY: Final = "libfaketime.so.1"
#: Where a container finds the library, and the files of all clocks.
LIBRARIES: Final = "/clock-library"
FILES: Final = "/clocks"
#: How long a container may take until it sees that its clock was moved.
LOOK_SECONDS: Final = 1
_FETCH: Final = (
    "apt-get -qq update && apt-get -qq install -y --no-install-recommends libfaketime >/dev/null "
    f"&& cp /usr/lib/*/faketime/{LIBRARY} /out/"
)


class Clocks:
    """Each container has one, known by the container's name; it goes right until it is moved."""

    def __init__(self, engine: Engine, folder: Path) -> None:
        """Fetch the library from the Debian that the images are made with; `folder` receives the clocks."""
        self._clocks = folder / "clocks"
        self._clocks.mkdir()
        self._library = _library(engine)

    @property
    def files(self) -> Mapping[Path, str]:
        """What a container mounts, and where."""
        return {self._library.parent: LIBRARIES, self._clocks: FILES}

    def environment(self, name: str) -> Mapping[str, str]:
        """Return the variables that put a container under its clock."""
        self.move(name, 0)
        return {
            "LD_PRELOAD": f"{LIBRARIES}/{LIBRARY}",
            "FAKETIME_TIMESTAMP_FILE": f"{FILES}/{name}",
            "FAKETIME_CACHE_DURATION": str(LOOK_SECONDS),
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
            "FAKETIME_DISABLE_SHM": "1",
        }

    def move(self, name: str, seconds: float) -> None:
        """Set a clock ahead of the machine's, or behind it; 0 sets it right."""
        file = self._clocks / name
        file.write_text(f"{seconds:+.0f}\n")
        file.chmod(0o644)


def _library(engine: Engine) -> Path:
    found = FOLDER / "clock" / LIBRARY
    if not found.is_file():
        found.parent.mkdir(parents=True, exist_ok=True)
        with engine.client() as client:
            client.containers.run(
                bases(client).build,
                ["/bin/sh", "-c", _FETCH],
                user="root",
                volumes=[f"{found.parent}:/out:rw"],
                network_mode="host",
                labels={LABEL: "1"},
                remove=True,
            )
    return found
