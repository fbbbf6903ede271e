"""What the process of the connectors says, passed to who deals with it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection
from typing import Final, assert_never

from copycat.config.v1 import config_service_pb2 as pb
from copycat_connect.errors import CopycatError
from copycat_connect.retry import RetryPolicy
from copycat_rpc.services import ServiceStubs
from copycat_telemetry.changes import log_change

from copycat_executor.background import BackgroundJobs
from copycat_executor.children.connector_process import ConnectorProcess
from copycat_executor.children.query_engine import Queries
from copycat_executor.connectors.connector_actions import ConnectorActions
from copycat_executor.domain.errors import PluginProcessGoneError
from copycat_executor.pipes.connector_messages import (
    ConnectorEvent,
    ConnectorFailed,
    ConnectorWaits,
    QueryAsked,
    ReconfigurationWanted,
    RowTextAsked,
    SecretsExpired,
)

log = logging.getLogger(__name__)

ASKING: Final = RetryPolicy(first=1.0, factor=2.0, ceiling=30.0, give_up_after=600.0)


class Reloading:
    """Asks for restarts where values have expired: of the tasks, too, which read them by themselves."""

    def __init__(self, services: ServiceStubs, jobs: BackgroundJobs) -> None:
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


class ProcessEvents:
    """Hears the processes of connectors: a validation's queries are answered, the rest is of connectors."""

    def __init__(
        self,
        connectors: ConnectorActions,
        reloading: Reloading,
        queries: Queries,
        jobs: BackgroundJobs,
    ) -> None:
        self._reloading = reloading
        self._connectors = connectors
        self._queries = queries
        self._jobs = jobs

    def heard(self, event: ConnectorEvent, process: ConnectorProcess) -> None:
        """A validation asks for a query, or a connector says something."""
        match event:
            case QueryAsked() | RowTextAsked():
                self._jobs.spawn(self._queries.check(event, process), "query of a validation")
            case ReconfigurationWanted(incarnation=incarnation):
                self._connectors.reconfigure(incarnation)
            case ConnectorFailed(incarnation=incarnation, failure=failure):
                self._connectors.failed(incarnation, failure.trace, failure.kind)
            case ConnectorWaits(incarnation=incarnation, reason=reason):
                self._connectors.waits(incarnation, reason)
            case SecretsExpired(incarnation=incarnation):
                name = self._connectors.name_of(incarnation)
                if name is not None:
                    self._reloading.expired(name)
            case _:
                assert_never(event)

    def process_ended(self, connectors: Collection[str], blamed: PluginProcessGoneError | None) -> None:
        """These connectors lost their objects; `blamed` where one did so by itself."""
        self._connectors.process_ended(connectors, blamed)
