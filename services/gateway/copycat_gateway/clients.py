"""The services the gateway calls."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Final
from weakref import WeakValueDictionary

from copycat.config.v1 import config_service_pb2 as config_pb2
from copycat.scheduler.v1 import scheduler_service_pb2 as pb
from copycat.types.v1 import types_pb2
from copycat_connect.config.delivery import ExactlyOnceSources
from copycat_connect.errors import CopycatError
from copycat_rpc.services import Addresses, ServiceStubs
from copycat_rpc.tls import ServicesTls

from copycat_gateway.catalogue import UNKNOWN, Catalogue
from copycat_gateway.errors import CONNECTOR_UNKNOWN, NotFoundError, answering_refusals
from copycat_gateway.scrape import LostLogs, Scrape
from copycat_gateway.workers import Workers

if TYPE_CHECKING:
    from copycat.scheduler.v1.scheduler_service_pb2_grpc import SchedulerServiceAsyncStub


_ANSWER_TIMEOUT_SECONDS: Final = 2.0
"""Seconds to wait for an answer: what asks shows an unknown id rather than nothing."""


class _KafkaCluster:
    """The id of the Kafka cluster, asked for until it is known: it never changes."""

    def __init__(self, scheduler: SchedulerServiceAsyncStub) -> None:
        self._scheduler = scheduler
        self._known: str | None = None

    async def cluster_id(self) -> str | None:
        """Return the id; None while neither brokers nor scheduler answer."""
        if self._known is None:
            try:
                reply = await self._scheduler.DescribeKafkaCluster(
                    pb.DescribeKafkaClusterRequest(), timeout=_ANSWER_TIMEOUT_SECONDS
                )
            except CopycatError:
                return None
            self._known = reply.cluster_id or None
        return self._known


class WrittenRevisions:
    """The newest revision this gateway's own writes reached; its reads ask for no less (I4).

    A single instance answers a write only once its reads show it, so nothing is asked of it: a floor that
    outlived its log would only make reads wait.
    """

    def __init__(self, instances: int) -> None:
        self._standbys = instances > 1
        self._next: dict[int, int] = {}

    def note(self, revision: types_pb2.Revision) -> None:
        """Remember where a write is visible."""
        if self._standbys:
            for partition, offset in revision.next.items():
                self._next[partition] = max(offset, self._next.get(partition, 0))

    def floor(self) -> types_pb2.Revision:
        """Return the least revision a read may be answered at."""
        return types_pb2.Revision(next=self._next)


class Services(ServiceStubs):
    """The services, and what is found out from them, on channels shared by all requests."""

    def __init__(
        self,
        addresses: Addresses,
        *,
        secret: str = "",
        tls: ServicesTls | None = None,
        patience: float = 10.0,
        exactly_once_sources: ExactlyOnceSources = ExactlyOnceSources.ON_REQUEST,
    ) -> None:
        """Open the channels.

        Args:
            addresses: Where the services are.
            secret: The cluster's.
            tls: What the services are called with where they encrypt.
            patience: Seconds a request waits for a worker to appear.
            exactly_once_sources: Which source connectors of the workers deliver exactly once.
        """
        super().__init__(addresses, secret=secret, tls=tls)
        self.exactly_once_sources = exactly_once_sources
        self.written = WrittenRevisions(len(addresses.config))
        self.written_status = WrittenRevisions(len(addresses.status))
        self.workers = Workers(self.scheduler, secret=secret, tls=tls, patience=patience)
        self.kafka = _KafkaCluster(self.scheduler)
        self.catalogue = Catalogue(self.workers)
        self.changing: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        """Held for a connector while a change is made from its configuration."""
        self.lost_logs = LostLogs(self.channels)
        self.scrape = Scrape(asdict(addresses), self.workers, secret=secret, tls=tls)

    async def connector(self, name: str, unknown: CopycatError | None = None) -> config_pb2.Connector:
        """Return a connector.

        Raises:
            CopycatError: `unknown`, by default "Connector <name> not found".
        """
        unknown = unknown or connector_not_found(name)
        with answering_refusals({CONNECTOR_UNKNOWN: unknown}):
            request = config_pb2.GetConnectorRequest(name=name, min_revision=self.written.floor())
            reply = await self.config.GetConnector(request)
        return reply.connector

    async def connectors(self) -> Sequence[config_pb2.Connector]:
        """Return every connector."""
        request = config_pb2.ListConnectorsRequest(min_revision=self.written.floor())
        return (await self.config.ListConnectors(request)).connectors

    async def kind_of(self, name: str) -> str:
        """Return source, sink or unknown; a connector that does not exist is unknown, too."""
        try:
            return await self.catalogue.type_of(await self.connector(name))
        except NotFoundError:
            return UNKNOWN

    async def close(self) -> None:
        """Close every channel."""
        await self.lost_logs.close()
        await self.scrape.close()
        await self.workers.close()
        await super().close()


def connector_not_found(name: str) -> NotFoundError:
    """Return the answer of most resources of a connector that does not exist."""
    return NotFoundError(f"Connector {name} not found")


@asynccontextmanager
async def open_services(
    addresses: Addresses,
    *,
    secret: str = "",
    tls: ServicesTls | None = None,
    patience: float = 10.0,
    exactly_once_sources: ExactlyOnceSources = ExactlyOnceSources.ON_REQUEST,
) -> AsyncIterator[Services]:
    """Open the clients and close them at the end."""
    services = Services(
        addresses, secret=secret, tls=tls, patience=patience, exactly_once_sources=exactly_once_sources
    )
    try:
        yield services
    finally:
        await services.close()
