"""Programs of Debian's archive, for tests that want a real server."""

from __future__ import annotations

import fcntl
import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_APT = "/usr/bin/apt-get"
_SECONDS = 600.0


@contextmanager
def one_at_a_time(what: str) -> Iterator[None]:
    """Hold a lock of this machine: tests in other processes want the same program at the same time."""
    with (Path(tempfile.gettempdir()) / f"copycat-{what}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def install(package: str) -> None:
    """Install a package.

    Raises:
        CalledProcessError: The archive cannot be reached, or this user may not.
    """
    for command in (["update"], ["install", "-y", "--no-install-recommends", package]):
        _run(_APT, "-q", *command)


def unpack(package: str, folder: Path) -> None:
    """Put a package's files into a folder and install nothing, so that no service of it starts.

    Raises:
        CalledProcessError: The archive cannot be reached.
    """
    with tempfile.TemporaryDirectory() as place:
        _run(_APT, "-q", "update")
        _run(_APT, "-q", "download", package, cwd=place)
        [file] = Path(place).glob("*.deb")
        _run("/usr/bin/dpkg", "-x", str(file), str(folder))


def _run(*command: str, cwd: str | None = None) -> None:
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    subprocess.run(command, check=True, capture_output=True, timeout=_SECONDS, env=environment, cwd=cwd)
