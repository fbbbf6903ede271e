"""One client for all services of a cluster."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from types import TracebackType

from copycat_rpc.role import own_properties
from copycat_rpc.secret import cluster_secret
from copycat_rpc.services import Addresses, ServiceStubs
from copycat_rpc.tls import ServicesTls, services_tls

from copycat_client.configs import Configs
from copycat_client.executors import Executors
from copycat_client.histories import Histories
from copycat_client.offsets import Offsets
from copycat_client.scheduler import Scheduler
from copycat_client.statuses import Statuses


class CopycatClient:
    """The services of one cluster; use it in an `async with` block, in one event loop.

    Nobody need be there yet: each call waits for a connection within its deadline. Calls that reach a standby
    are sent on to the writer. Nothing else is repeated.
    """

    def __init__(
        self, addresses: Addresses | None = None, *, secret: str = "", tls: ServicesTls | None = None
    ) -> None:
        """Use these addresses, by default on this machine, and the cluster's secret where it has one.

        Call it inside the event loop. Without the secret every call but `health` raises `RemoteError`,
        rpc.unauthenticated. `tls`: what a cluster that encrypts is called with, made by
        `copycat_rpc.tls.services_tls` of `services.ssl.*`.
        """
        self._services = ServiceStubs(addresses or Addresses(), secret=secret, tls=tls)
        channels = self._services.channels
        self.configs = Configs(channels["config"])
        """Configurations, target states, task configurations, restarts, log levels."""
        self.offsets = Offsets(channels["offset"])
        """Progress of sources and sinks."""
        self.status = Statuses(channels["status"])
        """What connectors and tasks do."""
        self.history = Histories(channels)
        """What changed about a connector, when, and who asked for it."""
        self.scheduler = Scheduler(channels["scheduler"])
        """Live workers and assignments."""
        self.executors = Executors(self.scheduler, secret=secret, tls=tls)
        """Plugins, validation, single restarts."""

    @classmethod
    def from_properties(cls, properties: Mapping[str, str]) -> CopycatClient:
        """Return the client of a cluster whose worker has these properties (`config.addresses`, ...).

        Placeholders in `cluster.secret` and `services.ssl.*` are resolved with the config providers the
        properties name.

        Raises:
            ConfigError: A list of addresses is empty, a config provider is wrong, or failed, the secret
                cannot be one, or a key store cannot be opened.
        """
        own = own_properties(properties)
        return cls(Addresses.of(properties), secret=cluster_secret(own), tls=services_tls(own))

    async def health(self, *, timeout: float = 2.0) -> Mapping[str, bool]:
        """Return for each service whether an instance of it answers that it serves; raises nothing."""
        roles = self._services.channels
        answers = await asyncio.gather(*(self._services.serves(role, timeout) for role in roles))
        return dict(zip(roles, answers, strict=True))

    async def close(self) -> None:
        """Close every connection; calls under way fail."""
        await self.executors.close()
        await self._services.close()

    async def __aenter__(self) -> CopycatClient:
        """Connect when the first call comes."""
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close every connection."""
        await self.close()
