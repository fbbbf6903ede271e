"""Where connectors keep their offsets, and the clients for it (`KafkaHomes`; ADR 0026)."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from copycat_connect.cluster import Config
from copycat_connect.config.client_overrides import (
    BOOTSTRAP_SERVERS,
    CLIENT_ID,
    check_overrides,
    overrides_of,
)
from copycat_connect.config.delivery import transactional_id
from copycat_connect.config.offsets_store import (
    OVERRIDES,
    OffsetsTopic,
    is_the_workers,
    primary_topic,
    worker_client_keys,
)
from copycat_connect.config.placeholders import Placeholders
from copycat_connect.errors import UnavailableError
from copycat_eventlog.append import Transaction, TransactionalIdRefusedError, TransactionalProducer
from copycat_eventlog.clients import librdkafka_config, read_security
from copycat_eventlog.settings import LogSettings
from copycat_eventlog.unreadable import Unreadable

from copycat_offset.adapters.codec import OffsetCodec
from copycat_offset.adapters.groups import operation_seconds
from copycat_offset.adapters.own_topic import Connections, KafkaOwnTopic
from copycat_offset.adapters.own_topic_clients import READ_COMMITTED, OffsetServiceSettings
from copycat_offset.domain.errors import TransactionRefusedError
from copycat_offset.domain.events import OffsetEvent
from copycat_offset.domain.homes import OffsetsHome

#: Own topics whose clients are kept; those that were used least recently are closed.
MAX_TOPICS: Final = 32
_ISOLATION: Final = "isolation.level"
_CODEC: Final = OffsetCodec()
Name: TypeAlias = tuple[str, str, float, tuple[tuple[tuple[str, str | int | bool], ...], ...]]


@dataclass(frozen=True, slots=True)
class KafkaHome:
    """`OffsetsHome` on Kafka."""

    group: str
    """The worker's `group.id`."""
    topic: str
    """To which the connector's own clients write."""
    producer: OffsetServiceSettings
    """How its producer connects, in librdkafka's words."""
    own: KafkaOwnTopic | None
    """The topic, where it is not the worker's."""

    async def write_at_once(self, connector: str, events: Sequence[OffsetEvent]) -> None:
        """Append in one transaction of the connector's first task."""
        if self.own is not None:
            await self.own.create()
        await asyncio.to_thread(self._write, transactional_id(self.group, connector, 0), events)

    def _write(self, name: str, events: Sequence[OffsetEvent]) -> None:
        producer = TransactionalProducer(self.producer, self.topic, name)
        try:
            producer.claim()
            records = [_CODEC.encode(event) for event in events]
            failure = producer.commit(Transaction([records]), lambda: None)
        except TransactionalIdRefusedError as error:
            raise TransactionRefusedError(name, str(self.producer[BOOTSTRAP_SERVERS])) from error
        finally:
            producer.discard()
        if failure is not None:
            raise UnavailableError(
                f"The transaction {name} on the offsets topic {self.topic} failed: {failure}"
            )


class KafkaHomes:
    """`OffsetsHomes` on Kafka; what placeholders stand for is kept in its clients only."""

    def __init__(
        self,
        worker: Mapping[str, str],
        own_topics: LogSettings,
        placeholders: Placeholders,
        unreadable: Unreadable,
    ) -> None:
        """Use these settings.

        Args:
            worker: The worker's properties; those for its connectors' clients as written.
            own_topics: What own topics are created with.
            placeholders: Resolves what is written.
            unreadable: Counts the records of own topics that cannot be read.
        """
        self._unreadable = unreadable
        self._worker = worker
        self._settings = own_topics
        self._placeholders = placeholders
        self._topics: OrderedDict[Name, KafkaOwnTopic] = OrderedDict()

    async def of(self, keys: Config, *, exactly_once: bool) -> OffsetsHome:
        """Return the home that a connector's keys name."""
        check_overrides(self._worker, overrides_of(keys, OVERRIDES))
        worker, store = await asyncio.to_thread(self._resolved, keys)
        primary = primary_topic(worker, store)
        connections = Connections(
            *(_connection(client) for client in (primary.producer, primary.consumer, primary.admin))
        )
        own = None
        if not is_the_workers(primary, worker):
            isolation = READ_COMMITTED if exactly_once else primary.consumer.get(_ISOLATION, READ_COMMITTED)
            own = await self._topic(primary, connections, isolation.lower(), operation_seconds(primary.admin))
        return KafkaHome(worker.get("group.id") or "", primary.name, connections.producer, own)

    async def aclose(self) -> None:
        """Close all clients."""
        topics = tuple(self._topics.values())
        self._topics.clear()
        await asyncio.gather(*(topic.aclose() for topic in topics))

    def _resolved(self, keys: Config) -> tuple[Config, Config]:
        worker = self._placeholders.resolve(worker_client_keys(self._worker))
        return {**self._worker, **worker}, self._placeholders.resolve(keys)

    async def _topic(
        self, topic: OffsetsTopic, connections: Connections, isolation: str, seconds: float
    ) -> KafkaOwnTopic:
        clients = (connections.producer, connections.consumer, connections.admin)
        name = (topic.name, isolation, seconds, tuple(tuple(sorted(client.items())) for client in clients))
        found = self._topics.pop(name, None)
        if found is None:
            settings = replace(self._settings, topic=topic.name)
            found = KafkaOwnTopic(settings, connections, isolation, seconds, self._unreadable)
        self._topics[name] = found
        if len(self._topics) > MAX_TOPICS:
            _, unused = self._topics.popitem(last=False)
            await unused.aclose()
        return found


def _connection(client: Mapping[str, str]) -> OffsetServiceSettings:
    """Return how a client connects; of its properties those of the login and `client.id` count."""
    config = librdkafka_config(client[BOOTSTRAP_SERVERS], read_security(client))
    return config | {CLIENT_ID: client[CLIENT_ID]} if CLIENT_ID in client else config
