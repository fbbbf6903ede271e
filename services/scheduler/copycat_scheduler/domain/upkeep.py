"""Upkeep of statuses: what no worker is left to say itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cache

from copycat_connect.cluster import Instance, in_order

from copycat_scheduler.domain.commands import Desired


@dataclass(frozen=True, slots=True)
class Observed:
    """What the status of an instance says."""

    worker_id: str
    """The worker that said it."""
    generation: int
    """Under which generation."""
    unassigned: bool
    """It said that it does not run the instance any more."""


@dataclass(frozen=True, slots=True)
class Upkeep:
    """Corrections to make; the same world asks for the same ones until they are made."""

    unassigned: tuple[tuple[Instance, Observed], ...] = ()
    """Statuses of workers that are gone: nobody runs these instances."""
    forgotten: tuple[tuple[str, tuple[int, ...]], ...] = ()
    """Connectors that are not configured any more (no tasks named), and tasks that no longer exist."""


def upkeep(
    desired: Mapping[str, Desired],
    observed: Mapping[Instance, Observed],
    claimed: Callable[[], Set[Instance]],
    may_run: Callable[[str], bool],
) -> Upkeep:
    """Return what the statuses get wrong.

    What is assigned is never forgotten: whoever assigned it knows a configuration that has not reached us.
    Nor is what a worker still drains: a task that no status names has made its last commit.

    Args:
        desired: What is configured.
        observed: What the statuses say.
        claimed: Returns what is assigned and what workers hold; asked only where something is not configured.
        may_run: Returns whether what a worker ran may run still.
    """

    @cache
    def claims() -> tuple[Set[Instance], Set[str]]:
        instances = claimed()
        return instances, {each.connector for each in instances}

    wrong: list[Instance] = []
    for instance, status in observed.items():
        wanted = desired.get(instance.connector)
        if wanted is None:
            is_wrong = instance.connector not in claims()[1]
        elif instance.task is not None and instance.task >= wanted.tasks:
            is_wrong = instance not in claims()[0]
        else:
            is_wrong = not status.unassigned and not may_run(status.worker_id)
        if is_wrong:
            wrong.append(instance)
    return _corrections(in_order(wrong), desired, observed)


def _corrections(
    wrong: Sequence[Instance], desired: Mapping[str, Desired], observed: Mapping[Instance, Observed]
) -> Upkeep:
    """Return what to do about wrong statuses, which are in order."""
    unassigned: list[tuple[Instance, Observed]] = []
    forgotten: dict[str, list[int]] = {}
    for instance in wrong:
        wanted = desired.get(instance.connector)
        if wanted is None:
            forgotten[instance.connector] = []
        elif instance.task is not None and instance.task >= wanted.tasks:
            forgotten.setdefault(instance.connector, []).append(instance.task)
        else:
            unassigned.append((instance, observed[instance]))
    return Upkeep(tuple(unassigned), tuple((name, tuple(tasks)) for name, tasks in forgotten.items()))
