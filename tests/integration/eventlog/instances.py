"""Starts instances in processes of their own and follows what they say."""

from __future__ import annotations

import asyncio
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from copycat_testkit.eventually import eventually

#: Far beyond every deadline of these tests: who comes sooner did not wait for a session to end, seconds.
LONG_SESSION = 300.0
PROGRAM = Path(__file__).parent / "instance.py"


class Instance:
    """A running `instance.py`."""

    def __init__(self, process: Process) -> None:
        self.process = process
        self.said: list[str] = []
        self.listening = asyncio.create_task(self._listen())

    async def _listen(self) -> None:
        assert self.process.stdout is not None
        while line := await self.process.stdout.readline():
            self.said.append(line.decode().strip())

    def say(self, *lines: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write("".join(f"{line}\n" for line in lines).encode())

    def count(self, start: str) -> int:
        return sum(line.startswith(start) for line in self.said)

    @property
    def leads(self) -> bool:
        turns = [line for line in self.said if line in {"leads", "follows"}]
        return bool(turns) and turns[-1] == "leads"

    async def hears(self, condition: Callable[[Instance], bool], within: float = 60.0) -> None:
        await eventually(lambda: condition(self), within)


@asynccontextmanager
async def instance(bootstrap: str, name: str, session: float = 6.0) -> AsyncIterator[Instance]:
    command = (sys.executable, str(PROGRAM), bootstrap, name, str(session))
    running = Instance(await asyncio.create_subprocess_exec(*command, stdin=PIPE, stdout=PIPE))
    try:
        await running.hears(lambda it: "ready" in it.said)
        yield running
    finally:
        if running.process.returncode is None:
            running.process.kill()
        await running.process.wait()
        await running.listening
