"""The offset service: progress of sources, and of sinks in their consumer groups."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from copycat.offset.v1 import offset_service_pb2 as pb
from copycat.offset.v1.offset_service_pb2_grpc import OffsetServiceStub
from copycat.types.v1 import types_pb2
from copycat_connect.cluster import sink_group
from copycat_connect.errors import ConfigError

from copycat_client.offset_changes import (
    Json,
    OffsetsChange,
    SinkEffect,
    change_message,
    change_of,
    json_text,
    millis,
    sink_effect,
)
from copycat_client.revisions import Revision, revision_message, revision_of

if TYPE_CHECKING:
    import grpc
    from copycat.offset.v1.offset_service_pb2_grpc import OffsetServiceAsyncStub


@dataclass(frozen=True, slots=True)
class SourceOffset:
    """How far a source is in one of its partitions."""

    partition: Json
    """The source partition."""
    offset: Json | None
    """How far; nothing where nothing is known, or where it is to be forgotten."""


@dataclass(frozen=True, slots=True)
class Position:
    """How far a group is in a partition of a topic."""

    topic: str
    """The topic."""
    partition: int
    """The partition's number."""
    offset: int | None
    """The next offset to read; nothing where it is to be forgotten."""


class Offsets:
    """Every write returns once it is durable; a commit of an older generation is refused (I2)."""

    def __init__(self, channel: grpc.aio.Channel) -> None:
        self._stub: OffsetServiceAsyncStub = OffsetServiceStub(channel)

    async def commit_source(
        self,
        connector: str,
        task: int,
        generation: int,
        offsets: Iterable[SourceOffset],
        *,
        timeout: float | None = None,
    ) -> Revision:
        """Commit what a task delivered, all or nothing; the same again changes nothing.

        Raises:
            RemoteError: generation.stale (the task has a newer assignment).
        """
        request = pb.CommitSourceOffsetsRequest(
            connector=connector, task=task, generation=generation, offsets=map(_offset_message, offsets)
        )
        return revision_of((await self._stub.CommitSourceOffsets(request, timeout=timeout)).revision)

    async def commit_sink(
        self,
        connector: str,
        task: int,
        generation: int,
        positions: Iterable[Position],
        *,
        group_id: str = "",
        timeout: float | None = None,
    ) -> None:
        """Commit what a task flushed, in the connector's group unless another one is named.

        Raises:
            ConfigError: A position has no offset.
            RemoteError: generation.stale, group.active (somebody consumes in that group), group.failed.
        """
        request = pb.CommitSinkOffsetsRequest(
            connector=connector,
            task=task,
            generation=generation,
            group_id=group_id or sink_group(connector),
            offsets=map(_position_message, positions),
        )
        await self._stub.CommitSinkOffsets(request, timeout=timeout)

    async def read_source(
        self,
        connector: str,
        partitions: Sequence[Json],
        *,
        min_revision: Revision | None = None,
        timeout: float | None = None,
    ) -> tuple[SourceOffset, ...]:
        """Return the offset of each partition in the order asked, read to the end of the log.

        Raises:
            UnavailableError: `min_revision` was not reached in time.
        """
        request = pb.ReadSourceOffsetsRequest(
            connector=connector,
            partitions=map(json_text, partitions),
            min_revision=revision_message(min_revision),
        )
        reply = await self._stub.ReadSourceOffsets(request, timeout=timeout)
        return tuple(map(source_offset, reply.offsets))

    async def list_source(
        self, connector: str, *, min_revision: Revision | None = None, timeout: float | None = None
    ) -> tuple[SourceOffset, ...]:
        """Return every partition of a connector that has an offset; none for an unknown connector.

        Raises:
            UnavailableError: `min_revision` was not reached in time.
        """
        request = pb.ListSourceOffsetsRequest(
            connector=connector, min_revision=revision_message(min_revision)
        )
        reply = await self._stub.ListSourceOffsets(request, timeout=timeout)
        return tuple(map(source_offset, reply.offsets))

    async def list_sink(self, group_id: str, *, timeout: float | None = None) -> tuple[Position, ...]:
        """Return the committed positions of a group; none for an unknown one.

        Raises:
            RemoteError: group.failed (the brokers refused).
        """
        reply = await self._stub.ListSinkOffsets(
            pb.ListSinkOffsetsRequest(group_id=group_id), timeout=timeout
        )
        return tuple(Position(each.topic, each.partition, each.offset) for each in reply.offsets)

    async def describe_sink_moves(
        self,
        group_id: str,
        positions: Iterable[Position] = (),
        *,
        reset: bool = False,
        time: datetime | None = None,
        only_back: bool = False,
        timeout: float | None = None,
    ) -> tuple[SinkEffect, ...]:
        """Return what a change of a group's positions would do; nothing changes, and it may have members.

        The change is to these positions, or to forget all, or to a time for all positions there are;
        `only_back` leaves those before that time where they are.

        Raises:
            RemoteError: group.failed.
            UnavailableError: The brokers did not say in time what the topics hold.
        """
        offsets, removed = _changed_messages(positions)
        request = pb.DescribeSinkMovesRequest(
            group_id=group_id,
            offsets=offsets,
            removed=removed,
            reset=reset,
            time=None if time is None else millis(time),
            only_back=only_back,
        )
        reply = await self._stub.DescribeSinkMoves(request, timeout=timeout)
        return tuple(map(sink_effect, reply.effects))

    async def remember_change(self, change: OffsetsChange, *, timeout: float | None = None) -> Revision:
        """Remember a change as the last of its connector; the REST interface does so before it makes one."""
        request = pb.RememberChangeRequest(change=change_message(change))
        return revision_of((await self._stub.RememberChange(request, timeout=timeout)).revision)

    async def last_change(
        self, connector: str, *, min_revision: Revision | None = None, timeout: float | None = None
    ) -> OffsetsChange | None:
        """Return the change of a connector's offsets that was remembered last; nothing where none was.

        Raises:
            UnavailableError: `min_revision` was not reached in time.
        """
        request = pb.GetLastChangeRequest(connector=connector, min_revision=revision_message(min_revision))
        reply = await self._stub.GetLastChange(request, timeout=timeout)
        return change_of(reply.change) if reply.HasField("change") else None

    async def alter_source(
        self, connector: str, offsets: Iterable[SourceOffset], *, timeout: float | None = None
    ) -> Revision:
        """Write or forget offsets outside of any task, all or nothing; the same again changes nothing.

        The caller has stopped the connector; nobody checks that here, as the REST interface does.
        """
        request = pb.AlterSourceOffsetsRequest(connector=connector, offsets=map(_offset_message, offsets))
        return revision_of((await self._stub.AlterSourceOffsets(request, timeout=timeout)).revision)

    async def alter_sink(
        self, group_id: str, positions: Iterable[Position], *, timeout: float | None = None
    ) -> None:
        """Set positions of a group, and forget those without an offset.

        Raises:
            RemoteError: group.active (it has members: stop the connector first), group.failed.
        """
        offsets, removed = _changed_messages(positions)
        request = pb.AlterSinkOffsetsRequest(group_id=group_id, offsets=offsets, removed=removed)
        await self._stub.AlterSinkOffsets(request, timeout=timeout)

    async def delete_sink(self, group_id: str, *, timeout: float | None = None) -> None:
        """Delete a group; one that is not there counts as deleted.

        Raises:
            RemoteError: group.active, group.failed.
        """
        await self._stub.DeleteSinkOffsets(pb.DeleteSinkOffsetsRequest(group_id=group_id), timeout=timeout)


def offset_messages(offsets: Iterable[SourceOffset]) -> list[types_pb2.SourceOffset]:
    """Return the messages of source offsets."""
    return [_offset_message(offset) for offset in offsets]


def _offset_message(offset: SourceOffset) -> types_pb2.SourceOffset:
    written = None if offset.offset is None else json_text(offset.offset)
    return types_pb2.SourceOffset(partition=json_text(offset.partition), offset=written)


def source_offset(message: types_pb2.SourceOffset) -> SourceOffset:
    """Return the source offset of a message."""
    offset = json.loads(message.offset) if message.HasField("offset") else None
    return SourceOffset(json.loads(message.partition), offset)


def _changed_messages(
    positions: Iterable[Position],
) -> tuple[list[types_pb2.TopicPartitionOffset], list[types_pb2.TopicPartition]]:
    """Return the positions to set, and the partitions whose position is to be forgotten."""
    wanted = list(positions)
    return (
        [_position_message(each) for each in wanted if each.offset is not None],
        [
            types_pb2.TopicPartition(topic=each.topic, partition=each.partition)
            for each in wanted
            if each.offset is None
        ],
    )


def _position_message(position: Position) -> types_pb2.TopicPartitionOffset:
    if position.offset is None:
        raise ConfigError(
            f"{position.topic}-{position.partition} has no offset; only alter_sink forgets positions"
        )
    return types_pb2.TopicPartitionOffset(
        topic=position.topic, partition=position.partition, offset=position.offset
    )
