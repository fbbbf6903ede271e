"""The last change that a user made of a connector's offsets: remembered before it is made."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Mapping, Sequence

from copycat.offset.v1 import offset_service_pb2 as pb
from copycat.types.v1 import types_pb2

from copycat_gateway.clients import Services
from copycat_gateway.edge.progress import left
from copycat_gateway.offsets.bodies import SinkChange
from copycat_gateway.offsets.target import Target


def source_moves(
    known: Iterable[types_pb2.SourceOffset], changes: Iterable[types_pb2.SourceOffset]
) -> list[pb.SourceMove]:
    """Return the moves of a change, also of partitions that stay where they are."""
    before = {entry.partition: entry.offset for entry in known if entry.HasField("offset")}
    return [
        pb.SourceMove(
            partition=change.partition,
            before=before.get(change.partition),
            after=change.offset if change.HasField("offset") else None,
        )
        for change in changes
    ]


def sink_moves(
    known: Iterable[types_pb2.TopicPartitionOffset], changes: Iterable[SinkChange]
) -> list[pb.SinkMove]:
    """Return the moves of a change, also of partitions that stay where they are."""
    before = {(entry.topic, entry.partition): entry.offset for entry in known}
    return [
        pb.SinkMove(
            topic=change.topic,
            partition=change.partition,
            before=before.get((change.topic, change.partition)),
            after=change.offset,
        )
        for change in changes
    ]


async def remember(
    services: Services,
    target: Target,
    *,
    source: Sequence[pb.SourceMove] = (),
    sink: Sequence[pb.SinkMove] = (),
    reset: bool = False,
) -> None:
    """Remember a change that is about to be made, unless it moves nothing.

    It is remembered first: where the change then fails half-way, what it began can be undone all the same.
    """
    change = pb.OffsetsChange(
        connector=target.name,
        changed_at=millis(),
        reset=reset,
        group_id=target.group if target.is_sink else "",
        source_moves=[move for move in source if moves(move)],
        sink_moves=[move for move in sink if moves(move)],
    )
    if change.source_moves or change.sink_moves:
        await write(services, change)


async def write(services: Services, change: pb.OffsetsChange) -> None:
    """Remember a change in place of the one before."""
    await services.offset.RememberChange(pb.RememberChangeRequest(change=change), timeout=left())


async def last_change(services: Services, connector: str) -> pb.OffsetsChange | None:
    """Return the last change of a connector's offsets."""
    reply = await services.offset.GetLastChange(pb.GetLastChangeRequest(connector=connector), timeout=left())
    return reply.change if reply.HasField("change") else None


def moves(move: pb.SourceMove | pb.SinkMove) -> bool:
    """Return whether a partition does not stay where it is."""
    return before_of(move) != after_of(move)


def before_of(move: pb.SourceMove | pb.SinkMove) -> object:
    """Return the offset before, to be compared."""
    return _comparable(move.before) if move.HasField("before") else None


def after_of(move: pb.SourceMove | pb.SinkMove) -> object:
    """Return the offset after, to be compared."""
    return _comparable(move.after) if move.HasField("after") else None


def millis() -> int:
    """Return the time, milliseconds since the epoch."""
    return time.time_ns() // 1_000_000


def _comparable(offset: bytes | int) -> int | Mapping[str, object]:
    return offset if isinstance(offset, int) else json.loads(offset)
