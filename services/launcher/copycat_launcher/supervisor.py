"""Start programs side by side, keep them running, stop them in order."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Awaitable, Callable, Iterable, Sequence
from functools import partial
from typing import Final, Protocol

from copycat_connect.error_text import shortened
from copycat_connect.errors import CopycatError
from copycat_connect.first import first
from copycat_connect.retry import RetryPolicy

from copycat_launcher.errors import StartError

#: How a process ended that was not killed: it may have said why.
_BY_ITSELF: Final = "code "
_MAX_WORDS: Final = 1000


def how_it_ended(code: int) -> str:
    """Return for people how a process with this exit code ended."""
    return f"killed by {signal.Signals(-code).name}" if code < 0 else f"{_BY_ITSELF}{code}"


def why_it_ended(program: Program, how: str) -> str:
    """Return what a program that ended by itself said last, to follow how it ended; else nothing."""
    words = program.last_words() if how.startswith(_BY_ITSELF) else ""
    return f": {shortened(words, _MAX_WORDS)}" if words else ""


class Program(Protocol):
    """One program that can be started again and again."""

    @property
    def name(self) -> str:
        """How people call it."""

    @property
    def log(self) -> str:
        """Where to read what it wrote, for messages."""

    async def start(self) -> None:
        """Start it, without waiting until it is ready.

        Raises:
            CopycatError: It cannot be started.
        """

    async def ready(self) -> None:
        """Return once it is usable; the caller bounds the wait."""

    async def ended(self) -> str:
        """Wait until it ends by itself and return how, e.g. `code 1`; nothing of it is left then."""

    async def hung(self) -> None:
        """Return once it runs and has answered nothing for too long, though it had answered before."""

    async def stop(self) -> None:
        """Drain and end it; nothing happens when it does not run."""

    async def kill(self) -> None:
        """End it by force now; nothing happens when it does not run."""

    def last_words(self) -> str:
        """Return the line that best says why it ended, or an empty one."""


RESTARTS = RetryPolicy(first=0.25, factor=2.0, ceiling=15.0)
STEADY_SECONDS = 60.0
READY_SECONDS = 180.0
Say = Callable[[str], None]


async def keep_running(
    over: Callable[[], Awaitable[str]],
    start: Callable[[], Awaitable[None]],
    say: Callable[[str, float], None],
    restarts: RetryPolicy = RESTARTS,
) -> None:
    """Start something again whenever it ends, for ever; waits grow until it once ran steadily.

    Args:
        over: Waits until it has ended, and returns how.
        start: Starts it again.
        say: Called with how it ended, and the seconds until it is started again.
        restarts: How long to wait before each start.
    """
    clock = asyncio.get_running_loop()
    waits, began = restarts.waits(), clock.time()
    while True:
        how = await over()
        if clock.time() - began > STEADY_SECONDS:
            waits = restarts.waits()
        wait = next(waits)
        say(how, wait)
        await asyncio.sleep(wait)
        began = clock.time()
        await start()


class Supervisor:
    """Supervises programs in stages: all start at once, the last stage stops first."""

    def __init__(
        self, stages: Sequence[Sequence[Program]], say: Say, restarts: RetryPolicy = RESTARTS
    ) -> None:
        """Supervise these programs; `say` prints what people should know, a line at a time."""
        self._stages = stages
        self._say = say
        self._restarts = restarts
        self._keepers: list[asyncio.Task[None]] = []

    async def start(self, progress: Say = lambda _: None, seconds: float = READY_SECONDS) -> None:
        """Start everything and wait until all is ready; `progress` hears the name of each that is.

        Raises:
            CopycatError: One cannot be started, ended, or was not ready in time. What was started still
                runs then: stop it.
        """
        starts = (program.start() for program in self._all())
        for failure in await asyncio.gather(*starts, return_exceptions=True):
            if failure is not None:
                raise failure
        waits = {
            asyncio.create_task(self._until_ready(program, progress)): program for program in self._all()
        }
        late = set(waits)
        try:
            done, late = await asyncio.wait(waits, timeout=seconds, return_when=asyncio.FIRST_EXCEPTION)
        finally:  # a start that is given up has nobody left to wait for
            for wait in late:
                wait.cancel()
            await asyncio.gather(*late, return_exceptions=True)
        for wait in done:
            wait.result()
        if late:
            slow = [waits[wait] for wait in late]
            logs = ", ".join(f"{program.name} ({program.log})" for program in slow)
            raise StartError(f"Not ready within {seconds:.0f} s: {logs}. Their logs say what they wait for.")

    def keep(self) -> None:
        """From now on start again whatever ends, and what hangs, which is killed first."""
        self._keepers = [asyncio.create_task(self._keep(program)) for program in self._all()]

    async def crashed(self) -> None:
        """Wait for a keeper to fail, which means that a program cannot even be started any more."""
        done, _ = await asyncio.wait(self._keepers, return_when=asyncio.FIRST_COMPLETED)
        for keeper in done:
            keeper.result()

    async def stop(self, stage_done: Say = lambda _: None) -> None:
        """Drain stage by stage; nothing is left running afterwards."""
        await self._release()
        for stage in reversed(self._stages):
            await asyncio.gather(*(self._stop_one(program, stage_done) for program in stage))

    async def kill(self) -> None:
        """End everything by force; nothing is flushed."""
        await self._release()
        await asyncio.gather(*(program.kill() for program in self._all()))

    async def _until_ready(self, program: Program, progress: Say) -> None:
        ready, ended = await first(program.ready(), program.ended())
        if ready.cancelled():
            words = program.last_words() or "it said nothing"
            raise StartError(f"{program.name} did not start ({ended.result()}): {words} (log: {program.log})")
        ready.result()
        progress(program.name)

    async def _keep(self, program: Program) -> None:
        def say(how: str, wait: float) -> None:
            why = why_it_ended(program, how)
            self._say(
                f"{program.name} ended ({how}){why}; starting it again in {wait:g} s. Log: {program.log}"
            )

        await keep_running(partial(self._over, program), program.start, say, self._restarts)

    async def _over(self, program: Program) -> str:
        """Wait until it ends, or kill it when it hangs: it cannot wake up beside the next one."""
        hung, ended = await first(program.hung(), program.ended())
        if not ended.cancelled():
            return ended.result()
        hung.result()
        self._say(f"{program.name} hangs: it lives and answers nothing. It is killed. Log: {program.log}")
        await program.kill()
        return "killed because it hung"

    async def _stop_one(self, program: Program, done: Say) -> None:
        await program.stop()
        done(program.name)

    async def _release(self) -> None:
        for keeper in self._keepers:
            keeper.cancel()
        for ending in await asyncio.gather(*self._keepers, return_exceptions=True):
            if isinstance(ending, CopycatError):
                self._say(ending.message)
        self._keepers = []

    def _all(self) -> Iterable[Program]:
        return (program for stage in self._stages for program in stage)
