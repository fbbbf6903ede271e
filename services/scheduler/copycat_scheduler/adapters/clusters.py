"""The topics of every cluster that sinks read, named by their `consumer.override.bootstrap.servers`."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass

from copycat_connect.cluster import TopicPartition
from copycat_connect.config.placeholders import Placeholders
from copycat_connect.errors import ConfigError, UnavailableError

from copycat_scheduler.adapters.topics import PartitionCounts, ReadTopics, TopicCatalog
from copycat_scheduler.domain.partitions import Subscription

Cluster = tuple[tuple[str, str], ...]
OpenTopics = Callable[[Mapping[str, str]], PartitionCounts]


@dataclass(frozen=True, slots=True)
class _Followed:
    """A cluster that is read."""

    catalog: TopicCatalog
    reading: asyncio.Task[None]


class ClusterCatalogs:
    """What each subscription means at the moment; a cluster that is away holds up its own sinks only."""

    def __init__(
        self,
        own: ReadTopics,
        open_topics: OpenTopics,
        placeholders: Placeholders,
        interval: float,
        changed: Callable[[], None],
    ) -> None:
        """Read nothing before something is wanted.

        Args:
            own: Reads the topics of the worker's cluster.
            open_topics: Makes the topics of another cluster from a Java client's properties.
            placeholders: Of these properties; what they stand for stays in the client.
            interval: Seconds between two looks.
            changed: Called when an answer changed.
        """
        self._own = own
        self._open_topics = open_topics
        self._placeholders = placeholders
        self._interval = interval
        self._changed = changed
        self._wanted: Mapping[Cluster, Set[Subscription]] = {}
        self._followed: dict[Cluster, _Followed] = {}
        self._news = asyncio.Event()

    def want(self, subscriptions: Set[Subscription]) -> None:
        """Replace what is asked for; what is new in it is looked up at once."""
        wanted: dict[Cluster, set[Subscription]] = defaultdict(set)
        for each in subscriptions:
            wanted[each.cluster].add(each)
        self._wanted = wanted
        for cluster, followed in self._followed.items():
            followed.catalog.want(wanted.get(cluster, frozenset()))
        if wanted.keys() != self._followed.keys():
            self._news.set()

    def partitions(self, subscription: Subscription) -> tuple[TopicPartition, ...] | None:
        """Return what a subscription means; None until the topics were read after it was asked for."""
        followed = self._followed.get(subscription.cluster)
        return None if followed is None else followed.catalog.partitions(subscription)

    def fault(self, subscription: Subscription) -> str | None:
        """Return why it cannot be known what a subscription means; None where it is known, or will be."""
        followed = self._followed.get(subscription.cluster)
        return None if followed is None else followed.catalog.fault(subscription)

    async def run(self) -> None:
        """Read the topics of all clusters that are wanted, until cancelled."""
        async with asyncio.TaskGroup() as readings:
            while True:
                self._news.clear()
                for cluster in self._followed.keys() - self._wanted.keys():
                    self._followed.pop(cluster).reading.cancel()
                for cluster in self._wanted.keys() - self._followed.keys():
                    self._followed[cluster] = self._follow(cluster, readings)
                await self._news.wait()

    def _follow(self, cluster: Cluster, readings: asyncio.TaskGroup) -> _Followed:
        other = _OtherTopics(dict(cluster), self._open_topics, self._placeholders) if cluster else None
        catalog = TopicCatalog(other.read if other else self._own, self._interval, self._changed)
        catalog.want(self._wanted[cluster])
        return _Followed(catalog, readings.create_task(_read(catalog, other)))


class _OtherTopics:
    """Topics of another cluster; its client is made at the first look, and anew while that fails."""

    def __init__(
        self, written: Mapping[str, str], open_topics: OpenTopics, placeholders: Placeholders
    ) -> None:
        self._written = written
        self._open_topics = open_topics
        self._placeholders = placeholders
        self._topics: PartitionCounts | None = None

    async def read(self) -> Mapping[str, int]:
        """Return topics with their numbers of partitions.

        Raises:
            UnavailableError: No broker answered, or the properties cannot be followed.
        """
        if self._topics is None:
            try:
                client = await asyncio.to_thread(self._placeholders.resolve, self._written)
                self._topics = self._open_topics(client)
            except ConfigError as error:
                text = f"The topics of consumer.override.bootstrap.servers cannot be read: {error}"
                raise UnavailableError(text) from error
        return await self._topics.read()

    def close(self) -> None:
        """Close the client, if there is one."""
        if self._topics is not None:
            self._topics.close()


async def _read(catalog: TopicCatalog, other: _OtherTopics | None) -> None:
    try:
        await catalog.run()
    finally:
        if other is not None:
            other.close()
