"""Offsets and positions as messages of the contract, and requests as commands."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from copycat.offset.v1 import offset_service_pb2 as pb
from copycat.types.v1 import types_pb2
from copycat_connect.cluster import TopicPartition

from copycat_offset.domain.commands import AlterSourceOffsets, CommitSourceOffsets
from copycat_offset.domain.errors import NegativePartitionError, NegativePositionError, UnnamedTopicError


def commit_source_offsets(request: pb.CommitSourceOffsetsRequest, newest: int | None) -> CommitSourceOffsets:
    """Return the command of a request; `newest` is the newest generation known of its task."""
    offsets = _source_offsets(request.offsets)
    return CommitSourceOffsets(request.connector, request.task, request.generation, newest, offsets)


def alter_source_offsets(request: pb.AlterSourceOffsetsRequest) -> AlterSourceOffsets:
    """Return the command of a request."""
    return AlterSourceOffsets(request.connector, _source_offsets(request.offsets))


def source_offset_messages(found: Iterable[tuple[bytes, bytes | None]]) -> list[types_pb2.SourceOffset]:
    """Return the messages of source partitions and their offsets; no offset stays unset."""
    return [types_pb2.SourceOffset(partition=partition, offset=offset) for partition, offset in found]


def position_messages(positions: Mapping[TopicPartition, int]) -> list[types_pb2.TopicPartitionOffset]:
    """Return the messages of a group's positions, by topic and partition."""
    return [
        types_pb2.TopicPartitionOffset(topic=topic, partition=partition, offset=offset)
        for (topic, partition), offset in sorted(positions.items())
    ]


def positions(messages: Iterable[types_pb2.TopicPartitionOffset]) -> dict[TopicPartition, int]:
    """Return the positions to commit; of one that is named twice the last counts.

    Raises:
        OffsetFormatError: A topic has no name, or a number is negative.
    """
    found = {_partition(each): each.offset for each in messages}
    for partition, offset in found.items():
        if offset < 0:
            raise NegativePositionError(partition.topic, partition.partition, offset)
    return found


def partitions(messages: Iterable[types_pb2.TopicPartition]) -> list[TopicPartition]:
    """Return the partitions a request names.

    Raises:
        OffsetFormatError: A topic has no name, or a number is negative.
    """
    return [_partition(each) for each in messages]


def _source_offsets(messages: Iterable[types_pb2.SourceOffset]) -> dict[bytes, bytes | None]:
    return {each.partition: each.offset if each.HasField("offset") else None for each in messages}


def _partition(message: types_pb2.TopicPartition | types_pb2.TopicPartitionOffset) -> TopicPartition:
    if not message.topic:
        raise UnnamedTopicError(message.partition)
    if message.partition < 0:
        raise NegativePartitionError(message.topic, message.partition)
    return TopicPartition(message.topic, message.partition)
