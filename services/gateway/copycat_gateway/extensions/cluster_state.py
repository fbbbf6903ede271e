"""The cluster as REST extensions see it: blocking calls from their threads."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from copycat.status.v1 import status_service_pb2 as status_pb2
from copycat_connect.cluster import Config
from copycat_connect.errors import ConnectError, CopycatError
from copycat_connect.plugin import ClusterDetails, ConnectorHealth, InstanceHealth
from copycat_connect.plugin.errors import NoSuchConnectorError
from copycat_rpc.messages import config_from_proto

from copycat_gateway.clients import Services
from copycat_gateway.errors import STATUS_UNKNOWN, answering_refusals
from copycat_gateway.views.connectors import STATES

R = TypeVar("R")


class LiveClusterState:
    """Asks the services; belongs to the event loop it is made in and is called from other threads."""

    def __init__(self, services: Services, *, patience: float) -> None:
        """`patience`: seconds any call may take."""
        self._services = services
        self._patience = patience
        self._loop = asyncio.get_running_loop()

    def connectors(self) -> tuple[str, ...]:
        """Return the names of the connectors."""
        return self._ask("the connectors", self._names())

    def connector_health(self, name: str) -> ConnectorHealth:
        """Return what a connector and its tasks do."""
        return self._ask(f"the status of connector {name}", self._health(name))

    def connector_config(self, name: str) -> Config:
        """Return a connector's configuration, placeholders as they are."""
        return self._ask(f"the configuration of connector {name}", self._config(name))

    def cluster_details(self) -> ClusterDetails:
        """Return what is known about the cluster."""
        return ClusterDetails(self._ask("the id of the Kafka cluster", self._services.kafka.cluster_id()))

    def _ask(self, what: str, asking: Coroutine[Any, Any, R]) -> R:
        answer = asyncio.run_coroutine_threadsafe(self._in_time(asking), self._loop)
        try:
            return answer.result()
        except TimeoutError as error:
            raise ConnectError(
                f"Failed to retrieve {what}: the cluster did not answer within {self._patience:g} s"
            ) from error
        except ConnectError:
            raise
        except CopycatError as error:
            if isinstance(error, NoSuchConnectorError):
                raise
            raise ConnectError(f"Failed to retrieve {what}: {error.message}") from error

    async def _in_time(self, asking: Coroutine[Any, Any, R]) -> R:
        async with asyncio.timeout(self._patience):
            return await asking

    async def _names(self) -> tuple[str, ...]:
        return tuple(connector.name for connector in await self._services.connectors())

    async def _config(self, name: str) -> Config:
        found = await self._services.connector(name, NoSuchConnectorError(name))
        return config_from_proto(found.config)

    async def _health(self, name: str) -> ConnectorHealth:
        unknown = NoSuchConnectorError(name)
        with answering_refusals({STATUS_UNKNOWN: unknown}):
            reply = await self._services.status.GetConnectorStatus(
                status_pb2.GetConnectorStatusRequest(connector=name)
            )
        if not reply.status.HasField("status"):
            raise unknown
        tasks = reply.status.tasks
        return ConnectorHealth(
            name,
            await self._services.kind_of(name),
            _instance(reply.status.status),
            {task: _instance(tasks[task]) for task in sorted(tasks)},
        )


def _instance(status: status_pb2.Status) -> InstanceHealth:
    return InstanceHealth(STATES[status.state], status.worker_id, status.trace or None)
