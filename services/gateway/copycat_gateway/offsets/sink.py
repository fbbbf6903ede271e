"""Sink offsets: the positions of the connector's consumer group."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from copycat.offset.v1 import offset_service_pb2 as offset_pb2
from copycat.types.v1 import types_pb2

from copycat_gateway.bodies import OffsetEntry
from copycat_gateway.clients import Services
from copycat_gateway.edge.progress import left
from copycat_gateway.offsets.bodies import SinkChange, sink_changes
from copycat_gateway.offsets.hook import call_hook
from copycat_gateway.offsets.memory import remember, sink_moves
from copycat_gateway.offsets.target import Target, await_end_of_tasks, members_left, otherwise

FORGOTTEN: Final = -1
"""The position that stands for none in the hook's request."""


async def read_sink(services: Services, target: Target) -> Sequence[types_pb2.TopicPartitionOffset]:
    """Return the committed positions of the group."""
    with otherwise(f"Failed to retrieve consumer group offsets for sink connector {target.name}"):
        return await _positions(services, target)


async def alter_sink(services: Services, target: Target, entries: Sequence[OffsetEntry]) -> bool:
    """Alter what the entries list and keep the rest; returns whether the connector took part."""
    return await move_sink(services, target, sink_changes(entries))


async def move_sink(
    services: Services, target: Target, changes: Sequence[SinkChange], *, undoing: bool = False
) -> bool:
    """Set these positions and keep the rest; `undoing`: the change is no new one to remember.

    Returns whether the connector took part.
    """
    await await_end_of_tasks(services, target, "alter")
    handled = await call_hook(
        services,
        target,
        sink=[
            _position(change.topic, change.partition, FORGOTTEN if change.offset is None else change.offset)
            for change in changes
        ],
    )
    request = offset_pb2.AlterSinkOffsetsRequest(
        group_id=target.group,
        offsets=[
            _position(change.topic, change.partition, change.offset)
            for change in changes
            if change.offset is not None
        ],
        removed=[
            types_pb2.TopicPartition(topic=change.topic, partition=change.partition)
            for change in changes
            if change.offset is None
        ],
        overrides=target.overrides,
    )
    failed = f"Failed to alter consumer group offsets for connector {target.name}"
    with members_left(target.name, "alter"), otherwise(failed):
        if not undoing:
            await remember(services, target, sink=sink_moves(await _positions(services, target), changes))
        await services.offset.AlterSinkOffsets(request, timeout=left())
    return handled


async def reset_sink(services: Services, target: Target) -> bool:
    """Delete the whole group; returns whether the connector took part."""
    await await_end_of_tasks(services, target, "reset")
    with otherwise(f"Failed to list offsets prior to resetting offsets for sink connector {target.name}"):
        known = await _positions(services, target)
    forgotten = [_position(entry.topic, entry.partition, FORGOTTEN) for entry in known]
    handled = await call_hook(services, target, sink=forgotten)
    request = offset_pb2.DeleteSinkOffsetsRequest(group_id=target.group, overrides=target.overrides)
    failed = f"Failed to reset consumer group offsets for sink connector {target.name}"
    with members_left(target.name, "reset"), otherwise(failed):
        gone = [SinkChange(entry.topic, entry.partition, None) for entry in known]
        await remember(services, target, sink=sink_moves(known, gone), reset=True)
        await services.offset.DeleteSinkOffsets(request, timeout=left())
    return handled


async def _positions(services: Services, target: Target) -> Sequence[types_pb2.TopicPartitionOffset]:
    request = offset_pb2.ListSinkOffsetsRequest(group_id=target.group, overrides=target.overrides)
    return (await services.offset.ListSinkOffsets(request)).offsets


def _position(topic: str, partition: int, offset: int) -> types_pb2.TopicPartitionOffset:
    return types_pb2.TopicPartitionOffset(topic=topic, partition=partition, offset=offset)
