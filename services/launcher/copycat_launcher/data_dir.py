"""The data directory of `copycat up`: what is kept from run to run, for one run at a time."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

from copycat_launcher.errors import StartError

LEAVING_SECONDS = 15.0


@dataclass(frozen=True, slots=True)
class DataDir:
    """Where things are in the data directory."""

    root: Path

    @property
    def kafka(self) -> Path:
        """The embedded broker's folder."""
        return self.root / "kafka"

    def log(self, name: str) -> Path:
        """The log file of a program."""
        return self.root / "logs" / f"{name}.log"

    def properties(self, name: str) -> Path:
        """The worker properties of a role."""
        return self.root / f"{name}.properties"

    @contextlib.asynccontextmanager
    async def locked(self) -> AsyncIterator[int]:
        """Make the directory and hold its lock; gives the lock's file descriptor.

        A run killed hard leaves programs that need some seconds to end; they are waited for.

        Raises:
            StartError: Another run uses it, or it cannot be written.
        """
        try:
            for folder in (self.root, self.kafka, self.root / "logs"):
                folder.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(self.root / "lock", os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as error:
            message = (
                f"--data-dir {self.root} cannot be used ({error.strerror}). Name a folder you may write."
            )
            raise StartError(message) from error
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
                message = (
                    f"--data-dir {self.root} is in use by another copycat (process {owner or 'unknown'}). "
                    "Stop that one, or name another folder."
                )
                raise StartError(message)
            await asyncio.sleep(0.1)


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
