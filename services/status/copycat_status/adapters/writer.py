"""What the status service writes, and in what order when the log is away (`StatusWriter`)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine, Iterable, Mapping
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from copycat_connect.cluster import Instance
from copycat_connect.errors import CopycatError, NotWriterError, UnavailableError
from copycat_connect.waiting import NewestWaiting
from copycat_eventlog.log import Revision

from copycat_status.adapters.lost import Lost
from copycat_status.adapters.retrying import Retrying
from copycat_status.domain.commands import (
    ForgetStatuses,
    Report,
    ReportStatuses,
    ReportTopics,
    ResetTopics,
)

T = TypeVar("T")


class StatusWriter:
    """Writes until visible or given up; a caller that goes away takes nothing back.

    For each instance the newest report replaces an older one that waits. The newest that had to be given up
    is written when the log is back, unless the log says anything else about the instance by then.
    """

    def __init__(self, retrying: Retrying) -> None:
        self._retrying = retrying
        self._events = retrying.events
        self._waiting: NewestWaiting[Instance, Report] = NewestWaiting()
        self._lost = Lost()
        self._tasks: set[asyncio.Task[Any]] = set()
        self._mending = False

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """End all retries on the way out, so that they never keep the process from ending."""
        try:
            yield
        finally:
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)

    async def report(self, reports: tuple[Report, ...]) -> Revision:
        """Write statuses; a status that a newer one replaced counts as written.

        Raises:
            CopycatError: See `Retrying.write`.
        """
        mine = {report.instance: report for report in reports}
        replaced = self._waiting.put(mine)
        self._lost.drop(reports)
        return await self._finish(self._report(mine, replaced))

    async def forget(self, command: ForgetStatuses) -> Revision:
        """Write tombstones; nothing that waits may undo them.

        Raises:
            CopycatError: See `Retrying.write`.
        """
        self._waiting.forget(command.concerns)
        self._lost.forget(command)
        return await self._finish(self._retrying.write(lambda: command))

    async def topics(self, command: ReportTopics | ResetTopics) -> Revision:
        """Write active topics; given up, a topic is reported again with its next record.

        Raises:
            CopycatError: See `Retrying.write`.
        """
        return await self._finish(self._retrying.write(lambda: command))

    async def _report(self, mine: Mapping[Instance, Report], replaced: frozenset[Instance]) -> Revision:
        """Write reports; `replaced` are the instances of which an older report gave way to these."""
        try:
            return await self._retrying.write(lambda: self._remaining(mine))
        except UnavailableError:
            self._give_up(self._waiting.remaining(mine).values())
            raise
        except NotWriterError:
            # The caller takes its report to the writer; but an older one that waited here gave way to it.
            self._give_up(r for r in self._waiting.remaining(mine).values() if r.instance in replaced)
            raise
        finally:
            self._waiting.done(mine)

    def _remaining(self, mine: Mapping[Instance, Report]) -> ReportStatuses | None:
        remaining = self._waiting.remaining(mine)
        return ReportStatuses(tuple(remaining.values())) if remaining else None

    def _give_up(self, reports: Iterable[Report]) -> None:
        self._lost.keep(reports, self._events.state)
        if not self._mending:
            self._mending = True
            self._start(self._mend())

    async def _mend(self) -> None:
        """Try what was given up again, slowly, until nothing of it is left."""
        while self._lost.due(self._events.state):
            await self._retrying.long_pause()
            reports = self._lost.due(self._events.state)
            if not reports or not self._events.leads:
                continue
            try:
                await self._events.execute(ReportStatuses(reports))
            except CopycatError:
                continue  # logged when it was given up
            self._lost.settle(reports)
        self._mending = False

    async def _finish(self, writing: Coroutine[Any, Any, Revision]) -> Revision:
        task = self._start(writing)
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            if not task.cancelled():
                raise
            message = "The service is stopping"
            raise UnavailableError(message) from None

    def _start(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            task.exception()  # its caller may be gone: nobody else would look
