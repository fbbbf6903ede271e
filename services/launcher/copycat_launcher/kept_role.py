"""A role of this process that is started again when it ends on its own."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping

from copycat_launcher.in_process import RoleTask, Serve
from copycat_launcher.roles import Role
from copycat_launcher.supervisor import RESTARTS, STEADY_SECONDS

log = logging.getLogger(__name__)


class KeptRole:
    """Serves from its construction until `stop`; only an end before it first served is final."""

    def __init__(self, role: Role, serve: Serve, properties: Mapping[str, str]) -> None:
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
        self._keeper = asyncio.create_task(self._keep())

    async def stop(self) -> None:
        """Let it drain."""
        if self._keeper is not None:
            self._keeper.cancel()
            await asyncio.wait((self._keeper,))
        await self._task.stop()

    async def _keep(self) -> None:
        clock = asyncio.get_running_loop()
        waits, began = RESTARTS.waits(), clock.time()
        while True:
            try:
                await self._task.ended()
            except Exception as error:  # the top of the role, whatever it may have died of
                if clock.time() - began > STEADY_SECONDS:
                    waits = RESTARTS.waits()
                wait = next(waits)
                log.warning("the %s ended and is started again in %g s: %s", self.role.name, wait, error)
            await asyncio.sleep(wait)
            began = clock.time()
            self._task = RoleTask(self.role, self._serve, self._properties)
