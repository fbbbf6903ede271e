"""One client for all services of a cluster."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING

from copycat_connect.cluster import default_address
from copycat_connect.errors import CopycatError
from copycat_rpc.channel import open_channel
from copycat_rpc.role import own_properties
from copycat_rpc.secret import cluster_secret
from grpc_health.v1 import health_pb2, health_pb2_grpc

from copycat_client.configs import Configs
from copycat_client.executors import Executors
from copycat_client.offsets import Offsets
from copycat_client.scheduler import Scheduler
from copycat_client.statuses import Statuses

if TYPE_CHECKING:
    import grpc

SERVICES = ("config", "offset", "status", "scheduler")


class CopycatClient:
    """The services of one cluster; use it in an `async with` block, in one event loop.

    Nobody need be there yet: each call waits for a connection within its deadline. Calls that reach a standby
    are sent on to the writer. Nothing else is repeated.
    """

    def __init__(
        self,
        *,
        config_addresses: Sequence[str] = (default_address("config"),),
        offset_addresses: Sequence[str] = (default_address("offset"),),
        status_addresses: Sequence[str] = (default_address("status"),),
        scheduler_addresses: Sequence[str] = (default_address("scheduler"),),
        secret: str = "",
    ) -> None:
        """Take the `host:port` of every instance of each service, and the cluster's secret where it has one.

        Call it inside the event loop. Without the secret every call but `health` raises `RemoteError`,
        rpc.unauthenticated.
        """
        self._channels: Mapping[str, grpc.aio.Channel] = {
            "config": open_channel(config_addresses, secret=secret),
            "offset": open_channel(offset_addresses, secret=secret),
            "status": open_channel(status_addresses, secret=secret),
            "scheduler": open_channel(scheduler_addresses, secret=secret),
        }
        self.configs = Configs(self._channels["config"])
        """Configurations, target states, task configurations, restarts, log levels."""
        self.offsets = Offsets(self._channels["offset"])
        """Progress of sources and sinks."""
        self.status = Statuses(self._channels["status"])
        """What connectors and tasks do."""
        self.scheduler = Scheduler(self._channels["scheduler"])
        """Live workers and assignments."""
        self.executors = Executors(self.scheduler, secret=secret)
        """Plugins, validation, single restarts."""

    @classmethod
    def from_properties(cls, properties: Mapping[str, str]) -> CopycatClient:
        """Return the client of a cluster whose worker has these properties (`config.addresses`, ...).

        A placeholder in `cluster.secret` is resolved with the config providers the properties name.

        Raises:
            ConfigError: A config provider is wrong, or failed, or the secret cannot be one.
        """
        found = {role: properties.get(f"{role}.addresses", default_address(role)) for role in SERVICES}
        return cls(
            **{
                f"{role}_addresses": [address.strip() for address in addresses.split(",")]
                for role, addresses in found.items()
            },
            secret=cluster_secret(own_properties(properties)),
        )

    async def health(self, *, timeout: float = 2.0) -> Mapping[str, bool]:
        """Return for each service whether an instance of it answers that it serves; raises nothing."""
        answers = await asyncio.gather(*(_serves(channel, timeout) for channel in self._channels.values()))
        return dict(zip(self._channels, answers, strict=True))

    async def close(self) -> None:
        """Close every connection; calls under way fail."""
        await self.executors.close()
        for channel in self._channels.values():
            await channel.close(grace=None)

    async def __aenter__(self) -> CopycatClient:
        """Connect when the first call comes."""
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close every connection."""
        await self.close()


async def _serves(channel: grpc.aio.Channel, timeout: float) -> bool:
    stub = health_pb2_grpc.HealthStub(channel)
    try:
        reply = await stub.Check(health_pb2.HealthCheckRequest(), timeout=timeout)
    except CopycatError:
        return False
    return bool(reply.status == health_pb2.HealthCheckResponse.SERVING)
