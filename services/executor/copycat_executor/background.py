"""Work in the background of the event loop: jobs, whose crash ends the executor, and signals of changes."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine, Sequence
from typing import Any

log = logging.getLogger(__name__)


class BackgroundJobs:
    """Runs coroutines in the background; the first that crashes ends the service."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[Any]] = set()
        self._crash: asyncio.Future[BaseException] | None = None

    def spawn(self, job: Coroutine[Any, Any, Any], name: str = "") -> asyncio.Task[Any]:
        """Run a coroutine in the background; one that raises is logged and ends the service."""
        task = asyncio.create_task(job, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._done)
        return task

    async def crashed(self) -> BaseException:
        """Wait until a job fails with an error it should have dealt with itself."""
        if self._crash is None:
            self._crash = asyncio.get_running_loop().create_future()
        return await asyncio.shield(self._crash)

    def crash(self, error: BaseException) -> None:
        """End the service with this error."""
        if self._crash is None:
            self._crash = asyncio.get_running_loop().create_future()
        if not self._crash.done():
            self._crash.set_result(error)

    async def close(self) -> None:
        """Cancel the jobs that still run and wait for their end."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _done(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("%s failed", task.get_name(), exc_info=error)
            self.crash(error)


class ChangeSignal:
    """Wakes everybody who waits for a change; counts changes, so that none is missed."""

    def __init__(self) -> None:
        self.count = 0
        """How many changes there were; those between two waits are seen as one."""
        self._changed = asyncio.Event()

    def notify(self) -> None:
        """Wake everybody who waits for a change."""
        self.count += 1
        self._changed.set()
        self._changed = asyncio.Event()

    async def wait(self, after: int) -> int:
        """Wait until there were more changes than `after`; returns how many there were."""
        while self.count <= after:
            await self._changed.wait()
        return self.count


class ChangedConnectors:
    """Names of connectors in the order in which they changed since the last look; at first, all."""

    def __init__(self) -> None:
        self._names: dict[str, None] = {}
        self._all = True

    @property
    def names(self) -> Sequence[str] | None:
        """The connectors to look at, so that a look costs what changed; None is all there are."""
        return None if self._all else tuple(self._names)

    def add(self, name: str) -> None:
        """Note a change of a connector or of its tasks."""
        self._names[name] = None

    def add_all(self) -> None:
        """Note that anything may have changed."""
        self._all = True

    def clear(self) -> None:
        """Note that all of them were looked at."""
        self._names, self._all = {}, False
