"""Roles as tasks of one event loop, for a worker without a cluster."""

from __future__ import annotations

import asyncio
import importlib
import logging
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any, NoReturn, Protocol

from copycat_connect.first import first

from copycat_launcher.errors import StartError
from copycat_launcher.roles import STOP_SECONDS, ServiceRole
from copycat_launcher.supervisor import keep_running

log = logging.getLogger(__name__)

Serve = Callable[[Mapping[str, str], asyncio.Event, Callable[[str], None]], Coroutine[Any, Any, None]]


def serve_of(role: ServiceRole) -> Serve:
    """Return the function that serves a role; roles are found by name."""
    serve: Serve = importlib.import_module(f"{role.module}.main").serve
    return serve


class RoleTask:
    """One role served by this process."""

    def __init__(self, role: ServiceRole, serve: Serve, properties: Mapping[str, str]) -> None:
        """Begin to serve at once."""
        self.role = role
        self.address = ""
        self._stop = asyncio.Event()
        self._ready = asyncio.Event()
        self._task = asyncio.create_task(serve(properties, self._stop, self._on_ready), name=role.name)

    async def ready(self) -> None:
        """Return once it serves.

        Raises:
            CopycatError: It ended instead.
        """
        ready, ended = await first(self._ready.wait(), self.ended())
        if ready.cancelled():
            ended.result()

    async def ended(self) -> NoReturn:
        """Wait until it ends without having been asked to, which is always an error.

        Raises:
            CopycatError: Why.
        """
        await asyncio.wait((self._task,))
        self._task.result()
        raise StartError(f"The {self.role.name} ended on its own")

    async def stop(self) -> None:
        """Let it drain; it is cancelled when that takes too long."""
        self._stop.set()
        _, late = await asyncio.wait((self._task,), timeout=STOP_SECONDS)
        for task in late:
            task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    def _on_ready(self, address: str) -> None:
        self.address = address
        self._ready.set()


async def first_end(tasks: Sequence[RoleTask]) -> None:
    """Wait until one of the roles ends on its own.

    Raises:
        CopycatError: Why it did.
    """
    for wait in await first(*(task.ended() for task in tasks)):
        if not wait.cancelled():
            wait.result()


class KeptRole:
    """Serves until `stop`, again whenever it ends on its own; only an end before it first served is final."""

    def __init__(self, role: ServiceRole, serve: Serve, properties: Mapping[str, str]) -> None:
        """Begin to serve at once."""
        self.role = role
        self._serve = serve
        self._properties = properties
        self._task = RoleTask(role, serve, properties)
        self._keeper: asyncio.Task[None] | None = None

    async def ready(self) -> None:
        """Return once it serves; from then on it is kept.

        Raises:
            CopycatError: It ended instead.
        """
        await self._task.ready()
        self._keeper = asyncio.create_task(keep_running(self._over, self._start, self._say))

    async def stop(self) -> None:
        """End it once it has drained; it is not started again."""
        if self._keeper is not None:
            self._keeper.cancel()
            await asyncio.wait((self._keeper,))
        await self._task.stop()

    async def _over(self) -> str:
        try:
            await self._task.ended()
        except Exception as error:  # the top of the role, whatever it may have died of
            return str(error)

    async def _start(self) -> None:
        self._task = RoleTask(self.role, self._serve, self._properties)

    def _say(self, how: str, wait: float) -> None:
        log.warning("the %s ended and is started again in %g s: %s", self.role.name, wait, how)


class Stoppable(Protocol):
    """A role that can be asked to drain."""

    role: ServiceRole

    async def stop(self) -> None:
        """End it once it has drained."""


async def stop_all(tasks: Sequence[Stoppable]) -> None:
    """Drain stage by stage, the last first."""
    for stage in sorted({task.role.stage for task in tasks}, reverse=True):
        await asyncio.gather(*(task.stop() for task in tasks if task.role.stage == stage))
