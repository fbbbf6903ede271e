"""Clients for consumer groups: the worker's own, and those that connectors ask for by overrides."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Mapping
from typing import Final, Protocol

from copycat_connect.cluster import Config
from copycat_connect.config.client_overrides import (
    BOOTSTRAP_SERVERS,
    CONSUMER_OVERRIDE,
    check_overrides,
    group_client,
)
from copycat_connect.config.placeholders import Placeholders

from copycat_offset.adapters.groups import KafkaGroups
from copycat_offset.domain.groups import ConsumerGroups
from copycat_offset.domain.moves import Unplaced

#: Clients by overrides that are kept; the one that was used least recently is closed.
MAX_CLIENTS: Final = 32
OFFSET_RESET: Final = "auto.offset.reset"


class GroupClients(Protocol):
    """Finds the client for the consumer group of a connector."""

    async def of(self, overrides: Config) -> ConsumerGroups:
        """Return the client that a connector's `consumer.override.*` and `admin.override.*` ask for.

        Raises:
            ConfigError: They may not, or cannot be followed.
        """
        ...

    def unplaced(self, overrides: Config) -> Unplaced:
        """Return where the connector's consumer begins that has no position, or one out of range."""
        ...


class KafkaGroupClients:
    """`GroupClients` on Kafka; what placeholders stand for is kept in its clients only."""

    def __init__(self, worker: Mapping[str, str], own: KafkaGroups, placeholders: Placeholders) -> None:
        """`worker` has the worker's properties as written, `own` is its own client."""
        self._worker = worker
        self._own = own
        self._placeholders = placeholders
        self._clients: OrderedDict[tuple[tuple[str, str], ...], KafkaGroups] = OrderedDict()

    async def of(self, overrides: Config) -> ConsumerGroups:
        """Return the client that overrides ask for; the worker's own where they change nothing."""
        check_overrides(self._worker, overrides)
        written = group_client(self._worker, overrides)
        if written is None:
            return self._own
        client = await asyncio.to_thread(self._placeholders.resolve, written)
        name = tuple(sorted(client.items()))
        found = self._clients.pop(name, None) or KafkaGroups(client[BOOTSTRAP_SERVERS], client)
        self._clients[name] = found
        if len(self._clients) > MAX_CLIENTS:
            _, unused = self._clients.popitem(last=False)
            await unused.aclose()
        return found

    def unplaced(self, overrides: Config) -> Unplaced:
        """Return where a consumer begins without a position: as its overrides, or the worker, say."""
        own = overrides.get(CONSUMER_OVERRIDE + OFFSET_RESET)
        word = own or self._worker.get(f"consumer.{OFFSET_RESET}") or Unplaced.BEGINNING.value
        return {each.value: each for each in Unplaced}.get(word.strip().lower(), Unplaced.UNKNOWN)

    async def aclose(self) -> None:
        """Close all clients, the worker's own too."""
        for client in (self._own, *self._clients.values()):
            await client.aclose()
