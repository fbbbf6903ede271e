"""Upkeep of statuses: what no worker is left to say itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import cache
from types import MappingProxyType
from typing import Final

from copycat_connect.cluster import Instance, in_order

from copycat_scheduler.domain.commands import DesiredConnector

_NO_FAULTS: Final[Mapping[str, str]] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Observed:
    """What the status of an instance says."""

    worker_id: str
    """The worker that said it."""
    generation: int
    """Under which generation."""
    unassigned: bool
    """It said that it does not run the instance any more."""
    running: bool = False
    """It said that it runs the instance."""


@dataclass(frozen=True, slots=True)
class Corrections:
    """Corrections to make; the same world asks for the same ones until they are made."""

    unassigned: tuple[tuple[Instance, Observed], ...] = ()
    """Statuses of workers that are gone: nobody runs these instances."""
    failed: tuple[tuple[Instance, Observed, str], ...] = ()
    """Connectors that run and cannot work, with the reason: what they read cannot be found out."""
    forgotten: tuple[tuple[str, tuple[int, ...]], ...] = ()
    """Connectors that are not configured any more (no tasks named), and tasks that no longer exist."""


def upkeep(
    desired: Mapping[str, DesiredConnector],
    observed: Mapping[Instance, Observed],
    claimed: Callable[[], Set[Instance]],
    may_run: Callable[[str], bool],
    faults: Mapping[str, str] = _NO_FAULTS,
) -> Corrections:
    """Return what the statuses get wrong.

    What is assigned is never forgotten: whoever assigned it knows a configuration that has not reached us.
    Nor is what a worker still drains: a task that no status names has made its last commit.

    Args:
        desired: What is configured.
        observed: What the statuses say.
        claimed: Returns what is assigned and what workers hold; asked only where something is not configured.
        may_run: Returns whether what a worker ran may run still.
        faults: Why sinks cannot be given what they read, by connector.
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
    corrections = _corrections(in_order(wrong), desired, observed)
    return replace(corrections, failed=tuple(_failed(faults, desired, observed, set(wrong))))


def _failed(
    faults: Mapping[str, str],
    desired: Mapping[str, DesiredConnector],
    observed: Mapping[Instance, Observed],
    wrong: Set[Instance],
) -> Iterator[tuple[Instance, Observed, str]]:
    """Yield the connectors that say they run; what was paused, or has failed already, says enough."""
    for name, reason in faults.items():
        instance = Instance(name)
        status = observed.get(instance)
        if name in desired and status is not None and status.running and instance not in wrong:
            yield instance, status, reason


def _corrections(
    wrong: Sequence[Instance], desired: Mapping[str, DesiredConnector], observed: Mapping[Instance, Observed]
) -> Corrections:
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
    return Corrections(
        unassigned=tuple(unassigned),
        forgotten=tuple((name, tuple(tasks)) for name, tasks in forgotten.items()),
    )
