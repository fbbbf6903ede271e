"""The offset service over gRPC: messages to commands, state to messages."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable
from typing import Any

from copycat.offset.v1 import offset_service_pb2 as pb
from copycat.offset.v1.offset_service_pb2_grpc import OffsetServiceServicer
from copycat.types.v1 import types_pb2
from copycat_connect.cluster import TopicPartition
from copycat_eventlog.handler import EventSourced
from copycat_eventlog.log import Log
from copycat_rpc.configs import config_from_proto
from copycat_serving.revisions import revision_to_proto

from copycat_offset.adapters.generations import Generations
from copycat_offset.adapters.group_clients import GroupClients
from copycat_offset.domain.commands import AlterSourceOffsets, CommitSourceOffsets, OffsetCommand
from copycat_offset.domain.decide import check_generation
from copycat_offset.domain.errors import OffsetFormatError, PartitionGoneError
from copycat_offset.domain.events import OffsetEvent
from copycat_offset.domain.maps import check_partition
from copycat_offset.domain.state import OffsetState
from copycat_offset.domain.views import all_offsets, offsets_of

_log = logging.getLogger(__name__)

OffsetEvents = EventSourced[OffsetCommand, OffsetEvent, OffsetState]


class OffsetServicer(OffsetServiceServicer):
    """Answers the calls of `copycat.offset.v1.OffsetService`."""

    def __init__(
        self, events: OffsetEvents, log: Log, groups: GroupClients, generations: Generations
    ) -> None:
        """Serve the fold and the groups."""
        self._events = events
        self._log = log
        self._groups = groups
        self._generations = generations

    async def CommitSourceOffsets(
        self, request: pb.CommitSourceOffsetsRequest, context: Any
    ) -> pb.CommitSourceOffsetsResponse:
        """Commit what a source task delivered."""
        newest = await self._generations.newest(request.connector, request.task)
        outcome = await self._events.execute(
            CommitSourceOffsets(
                request.connector, request.task, request.generation, newest, _offsets(request.offsets)
            )
        )
        return pb.CommitSourceOffsetsResponse(revision=revision_to_proto(outcome.revision))

    async def AlterSourceOffsets(
        self, request: pb.AlterSourceOffsetsRequest, context: Any
    ) -> pb.AlterSourceOffsetsResponse:
        """Set or forget offsets for a user."""
        outcome = await self._events.execute(AlterSourceOffsets(request.connector, _offsets(request.offsets)))
        return pb.AlterSourceOffsetsResponse(revision=revision_to_proto(outcome.revision))

    async def ReadSourceOffsets(
        self, request: pb.ReadSourceOffsetsRequest, context: Any
    ) -> pb.ReadSourceOffsetsResponse:
        """Return the offsets of some partitions."""
        for partition in request.partitions:
            check_partition(partition)
        state = await self._to_the_end()
        found = offsets_of(state, request.connector, request.partitions)
        return pb.ReadSourceOffsetsResponse(offsets=map(_offset, found))

    async def ListSourceOffsets(
        self, request: pb.ListSourceOffsetsRequest, context: Any
    ) -> pb.ListSourceOffsetsResponse:
        """Return every known offset of a connector."""
        state = await self._to_the_end()
        return pb.ListSourceOffsetsResponse(offsets=map(_offset, all_offsets(state, request.connector)))

    async def CommitSinkOffsets(
        self, request: pb.CommitSinkOffsetsRequest, context: Any
    ) -> pb.CommitSinkOffsetsResponse:
        """Commit what a sink task flushed."""
        newest = await self._generations.newest(request.connector, request.task)
        check_generation(request.connector, request.task, request.generation, newest)
        if request.offsets:
            groups = await self._groups.of(config_from_proto(request.overrides))
            try:
                await groups.commit(request.group_id, _positions(request.offsets))
            except PartitionGoneError as gone:
                # Tried until it works, it would be a position in the next topic of that name: records lost.
                _log.warning("Positions of sink %s are dropped with their topic: %s", request.connector, gone)
        return pb.CommitSinkOffsetsResponse()

    async def ListSinkOffsets(
        self, request: pb.ListSinkOffsetsRequest, context: Any
    ) -> pb.ListSinkOffsetsResponse:
        """Return the positions of a group."""
        groups = await self._groups.of(config_from_proto(request.overrides))
        positions = await groups.positions(request.group_id)
        return pb.ListSinkOffsetsResponse(
            offsets=[
                types_pb2.TopicPartitionOffset(topic=topic, partition=partition, offset=offset)
                for (topic, partition), offset in sorted(positions.items())
            ]
        )

    async def AlterSinkOffsets(
        self, request: pb.AlterSinkOffsetsRequest, context: Any
    ) -> pb.AlterSinkOffsetsResponse:
        """Set and remove positions of a group; both are done, then the first failure is told."""
        groups, changes = await self._groups.of(config_from_proto(request.overrides)), []
        if request.offsets:
            changes.append(groups.commit(request.group_id, _positions(request.offsets)))
        if request.removed:
            changes.append(groups.forget(request.group_id, _partitions(request.removed)))
        for result in await asyncio.gather(*changes, return_exceptions=True):
            if result is not None:
                raise result
        return pb.AlterSinkOffsetsResponse()

    async def DeleteSinkOffsets(
        self, request: pb.DeleteSinkOffsetsRequest, context: Any
    ) -> pb.DeleteSinkOffsetsResponse:
        """Delete a group."""
        groups = await self._groups.of(config_from_proto(request.overrides))
        await groups.delete(request.group_id)
        return pb.DeleteSinkOffsetsResponse()

    async def _to_the_end(self) -> OffsetState:
        """Return the state with everything that was in the log when the call came, whoever wrote it."""
        await self._events.reached(await self._log.end())
        return self._events.state


def _offsets(messages: Iterable[types_pb2.SourceOffset]) -> dict[bytes, bytes | None]:
    return {each.partition: each.offset if each.HasField("offset") else None for each in messages}


def _offset(found: tuple[bytes, bytes | None]) -> types_pb2.SourceOffset:
    return types_pb2.SourceOffset(partition=found[0], offset=found[1])


def _positions(messages: Iterable[types_pb2.TopicPartitionOffset]) -> dict[TopicPartition, int]:
    positions = {TopicPartition(each.topic, each.partition): each.offset for each in messages}
    for key, offset in positions.items():
        _check_partition(key)
        if offset < 0:
            raise OffsetFormatError(f"Position {offset} of {key.topic}-{key.partition} must not be negative")
    return positions


def _partitions(messages: Iterable[types_pb2.TopicPartition]) -> list[TopicPartition]:
    partitions = [TopicPartition(each.topic, each.partition) for each in messages]
    for partition in partitions:
        _check_partition(partition)
    return partitions


def _check_partition(partition: TopicPartition) -> None:
    if not partition.topic:
        raise OffsetFormatError(f"Partition {partition.partition} is of a topic without a name")
    if partition.partition < 0:
        raise OffsetFormatError(
            f"Partition {partition.partition} of topic {partition.topic} must not be negative"
        )
