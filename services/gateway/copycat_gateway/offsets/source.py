"""Source offsets: kept by the offset service, judged by the connector."""

from __future__ import annotations

from collections.abc import Sequence

from copycat.offset.v1 import offset_service_pb2 as offset_pb2
from copycat.types.v1 import types_pb2

from copycat_gateway.bodies import OffsetEntry
from copycat_gateway.clients import Services
from copycat_gateway.edge.progress import left
from copycat_gateway.offsets.bodies import as_known, source_changes
from copycat_gateway.offsets.hook import call_hook
from copycat_gateway.offsets.memory import remember, source_moves
from copycat_gateway.offsets.target import Target, await_end_of_tasks, otherwise


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


async def _listed(services: Services, target: Target) -> Sequence[types_pb2.SourceOffset]:
    request = offset_pb2.ListSourceOffsetsRequest(connector=target.name, store=target.store)
    return (await services.offset.ListSourceOffsets(request)).offsets


async def _write(services: Services, target: Target, offsets: Sequence[types_pb2.SourceOffset]) -> None:
    request = offset_pb2.AlterSourceOffsetsRequest(connector=target.name, offsets=offsets, store=target.store)
    with otherwise(_failed(target)):
        await services.offset.AlterSourceOffsets(request, timeout=left())


def _failed(target: Target) -> str:
    return f"Failed to modify offsets for source connector {target.name}"
