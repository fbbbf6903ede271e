"""Where tasks begin: what the offset service has of sources and sinks; nothing Spark keeps counts (I5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from copycat.host.v1 import host_service_pb2 as host_pb
from copycat.offset.v1 import offset_service_pb2 as pb
from copycat.types.v1 import types_pb2
from copycat_connect.cluster import Config, TopicPartition, sink_group
from copycat_connect.config.client_overrides import CONSUMER_OVERRIDE, overrides_of
from copycat_connect.config.delivery import ExactlyOnceSources
from copycat_connect.config.offsets_store import store_keys
from copycat_connect.errors import CopycatError
from copycat_connect.retry import RetryPolicy
from copycat_rpc.messages import config_to_proto
from copycat_rpc.services import ServiceStubs

from copycat_executor.outbox.until_it_works import until_it_works
from copycat_executor.peers import is_transient

RETRY = RetryPolicy(first=0.1, factor=2.0, ceiling=2.0)
NONE_COMMITTED = -1


@dataclass(frozen=True, slots=True)
class SinkGroup:
    """The consumer group that holds a sink's positions."""

    id: str
    """Its name."""
    overrides: types_pb2.Config = field(default_factory=types_pb2.Config, hash=False)
    """The connector's `consumer.override.*`, as written: they may say that the group is elsewhere."""

    @classmethod
    def of(cls, connector: str, config: Config) -> SinkGroup:
        """Read the group and its consumer's overrides from a sink connector's configuration."""
        overrides = overrides_of(config, (CONSUMER_OVERRIDE,))
        return cls(sink_group(connector, config), config_to_proto(overrides))


def source_store(config: Config, sources: ExactlyOnceSources) -> pb.OffsetsStore | None:
    """Return where a source keeps its offsets, as calls say it; None for the worker's topic only."""
    keys = store_keys(config, sources)
    if keys is None:
        return None
    return pb.OffsetsStore(config=config_to_proto(keys.config), exactly_once=keys.exactly_once)


class OffsetReader:
    """Reads from the offset service where source and sink tasks begin."""

    def __init__(self, services: ServiceStubs) -> None:
        self._services = services

    async def answer(
        self, wanted: host_pb.OffsetsWanted, store: pb.OffsetsStore | None
    ) -> host_pb.OffsetsFound:
        """Answer a task's question; an answer that cannot be had says why."""
        request = pb.ReadSourceOffsetsRequest(
            connector=wanted.task.connector, partitions=wanted.partitions, store=store
        )
        try:
            found = await self._services.offset.ReadSourceOffsets(request)
        except CopycatError as error:
            return host_pb.OffsetsFound(
                sequence=wanted.sequence,
                error=error.message or "unknown error",
                final=not is_transient(error),
            )
        return host_pb.OffsetsFound(sequence=wanted.sequence, offsets=found.offsets)

    async def positions(
        self, group: SinkGroup, partitions: Sequence[TopicPartition]
    ) -> list[types_pb2.TopicPartitionOffset]:
        """Return where to begin in each partition, waiting while the offset service is away.

        Raises:
            CopycatError: It refuses, e.g. since the group may not be read.
        """
        if not partitions:
            return []
        request = pb.ListSinkOffsetsRequest(group_id=group.id, overrides=group.overrides)
        listed = await until_it_works(
            lambda: self._services.offset.ListSinkOffsets(request),
            RETRY,
            complaint=f"the positions of group {group.id} cannot be read and are asked for ever",
        )
        known = {(each.topic, each.partition): each.offset for each in listed.offsets}
        return [
            types_pb2.TopicPartitionOffset(
                topic=topic, partition=partition, offset=known.get((topic, partition), NONE_COMMITTED)
            )
            for topic, partition in partitions
        ]
