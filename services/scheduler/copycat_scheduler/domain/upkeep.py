"""Upkeep of statuses: what no worker is left to say itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass

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
    assigned: Set[Instance],
    may_run: Callable[[str], bool],
) -> Upkeep:
    """Return what the statuses get wrong; `may_run` returns whether what a worker ran may run still.

    What is assigned is never forgotten: whoever assigned it knows a configuration that has not reached us.
    """
    busy = {instance.connector for instance in assigned}
    unassigned: list[tuple[Instance, Observed]] = []
    surplus: dict[str, list[int]] = {}
    for instance in in_order(observed):
        status, wanted = observed[instance], desired.get(instance.connector)
        if wanted is None:
            if instance.connector not in busy:
                surplus[instance.connector] = []
        elif instance.task is not None and instance.task >= wanted.tasks:
            if instance not in assigned:
                surplus.setdefault(instance.connector, []).append(instance.task)
        elif not status.unassigned and not may_run(status.worker_id):
            unassigned.append((instance, status))
    return Upkeep(tuple(unassigned), tuple((name, tuple(tasks)) for name, tasks in surplus.items()))
