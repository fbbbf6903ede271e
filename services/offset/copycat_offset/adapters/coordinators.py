"""The brokers that coordinate consumer groups; connections that break are made anew."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final

from aiokafka.client import AIOKafkaClient
from aiokafka.errors import BrokerResponseError, KafkaError, NodeNotReadyError
from aiokafka.protocol.api import Request
from copycat_eventlog.uncreating import UncreatingClient

#: What FindCoordinator is asked for.
_GROUP: Final = 0
#: One request, or one attempt to connect: short, so that a broker that hangs leaves time for another try.
REQUEST_SECONDS: Final = 4.0


class Coordinators:
    """Sends requests to the brokers that coordinate groups; for one event loop.

    librdkafka is not used: its admin requests for groups abort the process when a broker goes away meanwhile
    (2.11 to 2.16, assertion in rd_kafka_enq_once_del_source_return).
    """

    def __init__(self, client: Mapping[str, Any], request_seconds: float = REQUEST_SECONDS) -> None:
        """`client` has an aiokafka client's connection arguments; the first call connects."""
        self._arguments = {**client, "request_timeout_ms": int(request_seconds * 1000)}
        self._client: AIOKafkaClient | None = None
        self._connecting = asyncio.Lock()

    async def send(self, group: str, request: Request[Any]) -> Any:
        """Return the answer of a group's coordinator; it is looked up each time, since coordinators move.

        Raises:
            KafkaError: No broker answered, or none would say who coordinates the group.
        """
        client = await self._connected()
        try:
            if client.get_random_node() is None:
                raise NodeNotReadyError("No broker is known")
            node = await client.coordinator_lookup(_GROUP, group)
            return await client.send(node, request)
        except BrokerResponseError:
            raise
        except KafkaError:
            await self._drop(client)
            raise
        except KeyError as error:  # aiokafka 0.14: a request timed out whose connection is closed already
            await self._drop(client)
            raise NodeNotReadyError("The connection was lost") from error

    async def close(self) -> None:
        """Close the connections."""
        if self._client is not None:
            await self._drop(self._client)

    async def _connected(self) -> AIOKafkaClient:
        async with self._connecting:
            if self._client is None:
                client = UncreatingClient(**self._arguments)
                try:
                    await client.bootstrap()
                except BaseException:
                    await _close(client)
                    raise
                self._client = client
            return self._client

    async def _drop(self, client: AIOKafkaClient) -> None:
        """Close a client whose view of the cluster may be of brokers that are gone."""
        if self._client is client:
            self._client = None
        await _close(client)


async def _close(client: AIOKafkaClient) -> None:
    with suppress(KafkaError, OSError):
        await client.close()
