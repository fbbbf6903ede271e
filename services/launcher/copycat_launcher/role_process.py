"""A role in a child process."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from copycat_embedded.guard import Guard

from copycat_launcher.hang_watch import HangWatch
from copycat_launcher.log_files import open_log
from copycat_launcher.program import how_it_ended
from copycat_launcher.roles import STOP_SECONDS

TAIL_BYTES = 64 * 1024


class RoleProcess:
    """One child with a process group of its own, so that Ctrl-C reaches it only in its turn."""

    def __init__(
        self,
        name: str,
        arguments: Sequence[str],
        *,
        guard: Guard,
        until_ready: Callable[[], Awaitable[None]],
        watch: HangWatch,
        log_file: Path | None = None,
        environment: Mapping[str, str] | None = None,
        stop_seconds: float = STOP_SECONDS,
    ) -> None:
        """Run this with Python; without a `log_file` the child writes where we write.

        A stop that takes longer than `stop_seconds` is ended by force.
        """
        self.name = name
        self._command = (sys.executable, *arguments)
        self._guard = guard
        self._until_ready = until_ready
        self._watch = watch
        self._log_file = log_file
        self._environment = environment
        self._stop_seconds = stop_seconds
        self._process: asyncio.subprocess.Process | None = None
        self._was_ready = False

    @property
    def log(self) -> str:
        """Where to read what it wrote."""
        return str(self._log_file) if self._log_file else "above"

    async def start(self) -> None:
        """Start it; its log is continued."""
        self._was_ready = False
        self._process = await self._spawn()
        self._guard.watch(self._process.pid)

    async def ready(self) -> None:
        """Return once it says that it is ready."""
        await self._until_ready()
        self._was_ready = True

    async def ended(self) -> str:
        """Wait until it ends, sweep up what it left running, and return how it ended."""
        if self._process is None:
            return "not started"
        code = await self._process.wait()
        self._sweep()
        return how_it_ended(code)

    async def hung(self) -> None:
        """Return once it runs and answers nothing for too long, though it was ready or answered before."""
        await self._watch.hung(ready=self._was_ready)

    async def stop(self) -> None:
        """Let it drain, by force when that takes too long."""
        await self._end(signal.SIGTERM)

    async def kill(self) -> None:
        """End it by SIGKILL; nothing is flushed."""
        await self._end(signal.SIGKILL)

    def last_words(self) -> str:
        """Return its last own message, or else the last line it wrote."""
        if self._log_file is None:
            return "its own words say why"
        if not self._log_file.exists():
            return ""
        with self._log_file.open("rb") as file:
            file.seek(max(0, self._log_file.stat().st_size - TAIL_BYTES))
            lines = [line.strip() for line in file.read().decode("utf-8", "replace").splitlines()]
        own = [line for line in lines if line.startswith("copycat ")]
        return (own or [line for line in lines if line] or [""])[-1]

    async def _spawn(self) -> asyncio.subprocess.Process:
        if self._log_file is None:
            return await self._execute(None)
        with open_log(self._log_file) as log:
            return await self._execute(log)

    async def _execute(self, output: BinaryIO | None) -> asyncio.subprocess.Process:
        return await asyncio.create_subprocess_exec(
            *self._command,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            env=self._environment,
            start_new_session=True,
        )

    async def _end(self, how: signal.Signals) -> None:
        process = self._process
        if process is None:
            return
        with suppress(ProcessLookupError):
            process.send_signal(how)
        try:
            await asyncio.wait_for(process.wait(), self._stop_seconds)
        except TimeoutError:
            self._sweep()
            await process.wait()
        self._sweep()

    def _sweep(self) -> None:
        """End what is left of its group (Spark's JVM, when the executor was killed) and forget it."""
        if self._process is not None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
            if self._process.returncode is not None:
                self._guard.forget(self._process.pid)
                self._process = None
