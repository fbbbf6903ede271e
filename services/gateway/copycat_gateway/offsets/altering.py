"""Offsets read, altered and reset: of sources in the offset service, of sinks in their consumer group.

The connector has its say (`alterOffsets`) before anything changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from copycat.executor.v1 import executor_service_pb2 as executor_pb2
from copycat.offset.v1 import offset_service_pb2 as offset_pb2
from copycat.types.v1 import types_pb2
from copycat_connect.errors import CopycatError, OffsetsUnmodifiableError
from copycat_rpc.errors import RemoteError

from copycat_gateway.bodies import OffsetEntry
from copycat_gateway.clients import Services
from copycat_gateway.edge.progress import left
from copycat_gateway.errors import PLUGIN_HANGS, FailedRequestError, answering_refusals
from copycat_gateway.offsets.bodies import SinkChange, as_known, sink_changes, source_changes
from copycat_gateway.offsets.memory import remember, sink_moves, source_moves
from copycat_gateway.offsets.target import Target, await_end_of_tasks, members_left, otherwise

FORGOTTEN: Final = -1
"""The position that stands for none in the hook's request."""
INTERNAL: Final = CopycatError.code.name


async def read_source(services: Services, target: Target) -> Sequence[types_pb2.SourceOffset]:
    """Return every source partition with an offset."""
    with otherwise(f"Failed to retrieve offsets for source connector {target.name}"):
        return await _listed(services, target)


async def alter_source(services: Services, target: Target, entries: Sequence[OffsetEntry]) -> bool:
    """Alter what the entries list and keep the rest; returns whether the connector took part."""
    return await move_source(services, target, source_changes(entries))


async def move_source(
    services: Services,
    target: Target,
    changes: Sequence[types_pb2.SourceOffset],
    *,
    undoing: bool = False,
) -> bool:
    """Set these offsets and keep the rest; `undoing`: the change is no new one to remember.

    Returns whether the connector took part.
    """
    await await_end_of_tasks(services, target, "alter")
    with otherwise(_failed(target)):
        known = await _listed(services, target)
    changes = as_known(changes, known)
    handled = await call_hook(services, target, source=changes)
    if not undoing:
        with otherwise(_failed(target)):
            await remember(services, target, source=source_moves(known, changes))
    await _write(services, target, changes)
    return handled


async def reset_source(services: Services, target: Target) -> bool:
    """Forget every offset; with none known the connector is still asked. Returns whether it took part."""
    await await_end_of_tasks(services, target, "reset")
    known = await read_source(services, target)
    forgotten = [types_pb2.SourceOffset(partition=entry.partition) for entry in known]
    handled = await call_hook(services, target, source=forgotten)
    if forgotten:
        with otherwise(_failed(target)):
            await remember(services, target, source=source_moves(known, forgotten), reset=True)
        await _write(services, target, forgotten)
    return handled


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


async def call_hook(
    services: Services,
    target: Target,
    *,
    source: Sequence[types_pb2.SourceOffset] = (),
    sink: Sequence[types_pb2.TopicPartitionOffset] = (),
) -> bool:
    """Return whether the connector has taken the change into account itself.

    Raises:
        FailedRequestError: It refuses; to Kafka Connect that is a failure, not the caller's mistake.
    """
    request = executor_pb2.AlterOffsetsRequest(
        config=target.connector.config, source_offsets=source, sink_offsets=sink
    )
    try:
        with answering_refusals(_texts(target)):
            reply = await services.workers.ask(
                lambda executor: executor.AlterOffsets(request, timeout=left())
            )
    except RemoteError as error:
        raise FailedRequestError(error.message) from error
    return reply.handled


async def _listed(services: Services, target: Target) -> Sequence[types_pb2.SourceOffset]:
    request = offset_pb2.ListSourceOffsetsRequest(connector=target.name, store=target.store)
    return (await services.offset.ListSourceOffsets(request)).offsets


async def _write(services: Services, target: Target, offsets: Sequence[types_pb2.SourceOffset]) -> None:
    request = offset_pb2.AlterSourceOffsetsRequest(connector=target.name, offsets=offsets, store=target.store)
    with otherwise(_failed(target)):
        await services.offset.AlterSourceOffsets(request, timeout=left())


def _failed(target: Target) -> str:
    return f"Failed to modify offsets for source connector {target.name}"


async def _positions(services: Services, target: Target) -> Sequence[types_pb2.TopicPartitionOffset]:
    request = offset_pb2.ListSinkOffsetsRequest(group_id=target.group, overrides=target.overrides)
    return (await services.offset.ListSinkOffsets(request)).offsets


def _position(topic: str, partition: int, offset: int) -> types_pb2.TopicPartitionOffset:
    return types_pb2.TopicPartitionOffset(topic=topic, partition=partition, offset=offset)


def _texts(target: Target) -> dict[str, CopycatError]:
    of = f"{target.kind} connector {target.name}"
    return {
        OffsetsUnmodifiableError.code.name: FailedRequestError(
            f"Failed to modify offsets for connector {target.name} because it doesn't support external"
            " modification of offsets"
        ),
        PLUGIN_HANGS: FailedRequestError(f"Timed out while calling the 'alterOffsets' method for {of}"),
        INTERNAL: FailedRequestError(f"Failed to modify offsets for {of}"),
    }
