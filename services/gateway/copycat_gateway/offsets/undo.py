"""Undo: the last change of a connector's offsets is taken back, unless something moved them since."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from copycat.offset.v1 import offset_service_pb2 as pb
from copycat.types.v1 import types_pb2
from copycat_rest.answers import LastChange, LastPartition, Remembered

from copycat_gateway.clients import Services
from copycat_gateway.errors import ConflictError
from copycat_gateway.offsets.bodies import SinkChange
from copycat_gateway.offsets.memory import after_of, before_of, last_change, millis, write
from copycat_gateway.offsets.plans import Plan, plan_sink, plan_source
from copycat_gateway.offsets.query import iso
from copycat_gateway.offsets.sink import move_sink, read_sink
from copycat_gateway.offsets.source import move_source, read_source
from copycat_gateway.offsets.target import Target
from copycat_gateway.views.offsets import sink_partition, source_partition

#: Partitions that a refusal names.
NAMED: Final = 3
Move = pb.SourceMove | pb.SinkMove


async def undoable(services: Services, target: Target) -> pb.OffsetsChange:
    """Return the last change, if it can be undone now.

    Raises:
        ConflictError: None is remembered, it was undone or is not kept, or something moved the offsets since.
    """
    change = await last_change(services, target.name)
    if change is None:
        raise ConflictError(
            f"No change of the offsets of connector {target.name} is remembered: there is nothing to undo"
        )
    _check(target, change)
    extra = await _extra_partitions(services, target, change)
    if extra:
        more = f", and {len(extra) - NAMED} more" if len(extra) > NAMED else ""
        path = f"/connectors/{target.name}/offsets"
        raise ConflictError(
            f"The offsets of connector {target.name} have moved since they were changed at"
            f" {iso(change.changed_at)}: {'; '.join(extra[:NAMED])}{more}. To undo that change now would"
            f" take back what came after it, too. GET {path}/undo shows where they were before: to go back"
            f" there all the same, PATCH {path} with those"
        )
    return change


async def plan_undo(services: Services, target: Target, change: pb.OffsetsChange) -> Plan:
    """Plan to go back to where the offsets were before a change."""
    if target.is_sink:
        return await plan_sink(services, target, sink_back(change))
    return await plan_source(services, target, source_back(change))


async def undo(services: Services, target: Target, change: pb.OffsetsChange, plan: Plan) -> bool:
    """Go back, and note that the change was undone; returns whether the connector took part."""
    handled = True
    if plan.sink:
        handled = await move_sink(services, target, plan.sink, undoing=True)
    elif plan.source:
        handled = await move_source(services, target, plan.source, undoing=True)
    change.undone_at = millis()
    await write(services, change)
    return handled


def source_back(change: pb.OffsetsChange) -> list[types_pb2.SourceOffset]:
    """Return the offsets that a source had before a change."""
    return [
        types_pb2.SourceOffset(
            partition=move.partition, offset=move.before if move.HasField("before") else None
        )
        for move in change.source_moves
    ]


def sink_back(change: pb.OffsetsChange) -> list[SinkChange]:
    """Return the positions that a group had before a change."""
    return [
        SinkChange(move.topic, move.partition, move.before if move.HasField("before") else None)
        for move in change.sink_moves
    ]


def remembered(change: pb.OffsetsChange | None) -> Remembered:
    """Return the last change as it is shown."""
    if change is None:
        return Remembered(None)
    return Remembered(
        LastChange(
            changed_at=iso(change.changed_at),
            undone_at=iso(change.undone_at) if change.HasField("undone_at") else None,
            kind="reset" if change.reset else "alter",
            offsets=[_shown(move) for move in _moves(change)],
        )
    )


def _check(target: Target, change: pb.OffsetsChange) -> None:
    when = iso(change.changed_at)
    if change.HasField("undone_at"):
        raise ConflictError(
            f"The last change of the offsets of connector {target.name}, at {when}, was undone at"
            f" {iso(change.undone_at)}. To make it again, alter or reset the offsets again"
        )
    if change.too_large:
        raise ConflictError(
            f"The last change of the offsets of connector {target.name}, at {when}, moved too many partitions"
            " to be remembered: set the offsets you want with PATCH, at most 10,000 at once"
        )
    group = target.group if target.is_sink else ""
    if change.group_id != group:
        raise ConflictError(
            f"The last change of the offsets of connector {target.name}, at {when}, was made in"
            f" {_place(change.group_id)}; now they are in {_place(group)}. Configure the connector as it was"
            " then, and undo again"
        )


def _place(group: str) -> str:
    return f"consumer group {group}" if group else "the offsets topic, as a source's"


async def _extra_partitions(services: Services, target: Target, change: pb.OffsetsChange) -> Sequence[str]:
    """Return what is neither where the change left it nor where it was before."""
    current = await _current(services, target)
    moved: dict[str, Move] = {_key(_shown(move)): move for move in _moves(change)}
    extra = [
        f"partition {key} was left at {_text(after_of(move))} and is at {_text(current.get(key))}"
        for key, move in moved.items()
        if current.get(key) not in (after_of(move), before_of(move))
    ]
    if change.reset:
        extra += [
            f"partition {key} had no offset and is at {_text(offset)}"
            for key, offset in current.items()
            if key not in moved
        ]
    return extra


async def _current(services: Services, target: Target) -> Mapping[str, object]:
    """Return the offset of each partition, by its text."""
    if target.is_sink:
        positions = await read_sink(services, target)
        sinks = (pb.SinkMove(topic=each.topic, partition=each.partition) for each in positions)
        return {_key(sink_partition(move)): each.offset for move, each in zip(sinks, positions, strict=True)}
    offsets = await read_source(services, target)
    return {
        _text(json.loads(each.partition)): json.loads(each.offset)
        for each in offsets
        if each.HasField("offset")
    }


def _moves(change: pb.OffsetsChange) -> list[Move]:
    return [*change.source_moves, *change.sink_moves]


def _shown(move: Move) -> LastPartition:
    return source_partition(move) if isinstance(move, pb.SourceMove) else sink_partition(move)


def _key(shown: LastPartition) -> str:
    return _text(shown.partition)


def _text(tree: Any) -> str:  # noqa: ANN401 - JSON of the connector's own making
    return json.dumps(tree, ensure_ascii=False, separators=(",", ":"))
