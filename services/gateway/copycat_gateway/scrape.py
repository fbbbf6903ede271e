"""Reads the metrics of every service: for one page, and for who has lost its log."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from copycat.metrics.v1 import metrics_service_pb2 as pb
from copycat.metrics.v1.metrics_service_pb2_grpc import MetricsServiceStub
from copycat_connect.errors import CopycatError
from copycat_rpc.channel import open_channel
from copycat_rpc.tls import ServicesTls
from copycat_telemetry.metrics.groups import EVENT_LOG, LOST_BECAUSE

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


#: What was heard is good for so long: many statuses may be asked for at once.
GOOD_FOR_SECONDS: Final = 1.0
_LOSSES_TIMEOUT_SECONDS: Final = 2.0
#: A service that is away holds up nobody who asks: what was heard last counts then.
PATIENCE_SECONDS: Final = 0.5
_OFFSET: Final = "offset"
_SINK: Final = "sink"


class LostLogs:
    """Asks all services at once; of one that does not answer counts what it said last."""

    def __init__(self, channels: Mapping[str, grpc.aio.Channel]) -> None:
        """Use these channels, one to each service, by role."""
        self._stubs = {role: MetricsServiceStub(channel) for role, channel in channels.items()}
        self._heard: dict[str, str] = {}
        self._good_until = float("-inf")
        self._asking: asyncio.Task[None] | None = None

    async def reasons(self) -> Mapping[str, str]:
        """Return why logs are lost, by role; empty while all is well."""
        if asyncio.get_running_loop().time() > self._good_until:
            if self._asking is None:
                self._asking = asyncio.create_task(self._ask_all())
            await asyncio.wait((self._asking,), timeout=PATIENCE_SECONDS)
        return self._heard

    async def reason(self) -> str:
        """Return all reasons as one text; empty while all is well."""
        return _text((await self.reasons()).values())

    async def close(self) -> None:
        """End the question that is under way, and wait for its end."""
        if self._asking is not None:
            self._asking.cancel()
            await asyncio.wait((self._asking,))

    async def _ask_all(self) -> None:
        try:
            answers = await asyncio.gather(*map(self._ask, self._stubs))
            said = dict(zip(self._stubs, answers, strict=True))
            heard = {role: self._heard.get(role, "") if why is None else why for role, why in said.items()}
            self._heard = {role: why for role, why in heard.items() if why}
            self._good_until = asyncio.get_running_loop().time() + GOOD_FOR_SECONDS
        finally:
            self._asking = None

    async def _ask(self, role: str) -> str | None:
        """Return what a service says; None where it does not answer."""
        try:
            reply = await self._stubs[role].ReadMetrics(
                pb.ReadMetricsRequest(), timeout=_LOSSES_TIMEOUT_SECONDS
            )
        except CopycatError:
            return None
        return next(
            (
                metric.text
                for group in reply.groups
                if group.name == EVENT_LOG.name
                for metric in group.metrics
                if metric.name == LOST_BECAUSE
            ),
            "",
        )


def concerning(reasons: Mapping[str, str], kind: str) -> str:
    """Return the reasons that concern a connector of a kind: sinks keep their offsets elsewhere."""
    return _text(why for role, why in reasons.items() if (role, kind) != (_OFFSET, _SINK))


def _text(reasons: Iterable[str]) -> str:
    return " ".join(dict.fromkeys(reasons))
