"""One child process with its connection: messages are written to it, lines are read, and it is ended."""

from __future__ import annotations

import asyncio
import sys
from asyncio.subprocess import PIPE
from collections.abc import Collection, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from copycat_executor.pipes.lines import MAX_LINE_BYTES, BadLineError, to_line
from copycat_executor.pipes.messages import PipeMessage
from copycat_executor.pipes.processor_time import thread_seconds


class Handle(Protocol):
    """How a process is ended and waited for: one of ours (`asyncio.subprocess.Process`), or a fork of one."""

    @property
    def pid(self) -> int:
        """Its process id."""

    @property
    def returncode(self) -> int | None:
        """Its exit code once that is known."""

    def kill(self) -> None:
        """End it by force."""

    async def wait(self) -> int | None:
        """Wait until it has ended; returns the exit code, None where nobody will ever know."""


class PipedProcess:
    """A process from its start to its end; our ends of its connection are nobody else's."""

    def __init__(self, process: Handle, output: asyncio.StreamReader, given: asyncio.StreamWriter) -> None:
        """Keep the process, what it writes, and what it is given to read."""
        self._process = process
        self._output, self._input = output, given

    @classmethod
    async def start(cls, module: str, pass_fds: Collection[int] = ()) -> PipedProcess:
        """Run `python -m` on a module, in a process group of its own.

        Raises:
            OSError: There are too many processes or open files, or there is too little memory.
        """
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", module),
            stdin=PIPE,
            stdout=PIPE,
            limit=MAX_LINE_BYTES,
            process_group=0,
            pass_fds=pass_fds,
        )
        assert process.stdin is not None
        assert process.stdout is not None
        return cls(process, process.stdout, process.stdin)

    @property
    def threads(self) -> int:
        """How many threads it has; none once it has ended."""
        return sum(1 for _ in Path(f"/proc/{self._process.pid}/task").glob("*"))

    def write(self, message: PipeMessage) -> None:
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
        except ConnectionError:  # a socket's end, where something was written that nobody read
            return b""
        except ValueError as error:  # asyncio's way to say so
            raise BadLineError(f"it is longer than {MAX_LINE_BYTES} bytes") from error

    def thread_seconds(self) -> Mapping[str, float]:
        """Return how much processor time its threads have used, by the names they have in the kernel."""
        return thread_seconds(self._process.pid)

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
        with suppress(ConnectionError):
            while await self._output.read(MAX_LINE_BYTES):
                pass  # a pipe that nobody reads would hide its end
        return await self._how_it_ended()

    async def end(self, grace_seconds: float) -> str:
        """Close its input, which ends it; end it by force after the grace; return how it ended."""
        self._input.close()
        if grace_seconds and self._process.returncode is None:
            await asyncio.wait((asyncio.ensure_future(self._process.wait()),), timeout=grace_seconds)
        self.kill()
        return await self._how_it_ended()

    async def _how_it_ended(self) -> str:
        code = await self._process.wait()
        return "nobody knows how" if code is None else f"exit code {code}"
