"""Processes that answer questions about configurations: validations, listings, changes of offsets.

Each runs one question at a time, so that code which hangs, crashes or holds its interpreter answers for
itself alone. One that answered well is asked again, if nothing that it began goes on there.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from typing import Final

from copycat_executor.background import BackgroundJobs
from copycat_executor.children.connector_process import ConnectorProcess, ProcessEnd
from copycat_executor.children.open_calls import PluginError, now_text
from copycat_executor.domain.errors import PluginHangsError, PluginProcessGoneError
from copycat_executor.pipes.authors import authors_of
from copycat_executor.pipes.connector_messages import QuestionCall
from copycat_executor.pipes.messages import T

#: Processes at the same time, some 6 MB each, and of one connector or class; others wait for their turn.
MAX_PROCESSES: Final = 24
MAX_OF_ONE: Final = 8
#: So many work before there is another, unless all of them take long.
FEW: Final = 2
SHORT_WAIT_SECONDS: Final = 0.1
#: Processes that wait for a question, and how long they do.
MAX_IDLE: Final = 2
IDLE_SECONDS: Final = 10.0
#: A process that something else ended may have been unlucky, the first time.
MAX_TRIES: Final = 2

Ended = Callable[[ProcessEnd], PluginProcessGoneError]


class _Answerer:
    """A process, and what runs it."""

    def __init__(self, process: ConnectorProcess, job: asyncio.Task[object]) -> None:
        self.process = process
        self.job = job
        self.fresh = True
        """Whether it was never asked before."""
        self.leaves: asyncio.TimerHandle | None = None
        """While it is idle: when it ends."""


class QuestionProcesses:
    """Answers questions, each where no other code runs."""

    def __init__(self, make: Callable[[Ended], ConnectorProcess], jobs: BackgroundJobs) -> None:
        """`make` makes a process, given who judges its end; `jobs` run them."""
        self._make = make
        self._jobs = jobs
        self._idle: list[_Answerer] = []
        self._of: Counter[str] = Counter()
        self._asked = 0
        self._changed = asyncio.Condition()

    def set_level(self, logger: str, level: str) -> None:
        """Set a log level in those that wait; others are over before it matters."""
        for each in self._idle:
            each.process.set_level(logger, level)

    async def ask(self, call: QuestionCall[T], stage: str, deadline_seconds: float) -> T:
        """Ask; `stage` names what hangs when the deadline passes.

        Raises:
            PluginError: Author code raised.
            ProcessStartsError: No process took the question in time.
            PluginHangsError: It did not come back in time; its process is ended.
            PluginProcessGoneError: It ended its process.
        """
        loop, authors, tries = asyncio.get_running_loop(), authors_of(call), 0
        ends = loop.time() + deadline_seconds
        async with self._turn(authors, stage, ends):
            while True:
                answerer = self._take()
                tries += answerer.fresh
                try:
                    with self._held(answerer):
                        left = ends - loop.time()
                        return await answerer.process.call(call, stage, left, authors, start_counts=True)
                except PluginProcessGoneError as error:
                    if answerer.fresh and (error.alone or tries == MAX_TRIES):
                        raise

    @asynccontextmanager
    async def _turn(self, authors: Sequence[str], stage: str, ends: float) -> AsyncIterator[None]:
        """Wait until one more question may be asked, at most until `ends`."""
        began = now_text()

        def may() -> bool:
            full = self._asked >= MAX_PROCESSES or any(self._of[each] >= MAX_OF_ONE for each in authors)
            return not (authors and full)

        async with self._changed:
            try:
                async with asyncio.timeout_at(ends):
                    await self._changed.wait_for(may)
            except TimeoutError:
                raise PluginHangsError(f"waiting for a process of its own before {stage}", began) from None
            self._asked += 1
            self._of.update(authors)
        try:
            if self._asked > FEW and not self._idle:
                await self._short_wait()
            yield
        finally:
            self._asked -= 1
            self._of -= Counter(authors)
            async with self._changed:
                self._changed.notify_all()

    async def _short_wait(self) -> None:
        """Wait for one of the others, which as a rule are quick."""
        async with self._changed:
            try:
                async with asyncio.timeout(SHORT_WAIT_SECONDS):
                    await self._changed.wait_for(lambda: bool(self._idle))
            except TimeoutError:
                pass

    @contextmanager
    def _held(self, answerer: _Answerer) -> Iterator[None]:
        """Have a process wait for another question after this one, if it answered; else end it."""
        try:
            yield
        except PluginError:
            self._rest(answerer)
            raise
        except BaseException:
            answerer.job.cancel()
            raise
        self._rest(answerer)

    def _take(self) -> _Answerer:
        while self._idle:
            found = self._idle.pop()
            if found.leaves is not None:
                found.leaves.cancel()
            if found.process.at_rest():
                return found
            found.job.cancel()
        process = self._make(_judge)
        return _Answerer(process, self._jobs.spawn(process.run(), "process of a question"))

    def _rest(self, answerer: _Answerer) -> None:
        answerer.fresh = False
        if len(self._idle) >= MAX_IDLE:
            answerer.job.cancel()
            return
        self._idle.append(answerer)
        answerer.leaves = asyncio.get_running_loop().call_later(IDLE_SECONDS, self._leave, answerer)

    def _leave(self, answerer: _Answerer) -> None:
        if answerer in self._idle:
            self._idle.remove(answerer)
            answerer.job.cancel()


def _judge(end: ProcessEnd) -> PluginProcessGoneError:
    return PluginProcessGoneError(end.ending, alone=not end.outside)
