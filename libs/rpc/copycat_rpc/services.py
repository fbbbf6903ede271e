"""The four services that all parts of a cluster call: where they answer, a channel and a stub for each."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Final

from copycat.config.v1.config_service_pb2_grpc import ConfigServiceStub
from copycat.history.v1.history_service_pb2_grpc import HistoryServiceStub
from copycat.offset.v1.offset_service_pb2_grpc import OffsetServiceStub
from copycat.scheduler.v1.scheduler_service_pb2_grpc import SchedulerServiceStub
from copycat.status.v1.status_service_pb2_grpc import StatusServiceStub
from copycat_connect.cluster import default_address
from copycat_connect.config import ConfigDef
from copycat_connect.config.worker_keys import addresses_key
from copycat_connect.errors import CopycatError

from copycat_rpc.channel import open_channel
from copycat_rpc.health import ask
from copycat_rpc.tls import ServicesTls

if TYPE_CHECKING:
    import grpc
    from copycat.config.v1.config_service_pb2_grpc import ConfigServiceAsyncStub
    from copycat.history.v1.history_service_pb2_grpc import HistoryServiceAsyncStub
    from copycat.offset.v1.offset_service_pb2_grpc import OffsetServiceAsyncStub
    from copycat.scheduler.v1.scheduler_service_pb2_grpc import SchedulerServiceAsyncStub
    from copycat.status.v1.status_service_pb2_grpc import StatusServiceAsyncStub


@dataclass(frozen=True, slots=True)
class Addresses:
    """Where each service answers: `host:port` of every instance."""

    config: Sequence[str] = (default_address("config"),)
    """Of the config service."""
    offset: Sequence[str] = (default_address("offset"),)
    """Of the offset service."""
    status: Sequence[str] = (default_address("status"),)
    """Of the status service."""
    scheduler: Sequence[str] = (default_address("scheduler"),)
    """Of the scheduler, by which live workers are found, too."""

    @classmethod
    def of(cls, properties: Mapping[str, str]) -> Addresses:
        """Read them from worker properties (`config.addresses` and so on).

        Raises:
            ConfigError: One of the lists is empty.
        """
        parsed = ConfigDef(*ADDRESS_KEYS).parse(properties)
        return cls(*(tuple(parsed[key.name]) for key in ADDRESS_KEYS))


ADDRESS_KEYS: Final = tuple(addresses_key(each.name) for each in fields(Addresses))
"""The worker properties that say where the services answer, `config.addresses` and so on."""

#: The services that answer for the past of their facts.
HISTORIANS: Final = ("config", "offset", "status")


class ServiceStubs:
    """A channel and a stub for each service; to be made inside the event loop.

    Nobody need be there yet: each call waits for a connection within its deadline.
    """

    def __init__(self, addresses: Addresses, *, secret: str = "", tls: ServicesTls | None = None) -> None:
        """Open the channels, with the cluster's secret and encrypted where it has these."""
        self.addresses = addresses
        self._secret = secret
        self._tls = tls
        self._apart: list[grpc.aio.Channel] = []
        self.channels: Mapping[str, grpc.aio.Channel] = {
            role: open_channel(found, secret=secret, tls=tls) for role, found in asdict(addresses).items()
        }
        """By role: config, offset, status, scheduler."""
        self.config: ConfigServiceAsyncStub = ConfigServiceStub(self.channels["config"])
        self.offset: OffsetServiceAsyncStub = OffsetServiceStub(self.channels["offset"])
        self.status: StatusServiceAsyncStub = StatusServiceStub(self.channels["status"])
        self.scheduler: SchedulerServiceAsyncStub = SchedulerServiceStub(self.channels["scheduler"])
        self.histories: Mapping[str, HistoryServiceAsyncStub] = {
            role: HistoryServiceStub(self.channels[role]) for role in HISTORIANS
        }
        """By role: config, offset, status."""

    async def serves(self, role: str, timeout: float) -> bool:
        """Return whether an instance of a service answers within `timeout` seconds that it serves."""
        try:
            return (await ask(self.channels[role], timeout)).serves
        except CopycatError:
            return False

    def every_instance(self, role: str) -> list[grpc.aio.Channel]:
        """Open a channel to each instance of a service, for what all of them must know."""
        addresses = asdict(self.addresses)[role]
        opened = [open_channel([address], secret=self._secret, tls=self._tls) for address in addresses]
        self._apart += opened
        return opened

    async def close(self) -> None:
        """Close every channel; calls under way fail."""
        for channel in (*self.channels.values(), *self._apart):
            await channel.close(grace=None)


@asynccontextmanager
async def connected(
    addresses: Addresses, *, secret: str = "", tls: ServicesTls | None = None
) -> AsyncIterator[ServiceStubs]:
    """Open a channel to every service and close them at the end."""
    stubs = ServiceStubs(addresses, secret=secret, tls=tls)
    try:
        yield stubs
    finally:
        await stubs.close()
