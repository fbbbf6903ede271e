"""What config providers lend counts for a while: then the connector is started anew and reads again."""

from __future__ import annotations

import asyncio
import logging
from typing import Final

from copycat.config.v1 import config_service_pb2 as pb
from copycat_connect.errors import CopycatError
from copycat_connect.retry import RetryPolicy
from copycat_rpc.services import ServiceStubs
from copycat_telemetry.changes import log_change

from copycat_executor.background.jobs import Jobs

log = logging.getLogger(__name__)

ASKING: Final = RetryPolicy(first=1.0, factor=2.0, ceiling=30.0, give_up_after=600.0)


class Reloading:
    """Asks for restarts where values have expired: of the tasks, too, which read them by themselves."""

    def __init__(self, services: ServiceStubs, jobs: Jobs) -> None:
        self._services = services
        self._jobs = jobs

    def expired(self, connector: str) -> None:
        """Values in a connector's configuration do not count any more (`config.action.reload=restart`)."""
        log_change(log, "connector restarts to read its secrets again", connector=connector)
        self._jobs.spawn(self._restart(connector), "restart to read secrets again")

    async def _restart(self, connector: str) -> None:
        request = pb.RequestRestartRequest(connector=connector, include_tasks=True)
        for wait in ASKING.waits():
            try:
                await self._services.config.RequestRestart(request)
            except CopycatError as error:
                log.warning("connector %s is not restarted yet to read its secrets: %s", connector, error)
                await asyncio.sleep(wait)
            else:
                return
