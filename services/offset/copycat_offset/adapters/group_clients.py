"""Clients for consumer groups: the worker's own, and those that connectors ask for by overrides."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Mapping
from typing import Final, Protocol

from copycat_connect.cluster import Config
from copycat_connect.config.client_overrides import (
    ADMIN_OVERRIDE,
    BOOTSTRAP_SERVERS,
    CONSUMER_OVERRIDE,
    group_client,
)
from copycat_connect.config.override_policy import POLICY, override_policy
from copycat_connect.config.placeholders import Placeholders
from copycat_connect.errors import ConfigError

from copycat_offset.adapters.groups import KafkaGroups
from copycat_offset.domain.groups import ConsumerGroups

#: Clients by overrides that are kept; the one that was used least recently is closed.
MAX_CLIENTS: Final = 32


class GroupClients(Protocol):
    """Finds the client for the consumer group of a connector."""

    async def of(self, overrides: Config) -> ConsumerGroups:
        """Return the client that a connector's `consumer.override.*` and `admin.override.*` ask for.

        Raises:
            ConfigError: They may not, or cannot be followed.
        """
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
        self._check(overrides)
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

    async def aclose(self) -> None:
        """Close all clients, the worker's own too."""
        for client in (self._own, *self._clients.values()):
            await client.aclose()

    def _check(self, overrides: Config) -> None:
        if not overrides:
            return
        policy = override_policy(self._worker)
        for key in overrides:
            refusal = policy(key.removeprefix(CONSUMER_OVERRIDE).removeprefix(ADMIN_OVERRIDE))
            if refusal is not None:
                message = f"Client Config Overrides not allowed: {refusal} Remove {key}, or change {POLICY}"
                raise ConfigError(message, key=key)
