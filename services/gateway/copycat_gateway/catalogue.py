"""Which connector class is a source and which a sink: facts about plugins, asked of a worker."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping
from typing import Final

from copycat.config.v1 import config_service_pb2 as config_pb2
from copycat.executor.v1 import executor_service_pb2 as executor_pb2
from copycat_connect.errors import UnavailableError

from copycat_gateway.workers import Workers

SOURCE: Final = "source"
SINK: Final = "sink"
UNKNOWN: Final = "unknown"
TYPES_VALID_SECONDS: Final = 5.0
"""Seconds before a worker is asked again; plugins change only when workers are replaced."""


class Catalogue:
    """The types of the connector classes workers can load.

    The last known types are used until a worker has answered anew: reads must not wait for one that hangs.
    """

    def __init__(self, workers: Workers, fresh: float = TYPES_VALID_SECONDS) -> None:
        """`fresh`: seconds before a worker is asked again."""
        self._workers = workers
        self._fresh = fresh
        self._types: Mapping[str, str] = {}
        self._asked_at = float("-inf")
        self._asking: asyncio.Task[None] | None = None
        self._patience: float | None = None

    async def type_of(self, connector: config_pb2.Connector) -> str:
        """Return source, sink or unknown."""
        types = await self.types()
        return types.get(connector_class(connector), UNKNOWN)

    async def types_of(self, connectors: Collection[config_pb2.Connector]) -> Mapping[str, str]:
        """Return the type of each connector by its name; nobody is asked without connectors."""
        types = await self.types() if connectors else {}
        return {connector.name: types.get(connector_class(connector), UNKNOWN) for connector in connectors}

    async def types(self) -> Mapping[str, str]:
        """Return the type of each connector class and alias; only the very first answer is waited for.

        That is as long as any request waits for a worker (`rest.worker.wait.ms`): a gateway may be up before
        the first worker of its cluster has joined.
        """
        if asyncio.get_running_loop().time() - self._asked_at > self._fresh and self._asking is None:
            self._asking = asyncio.create_task(self._ask())
            self._asking.add_done_callback(self._asked)
        if not self._types and self._asking is not None:
            await asyncio.shield(self._asking)
        return self._types

    async def plugins(self, patience: float | None = None) -> list[executor_pb2.Plugin]:
        """Return every plugin a live worker can load."""
        return list((await self._installed(patience)).plugins)

    async def unloadable(self) -> list[executor_pb2.UnloadablePlugin]:
        """Return what is installed where a live worker runs and cannot be loaded there."""
        return list((await self._installed()).unloadable)

    async def _installed(self, patience: float | None = None) -> executor_pb2.ListPluginsResponse:
        return await self._workers.ask(
            lambda executor: executor.ListPlugins(executor_pb2.ListPluginsRequest()), patience=patience
        )

    async def _ask(self) -> None:
        try:
            plugins = await self.plugins(self._patience)
        except UnavailableError:
            return
        finally:
            self._patience = 0.0
        self._asked_at = asyncio.get_running_loop().time()
        self._types = {
            name: plugin.type
            for plugin in plugins
            if plugin.type in {SOURCE, SINK}
            for name in (plugin.class_name, *plugin.aliases)
        }

    def _asked(self, asking: asyncio.Task[None]) -> None:
        self._asking = None
        if not asking.cancelled():
            asking.exception()  # whoever waits for it hears it; the next read asks again


def connector_class(connector: config_pb2.Connector) -> str:
    """Return the class a connector's configuration names."""
    return next((entry.value for entry in connector.config.entries if entry.key == "connector.class"), "")
