"""Changes of offsets: where they lead from and to, what they would do, and the last one of a connector."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from copycat.executor.v1 import executor_service_pb2 as executor_pb
from copycat.offset.v1 import offset_service_pb2 as pb

#: A map of the connector's own, as JSON can write it; the order of its keys counts in a partition.
Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class SourceMove:
    """Where a change takes a source partition."""

    partition: Json
    """The source partition."""
    before: Json | None
    """Its offset; nothing where it has none."""
    after: Json | None
    """Its offset after the change; nothing where it has none then."""


@dataclass(frozen=True, slots=True)
class SinkMove:
    """Where a change takes a group in a partition of a topic."""

    topic: str
    """The topic."""
    partition: int
    """The partition's number."""
    before: int | None
    """The next offset to read; nothing where none is committed."""
    after: int | None
    """The next offset to read after the change; nothing where none is committed then."""


@dataclass(frozen=True, slots=True)
class SinkEffect:
    """What a change would do in a partition of a topic."""

    move: SinkMove
    """From where to where."""
    low: int | None
    """The oldest offset that the partition holds; nothing where there is no such partition."""
    high: int | None
    """The offset that its next record will have."""
    repeated: int | None
    """Records that would be read once more, at most; nothing where it is unknown."""
    skipped: int | None
    """Records that would not be read, at most; nothing where it is unknown."""
    out_of_range: bool
    """The partition has no such offset: the consumer would begin where `auto.offset.reset` says."""
    nothing_since: bool
    """Asked for a time: no record is as new."""
    nothing_older: bool
    """Asked for a time: all records are as new."""


@dataclass(frozen=True, slots=True)
class SourceEffect:
    """What a move of a source partition would do, as far as its connector knows."""

    repeated: int | None
    """How much would be delivered once more, at most; nothing where it is unknown."""
    skipped: int | None
    """How much would never be delivered, at most; nothing where it is unknown."""
    unit: str
    """What is counted, such as lines; empty where nothing is."""


@dataclass(frozen=True, slots=True)
class OffsetsChange:
    """A change of a connector's offsets that a user made."""

    connector: str
    """The connector."""
    changed_at: datetime
    """When, to the millisecond."""
    reset: bool = False
    """All offsets were forgotten."""
    undone_at: datetime | None = None
    """When it was undone; nothing while it was not."""
    source: tuple[SourceMove, ...] = ()
    """What it moved, of a source."""
    group_id: str = ""
    """The consumer group of a sink; empty for a source."""
    sink: tuple[SinkMove, ...] = ()
    """What it moved, of a sink."""
    too_large: bool = False
    """It moved more than one record can hold, and none of that is kept."""


def change_message(change: OffsetsChange) -> pb.OffsetsChange:
    """Return the message of a change."""
    return pb.OffsetsChange(
        connector=change.connector,
        changed_at=millis(change.changed_at),
        reset=change.reset,
        undone_at=None if change.undone_at is None else millis(change.undone_at),
        source_moves=[
            pb.SourceMove(
                partition=json_text(move.partition),
                before=_optional_json(move.before),
                after=_optional_json(move.after),
            )
            for move in change.source
        ],
        group_id=change.group_id,
        sink_moves=[
            pb.SinkMove(topic=move.topic, partition=move.partition, before=move.before, after=move.after)
            for move in change.sink
        ],
        too_large=change.too_large,
    )


def change_of(message: pb.OffsetsChange) -> OffsetsChange:
    """Return the change of a message."""
    return OffsetsChange(
        connector=message.connector,
        changed_at=_time(message.changed_at),
        reset=message.reset,
        undone_at=_time(message.undone_at) if message.HasField("undone_at") else None,
        source=tuple(
            SourceMove(
                json.loads(move.partition),
                json.loads(move.before) if move.HasField("before") else None,
                json.loads(move.after) if move.HasField("after") else None,
            )
            for move in message.source_moves
        ),
        group_id=message.group_id,
        sink=tuple(map(_sink_move, message.sink_moves)),
        too_large=message.too_large,
    )


def sink_effect(message: pb.SinkEffect) -> SinkEffect:
    """Return the effect of a message."""
    return SinkEffect(
        _sink_move(message.move),
        low=message.low if message.HasField("low") else None,
        high=message.high if message.HasField("high") else None,
        repeated=message.repeated_records if message.HasField("repeated_records") else None,
        skipped=message.skipped_records if message.HasField("skipped_records") else None,
        out_of_range=message.out_of_range,
        nothing_since=message.nothing_since,
        nothing_older=message.nothing_older,
    )


def source_effect(message: executor_pb.OffsetsEffect) -> SourceEffect:
    """Return the effect of a message."""
    return SourceEffect(
        message.repeated_count if message.HasField("repeated_count") else None,
        message.skipped_count if message.HasField("skipped_count") else None,
        message.unit,
    )


def move_messages(moves: Sequence[SourceMove]) -> list[executor_pb.OffsetsMove]:
    """Return the messages of moves that a connector is asked about."""
    return [
        executor_pb.OffsetsMove(
            partition=json_text(move.partition),
            before=_optional_json(move.before),
            after=_optional_json(move.after),
        )
        for move in moves
    ]


def millis(time: datetime) -> int:
    """Return milliseconds since the epoch."""
    return round(time.timestamp() * 1000)


def _time(since_epoch: int) -> datetime:
    return datetime.fromtimestamp(since_epoch / 1000, UTC)


def _sink_move(message: pb.SinkMove) -> SinkMove:
    return SinkMove(
        message.topic,
        message.partition,
        message.before if message.HasField("before") else None,
        message.after if message.HasField("after") else None,
    )


def _optional_json(value: Json | None) -> bytes | None:
    return None if value is None else json_text(value)


def json_text(value: Json) -> bytes:
    """Return a partition or an offset as services take it."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
