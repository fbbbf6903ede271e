"""The data directory of `copycat up`: what is kept from run to run, for one run at a time."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass
from pathlib import Path

from copycat_connect.config.worker_keys import CLUSTER_SECRET
from copycat_connect.files import close_to_others, make_private, open_private

from copycat_launcher.errors import StartError

LEAVING_SECONDS = 15.0
OWN_ENTRIES = {"kafka", "logs", "lock", CLUSTER_SECRET.name}


@dataclass(frozen=True, slots=True)
class DataDir:
    """Where things are in the data directory. All of it is for its owner only."""

    root: Path

    @property
    def kafka(self) -> Path:
        """The embedded broker's folder."""
        return self.root / "kafka"

    def log(self, name: str) -> Path:
        """The log file of a program."""
        return self.root / "logs" / f"{name}.log"

    def logs(self) -> Iterable[Path]:
        """Return the log files that programs write now."""
        return (self.root / "logs").glob("*.log")

    def properties(self, name: str) -> Path:
        """The worker properties of a role."""
        return self.root / f"{name}.properties"

    @contextlib.asynccontextmanager
    async def locked(self) -> AsyncIterator[int]:
        """Make the directory, or close it to other users, and hold its lock; gives its file descriptor.

        A directory that holds things of others, too, stays open; what is ours in it is closed.

        A run killed hard leaves programs that need some seconds to end; they are waited for.

        Raises:
            StartError: Another run uses it, or it cannot be written.
        """
        try:
            if not self.root.is_dir() or all(map(_is_ours, self.root.iterdir())):
                make_private(self.root)
            for folder in (self.kafka, self.root / "logs"):
                make_private(folder)
            for file in self.root.glob("*.properties"):
                close_to_others(file)
            descriptor = open_private(self.root / "lock", os.O_RDWR | os.O_CREAT)
        except OSError as error:
            raise StartError(
                f"--data-dir {self.root} cannot be used ({error.strerror}). Name a folder you may write."
            ) from error
        try:
            await self._take(descriptor)
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
            yield descriptor
        finally:
            os.close(descriptor)

    async def _take(self, descriptor: int) -> None:
        deadline = asyncio.get_running_loop().time() + LEAVING_SECONDS
        while not _lock(descriptor):
            owner = os.pread(descriptor, 32, 0).decode(errors="replace").strip()
            if _lives(owner) or asyncio.get_running_loop().time() > deadline:
                raise StartError(
                    f"--data-dir {self.root} is in use by another copycat (process {owner or 'unknown'}). "
                    "Stop that one, or name another folder."
                )
            await asyncio.sleep(0.1)


def _is_ours(entry: Path) -> bool:
    """Return whether we made an entry of the directory; one with a lock in it is that of an embedded copy."""
    return entry.name in OWN_ENTRIES or entry.suffix == ".properties" or (entry / "lock").exists()


def _lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _lives(owner: str) -> bool:
    if not owner.isdigit():
        return True
    try:
        os.kill(int(owner), 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
