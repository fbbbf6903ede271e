"""Offsets and positions as messages of the contract, and requests as commands."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from copycat.offset.v1 import offset_service_pb2 as pb
from copycat.types.v1 import types_pb2
from copycat_connect.cluster import TopicPartition
from copycat_eventlog.json_text import MAX_TIME_MS
from copycat_rpc.messages import source_offsets_from_proto

from copycat_offset.domain.changes import OffsetsChange, SinkMove, SourceMove
from copycat_offset.domain.commands import AlterSourceOffsets, CommitSourceOffsets, RememberChange
from copycat_offset.domain.errors import NegativePartitionError, NegativePositionError, UnnamedTopicError
from copycat_offset.domain.moves import SinkEffect


def commit_source_offsets(request: pb.CommitSourceOffsetsRequest, newest: int | None) -> CommitSourceOffsets:
    """Return the command of a request; `newest` is the newest generation known of its task."""
    return CommitSourceOffsets(
        request.connector,
        request.task,
        request.generation,
        newest,
        source_offsets_from_proto(request.offsets),
        source_offsets_from_proto(request.expected),
    )


def alter_source_offsets(request: pb.AlterSourceOffsetsRequest) -> AlterSourceOffsets:
    """Return the command of a request."""
    return AlterSourceOffsets(request.connector, source_offsets_from_proto(request.offsets))


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


def remember_change(request: pb.RememberChangeRequest) -> RememberChange:
    """Return the command of a request."""
    told = request.change
    change = OffsetsChange(
        told.connector,
        _time(told.changed_at),
        told.reset,
        _time(told.undone_at) if told.HasField("undone_at") else None,
        told.group_id,
        tuple(
            SourceMove(
                move.partition,
                move.before if move.HasField("before") else None,
                move.after if move.HasField("after") else None,
            )
            for move in told.source_moves
        ),
        tuple(
            SinkMove(
                *_partition(move),
                move.before if move.HasField("before") else None,
                move.after if move.HasField("after") else None,
            )
            for move in told.sink_moves
        ),
        told.too_large,
    )
    return RememberChange(change)


def change_message(change: OffsetsChange | None) -> pb.OffsetsChange | None:
    """Return the message of a remembered change."""
    if change is None:
        return None
    return pb.OffsetsChange(
        connector=change.connector,
        changed_at=change.changed_at,
        reset=change.reset,
        undone_at=change.undone_at,
        source_moves=[
            pb.SourceMove(partition=move.partition, before=move.before, after=move.after)
            for move in change.source
        ],
        group_id=change.group,
        sink_moves=[_sink_move(move) for move in change.sink],
        too_large=change.too_large,
    )


def effect_messages(effects: Iterable[SinkEffect]) -> list[pb.SinkEffect]:
    """Return the messages of what moves would do."""
    return [
        pb.SinkEffect(
            move=_sink_move(each.move),
            low=None if each.bounds is None else each.bounds.low,
            high=None if each.bounds is None else each.bounds.high,
            nothing_since=each.nothing_since,
            nothing_older=each.nothing_older,
            repeated_records=each.repeated,
            skipped_records=each.skipped,
            out_of_range=each.out_of_range,
        )
        for each in effects
    ]


def _sink_move(move: SinkMove) -> pb.SinkMove:
    return pb.SinkMove(topic=move.topic, partition=move.partition, before=move.before, after=move.after)


def _time(milliseconds: int) -> int:
    """Return a time that can be read back, whatever the clock of the caller says."""
    return max(0, min(milliseconds, MAX_TIME_MS))


def _partition(
    message: types_pb2.TopicPartition | types_pb2.TopicPartitionOffset | pb.SinkMove,
) -> TopicPartition:
    if not message.topic:
        raise UnnamedTopicError(message.partition)
    if message.partition < 0:
        raise NegativePartitionError(message.topic, message.partition)
    return TopicPartition(message.topic, message.partition)
