"""One Python process with pipes: messages are written to it, lines are read from it, and it is ended."""

from __future__ import annotations

import asyncio
import os
import sys
from asyncio.subprocess import PIPE, Process
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

from copycat_executor.pipes.lines import MAX_LINE_BYTES, BadLineError, to_line
from copycat_executor.pipes.messages import Message

_TICKS_PER_SECOND: Final = os.sysconf("SC_CLK_TCK")


class PipedProcess:
    """A process from its start to its end; both of its ends of the pipes are ours."""

    def __init__(self, process: Process) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._process = process
        self._input, self._output = process.stdin, process.stdout

    @classmethod
    async def start(cls, module: str) -> PipedProcess:
        """Run `python -m` on a module, in a process group of its own."""
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", module),
            stdin=PIPE,
            stdout=PIPE,
            limit=MAX_LINE_BYTES,
            process_group=0,
        )
        return cls(process)

    def write(self, message: Message) -> None:
        """Write a message; lost when the process is dead, which is noticed where it is read."""
        with suppress(ConnectionError):
            self._input.write(to_line(message))

    async def read_line(self, timeout_seconds: float | None) -> bytes:
        """Return the next line, nothing at the end.

        Raises:
            TimeoutError: It did not come in time.
            BadLineError: It is longer than any line may be.
        """
        try:
            async with asyncio.timeout(timeout_seconds):
                return await self._output.readline()
        except ValueError as error:  # asyncio's way to say so
            message = f"it is longer than {MAX_LINE_BYTES} bytes"
            raise BadLineError(message) from error

    def thread_seconds(self) -> Mapping[str, float]:
        """Return how much processor time its threads have used, by the names they have in the kernel.

        This tells who computes also while nothing in the process can say so.
        """
        used: Counter[str] = Counter()
        for stat in Path(f"/proc/{self._process.pid}/task").glob("*/stat"):
            with suppress(OSError):  # it has ended just now
                _, _, rest = stat.read_bytes().partition(b"(")
                name, _, fields = rest.rpartition(b")")
                user, system = fields.split()[11:13]
                used[name.decode(errors="replace")] += int(user) + int(system)
        return {name: ticks / _TICKS_PER_SECOND for name, ticks in used.items()}

    def stopped(self) -> bool:
        """Return whether somebody has stopped it (SIGSTOP)."""
        with suppress(OSError):
            return Path(f"/proc/{self._process.pid}/stat").read_bytes().rpartition(b")")[2].split()[0] == b"T"
        return False

    def kill(self) -> None:
        """End it by force, whatever it does."""
        if self._process.returncode is None:
            self._process.kill()

    async def ended(self) -> str:
        """Wait until it has ended, and return how; what it still wrote is dropped."""
        while await self._output.read(MAX_LINE_BYTES):
            pass  # a pipe that nobody reads would hide its end
        return f"exit code {await self._process.wait()}"

    async def end(self, grace_seconds: float) -> str:
        """Close its input, which ends it; end it by force after the grace; return how it ended."""
        self._input.close()
        if grace_seconds and self._process.returncode is None:
            await asyncio.wait((asyncio.ensure_future(self._process.wait()),), timeout=grace_seconds)
        self.kill()
        return f"exit code {await self._process.wait()}"
