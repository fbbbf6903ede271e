"""Background work of this event loop: held so that it is not lost; its crashes end the service."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any

log = logging.getLogger(__name__)


class Jobs:
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
