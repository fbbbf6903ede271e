"""Changes beyond Kafka Connect's: to a time, and back; each can be a dry run, and reports what it does."""

from __future__ import annotations

from typing import Final

from copycat_rest.answers import OffsetsEffect

from copycat_gateway.changes import log_request
from copycat_gateway.clients import Services
from copycat_gateway.offsets.fencing import ChangeRules, find_changeable_target
from copycat_gateway.offsets.plans import NOT_ASKED, Plan, plan_moment
from copycat_gateway.offsets.query import Moment
from copycat_gateway.offsets.sink import move_sink
from copycat_gateway.offsets.source import move_source
from copycat_gateway.offsets.target import Target, await_end_of_tasks, find_target
from copycat_gateway.offsets.undo import plan_undo, undo, undoable
from copycat_gateway.views.offsets import ALTERED, modified

DRY: Final = "Nothing was changed: this was a dry run"
STAYS: Final = "Nothing was changed: every partition is where it would go"


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
