"""What the status service writes, and in what order when the log is away (`StatusWriter`)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Collection, Coroutine
from contextlib import asynccontextmanager
from functools import reduce
from typing import Any, TypeVar

from copycat_connect.errors import CopycatError, UnavailableError
from copycat_eventlog.log import Revision

from copycat_status.adapters.handed import Handed, already_handed
from copycat_status.adapters.retrying import PASSING_ERRORS, Retrying
from copycat_status.adapters.write_lines import log_given_up, log_made_good
from copycat_status.domain.commands import StatusCommand
from copycat_status.domain.errors import UpdateGivenUpError

T = TypeVar("T")


class StatusWriter:
    """Writes until visible or given up; a caller that goes away takes nothing back.

    Of each key the newest update counts, tombstones too: an older one that waits gives way to it. Who hands
    over again what is being written waits for that, and adds no attempt. What had to be given up is written
    when the log is back, unless the log says anything else about it by then.
    """

    def __init__(self, retrying: Retrying) -> None:
        self._retrying = retrying
        self._events = retrying.events
        self._waiting: list[Handed] = []
        self._tasks: set[asyncio.Task[Any]] = set()
        self._mending = False

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """End all retries on the way out, so that they never keep the process from ending."""
        try:
            yield
        finally:
            self._retrying.cancel_appends()
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)

    async def write(self, command: StatusCommand) -> Revision:
        """Write a command; an update that a newer one replaced counts as written.

        Raises:
            GivenUpError: The log is away for too long; it is written, all the same, when that is back.
            UnavailableError: The service is stopping.
            CopycatError: See `Retrying.write`.
        """
        fresh, having = already_handed(command, self._waiting)
        if fresh is not None:
            having.append(self._hand(fresh))
        writing = [handed.writing for handed in having if handed.writing is not None]
        if not writing:
            return self._events.revision
        await asyncio.wait(writing, return_when=asyncio.FIRST_EXCEPTION)
        if any(task.cancelled() for task in writing):
            raise UnavailableError("The service is stopping")
        failures = [error for task in writing if task.done() and (error := task.exception())]
        if failures:
            raise failures[0].with_traceback(None)  # the next who asks gets the same one
        return reduce(Revision.merge, (task.result() for task in writing), Revision.ZERO)

    def _hand(self, command: StatusCommand) -> Handed:
        for older in self._waiting:
            older.give_way(command)
        handed = Handed(command)
        self._waiting.append(handed)
        handed.writing = self._start(self._carry_out(handed))
        return handed

    async def _carry_out(self, handed: Handed) -> Revision:
        try:
            return await self._retrying.write(lambda: handed.left)
        except UpdateGivenUpError:
            handed.give_up(self._events.state)
            raise
        finally:
            if handed.given_up:
                self._make_good()
            else:
                self._waiting.remove(handed)

    def _make_good(self) -> None:
        if not self._mending:
            self._mending = True
            self._start(self._mend())

    async def _mend(self) -> None:
        """Write what was given up as soon as the log is back, until nothing of it is left."""
        while self._lost():
            if self._events.leads:  # and yet it failed just now
                await self._retrying.long_pause()
            elif not await self._leads_again():
                continue
            await asyncio.gather(*map(self._write_lost, self._lost()))
        self._mending = False

    async def _leads_again(self) -> bool:
        try:
            await self._events.lead()
        except CopycatError:
            if not self._events.owns:  # whoever still holds what is lost hands it to the writer
                self._drop(self._lost())
            return False
        return True

    def _lost(self) -> list[Handed]:
        lost = [handed for handed in self._waiting if handed.given_up]
        for handed in lost:
            handed.give_way_to_log(self._events.state)
        self._drop([handed for handed in lost if handed.left is None])
        return [handed for handed in lost if handed.left is not None]

    async def _write_lost(self, handed: Handed) -> None:
        command = handed.left
        if command is None:
            return
        try:
            await self._retrying.once(command)
        except PASSING_ERRORS:
            return  # logged when it was given up
        except CopycatError as error:
            log_given_up(command, 0, error.message)
        else:
            log_made_good(command)
        self._drop([handed])

    def _drop(self, done: Collection[Handed]) -> None:
        self._waiting = [handed for handed in self._waiting if handed not in done]

    def _start(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            task.exception()  # its caller may be gone: nobody else would look
