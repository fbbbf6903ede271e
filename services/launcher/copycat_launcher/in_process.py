"""Roles as tasks of one event loop, for a worker without a cluster."""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any, Protocol

from copycat_launcher.errors import StartError
from copycat_launcher.roles import Role

Serve = Callable[[Mapping[str, str], asyncio.Event, Callable[[str], None]], Coroutine[Any, Any, None]]
#: An event-sourced service takes no longer, whatever hangs (`tools/adr/0050-draining.md`).
STOP_SECONDS = 40.0


def serve_of(role: Role) -> Serve:
    """Return the function that serves a role; roles are found by name."""
    serve: Serve = importlib.import_module(f"{role.module}.main").serve
    return serve


class RoleTask:
    """One role served by this process."""

    def __init__(self, role: Role, serve: Serve, properties: Mapping[str, str]) -> None:
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
        coming = asyncio.create_task(self._ready.wait())
        try:
            await asyncio.wait((coming, self._task), return_when=asyncio.FIRST_COMPLETED)
            if not coming.done():
                await self.ended()
        finally:
            coming.cancel()

    async def ended(self) -> None:
        """Wait until it ends without having been asked to, which is always an error.

        Raises:
            CopycatError: Why.
        """
        await asyncio.wait((self._task,))
        self._task.result()
        message = f"The {self.role.name} ended on its own"
        raise StartError(message)

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
    waits = [asyncio.create_task(task.ended()) for task in tasks]
    try:
        done, _ = await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        for wait in done:
            wait.result()
    finally:
        for wait in waits:
            wait.cancel()
        await asyncio.gather(*waits, return_exceptions=True)


class Stoppable(Protocol):
    """A role that can be asked to drain."""

    role: Role

    async def stop(self) -> None:
        """Let it drain."""


async def stop_all(tasks: Sequence[Stoppable]) -> None:
    """Drain stage by stage, the last first."""
    for stage in sorted({task.role.stage for task in tasks}, reverse=True):
        await asyncio.gather(*(task.stop() for task in tasks if task.role.stage == stage))
