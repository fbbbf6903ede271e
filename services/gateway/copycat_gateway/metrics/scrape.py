"""Reads the metrics of every service, for one page."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from copycat.metrics.v1 import metrics_service_pb2 as pb
from copycat.metrics.v1.metrics_service_pb2_grpc import MetricsServiceStub
from copycat_connect.errors import CopycatError
from copycat_rpc.channel import open_channel
from copycat_rpc.tls import ServicesTls

from copycat_gateway.workers import Workers

if TYPE_CHECKING:
    import grpc

EXECUTOR: Final = "executor"
ANSWER_TIMEOUT_SECONDS: Final = 3.0
"""Seconds a service may take to answer: a page must come even while some are away."""


@dataclass(frozen=True, slots=True)
class ServiceMetrics:
    """The metrics of one process."""

    service: str
    """Its role."""
    address: str
    """`host:port` it answers gRPC at; of an executor its worker id."""
    groups: Sequence[pb.MetricGroup] | None
    """None when it did not answer."""


class Scrape:
    """Reads the metrics of all services; holds connections, and which executors it saw last."""

    def __init__(
        self,
        addresses: Mapping[str, Sequence[str]],
        workers: Workers,
        *,
        secret: str = "",
        tls: ServicesTls | None = None,
        patience: float = ANSWER_TIMEOUT_SECONDS,
    ) -> None:
        """`addresses`: of every instance, by role; executors are found through the scheduler."""
        self._secret = secret
        self._tls = tls
        self._patience = patience
        self._fixed = [(role, address) for role, found in addresses.items() for address in found]
        self._workers = workers
        self._channels: dict[str, grpc.aio.Channel] = {}
        self._readers = 0
        self._seen: Sequence[str] = ()

    async def read(self) -> Sequence[ServiceMetrics]:
        """Ask all of them at once; who does not answer in time is there without groups."""
        targets = [*self._fixed, *((EXECUTOR, address) for address in await self._executors())]
        self._readers += 1
        try:
            answers = await asyncio.gather(*(self._ask(role, address) for role, address in targets))
        finally:
            self._readers -= 1
        if not self._readers:  # else another reader may still wait for a worker that left meanwhile
            await self._forget({address for _, address in targets})
        return answers

    async def read_services(self) -> Sequence[ServiceMetrics]:
        """Ask those whose addresses are known beforehand: all but executors."""
        return await asyncio.gather(*(self._ask(role, address) for role, address in self._fixed))

    async def close(self) -> None:
        """Close every connection."""
        await self._forget(set())

    async def _executors(self) -> Sequence[str]:
        try:
            async with asyncio.timeout(self._patience):
                self._seen = [worker.worker_id for worker in await self._workers.listed()]
        except (CopycatError, TimeoutError):
            pass  # those seen last may well answer, or are reported as away
        return self._seen

    async def _ask(self, service: str, address: str) -> ServiceMetrics:
        channel = self._channels.get(address)
        if channel is None:
            channel = open_channel([address], secret=self._secret, tls=self._tls)
            self._channels[address] = channel
        try:
            async with asyncio.timeout(self._patience):
                reply = await MetricsServiceStub(channel).ReadMetrics(pb.ReadMetricsRequest())
        except (CopycatError, TimeoutError):
            return ServiceMetrics(service, address, None)
        return ServiceMetrics(service, address, reply.groups)

    async def _forget(self, kept: set[str]) -> None:
        for channel in [self._channels.pop(address) for address in self._channels.keys() - kept]:
            await channel.close(grace=None)
