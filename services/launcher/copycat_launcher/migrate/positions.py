"""How far connectors have come, read from Kafka: source offsets, and the consumer groups of sinks."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from types import TracebackType
from typing import Self

from copycat_connect.cluster import Config
from copycat_connect.cluster.sink_group import sink_group
from copycat_connect.config.client_overrides import (
    BOOTSTRAP_SERVERS,
    PRODUCER_OVERRIDE,
    group_client,
    overrides_of,
)
from copycat_connect.config.framework_names import CONNECTOR_CLASS, OFFSETS_TOPIC, TOPICS, TOPICS_REGEX
from copycat_connect.config.placeholders import has_placeholder
from copycat_connect.errors import CopycatError
from copycat_connect.plugin.registry import Plugins
from copycat_connect.plugin.spec import CONNECTORS, PluginKind
from copycat_offset.adapters.codec import OffsetCodec
from copycat_offset.adapters.groups import KafkaGroups
from copycat_offset.domain.events import OffsetEvent
from copycat_offset.domain.evolve import evolve
from copycat_offset.domain.state import NO_PARTITIONS, OffsetState

from copycat_launcher.migrate.folding import TopicFold
from copycat_launcher.migrate.found import Positions
from copycat_launcher.migrate.places import Place

OFFSETS: TopicFold[OffsetEvent, OffsetState] = TopicFold(OffsetCodec(), evolve, OffsetState())
ELSEWHERE = "they are on another cluster of Kafka, whose address or login is in a placeholder"
OWN_ELSEWHERE = "its offsets.storage.topic is on another cluster of Kafka"


class PositionsReader:
    """Counts the partitions that have a position, connector by connector."""

    def __init__(
        self,
        place: Place,
        connection: Mapping[str, str | int | bool],
        plugins: Plugins,
        offsets: OffsetState,
    ) -> None:
        """Nothing is asked yet; `offsets` is what the workers' offsets topic says."""
        self._place = place
        self._connection = connection
        self._plugins = plugins
        self._offsets = offsets
        self._own_topics: dict[str, OffsetState] = {}
        self._loop = asyncio.Runner()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._loop.close()

    def of(self, name: str, config: Config) -> Positions:
        """Return how far a connector has come; one whose class is not here is a sink if it names topics."""
        spec = self._plugins.get((config.get(CONNECTOR_CLASS) or "").strip(), CONNECTORS)
        if spec is not None and spec.kind is PluginKind.SOURCE:
            return self._source(name, config)
        if spec is None and not (config.get(TOPICS) or config.get(TOPICS_REGEX)):
            return self._source(name, config)
        return self._sink(name, config)

    def _source(self, name: str, config: Config) -> Positions:
        partitions = set(self._offsets.connectors.get(name, NO_PARTITIONS))
        own = (config.get(OFFSETS_TOPIC) or "").strip()
        if own:
            if config.get(PRODUCER_OVERRIDE + BOOTSTRAP_SERVERS):
                return Positions(None, OWN_ELSEWHERE)
            partitions |= set(self._own(own).connectors.get(name, NO_PARTITIONS))
        return Positions(len(partitions))

    def _own(self, topic: str) -> OffsetState:
        if topic not in self._own_topics:
            self._own_topics[topic] = OFFSETS.read(self._connection, topic).state
        return self._own_topics[topic]

    def _sink(self, name: str, config: Config) -> Positions:
        overrides = overrides_of(config)
        client = group_client(self._place.client, overrides) or dict(self._place.client)
        group = sink_group(name, config)
        if any(map(has_placeholder, (*client.values(), group))):
            return Positions(None, ELSEWHERE)
        try:
            return Positions(self._loop.run(_committed(client, group)))
        except CopycatError as error:
            return Positions(None, error.message)


async def _committed(client: Mapping[str, str], group: str) -> int:
    groups = KafkaGroups(client[BOOTSTRAP_SERVERS], client)
    try:
        return len(await groups.positions(group))
    finally:
        await groups.aclose()
