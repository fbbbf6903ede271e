"""Changes beyond Kafka Connect's: to a time, and back; each can be a dry run, and reports what it does.

The last change can be undone once, where nobody moved the offsets since.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from copycat.offset.v1 import offset_service_pb2 as pb
from copycat.types.v1 import types_pb2
from copycat_rest.answers import LastChange, LastPartition, OffsetsEffect, Remembered

from copycat_gateway.changes import log_request
from copycat_gateway.clients import Services
from copycat_gateway.errors import ConflictError
from copycat_gateway.offsets.altering import move_sink, move_source, read_sink, read_source
from copycat_gateway.offsets.bodies import SinkChange
from copycat_gateway.offsets.memory import after_of, before_of, last_change, millis, write
from copycat_gateway.offsets.plans import NOT_ASKED, Plan, plan_moment, plan_sink, plan_source
from copycat_gateway.offsets.query import Moment, iso
from copycat_gateway.offsets.target import (
    ChangeRules,
    Target,
    await_end_of_tasks,
    find_changeable_target,
    find_target,
)
from copycat_gateway.views.offsets import ALTERED, modified, sink_partition, source_partition

DRY: Final = "Nothing was changed: this was a dry run"
STAYS: Final = "Nothing was changed: every partition is where it would go"
#: Partitions that a refusal names.
NAMED: Final = 3
Move = pb.SourceMove | pb.SinkMove


def dry_run_of(target: Target, plan: Plan, moment: Moment | None = None) -> OffsetsEffect:
    """Return the answer to a dry run."""
    notes = [target.unready] if target.unready else []
    return OffsetsEffect(
        dry_run=True,
        message=DRY,
        time=moment.text if moment else None,
        notes=[*notes, *plan.notes],
        offsets=plan.moved,
    )


async def move_to(
    services: Services, rules: ChangeRules, connector: str, moment: Moment, *, dry_run: bool
) -> OffsetsEffect:
    """Move every position of a connector to a time."""
    if dry_run:
        target = await find_target(services, connector)
        return dry_run_of(target, await plan_moment(services, target, moment), moment)
    target = await find_changeable_target(services, rules, connector, "alter")
    await await_end_of_tasks(services, target, "alter")
    plan = await plan_moment(services, target, moment)
    if plan.empty:
        return _done(plan, STAYS, moment)
    if target.is_sink:
        handled = await move_sink(services, target, plan.sink)
    else:
        handled = await move_source(services, target, plan.source)
    log_request(
        "offsets altered",
        connector=connector,
        partitions=len(plan.sink) + len(plan.source),
        time=moment.text,
    )
    return _done(plan, _message(handled, kip_strict=rules.kip_strict), moment)


async def undo_last(
    services: Services, rules: ChangeRules, connector: str, *, dry_run: bool
) -> OffsetsEffect:
    """Undo the last change of a connector's offsets."""
    if dry_run:
        target = await find_target(services, connector)
        return dry_run_of(target, await plan_undo(services, target, await undoable(services, target)))
    target = await find_changeable_target(services, rules, connector, "alter")
    await await_end_of_tasks(services, target, "alter")
    change = await undoable(services, target)
    plan = await plan_undo(services, target, change)
    handled = await undo(services, target, change, plan)
    log_request("offsets change undone", connector=connector, partitions=len(plan.moved))
    return _done(plan, STAYS if plan.empty else _message(handled, kip_strict=rules.kip_strict))


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


def _message(handled: bool, *, kip_strict: bool) -> str:
    return modified(ALTERED, handled, kip_strict=kip_strict).message


def _done(plan: Plan, message: str, moment: Moment | None = None) -> OffsetsEffect:
    return OffsetsEffect(
        dry_run=False,
        message=message,
        time=moment.text if moment else None,
        notes=[note for note in plan.notes if note != NOT_ASKED],
        offsets=plan.moved,
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
