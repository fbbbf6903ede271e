"""The planner: which host a task goes to.

A slot is one host. While slots are free each task has a host of its own; beyond that light tasks share one,
those of one connector first. A connector's `isolation` overrides this.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from copycat_connect.cluster import Instance

from copycat_executor.domain.host_view import HostView, Isolation

#: Tasks of `isolation=shared` fill a host up to here before the next one is opened.
MAX_SHARED_HOST_TASKS = 16


@dataclass(frozen=True, slots=True)
class InHost:
    """Put the task into this host."""

    host_id: str


@dataclass(frozen=True, slots=True)
class NewHost:
    """Launch a host for the task."""


@dataclass(frozen=True, slots=True)
class NoPlace:
    """No slot is free; ask again when a host has ended."""

    retire: str | None
    """A shared host whose tasks could join others, to free its slot; None without such a host."""


Place: TypeAlias = InHost | NewHost | NoPlace


def place(task: Instance, isolation: Isolation, hosts: Sequence[HostView], slots: int) -> Place:
    """Choose a place for a task."""
    usable = [host for host in hosts if not host.retiring]
    together = _together(task, isolation, usable)
    if together is not None:
        return InHost(together.host_id)
    empty = _empty(task, usable)
    if empty is not None:
        return InHost(empty.host_id)
    if len(hosts) < slots:
        return NewHost()
    last = _crowd(task, isolation, usable)
    return InHost(last.host_id) if last is not None else NoPlace(_room_to_make(usable))


def place_apart(
    task: Instance, isolation: Isolation, hosts: Sequence[HostView], slots: int, *, foremost: bool
) -> tuple[Place, Isolation]:
    """Choose a place for a task that may be what ended its host; also returns the isolation it has there.

    It is alone as long as that leaves a slot where others share: when a host of many tasks dies all of them
    are suspected, and would take every slot for themselves. The last slot that one can have for itself is for
    a task that is `foremost`, surely to blame or suspected of two deaths, and no other of more: others make
    room for it.
    """
    apart = place(task, Isolation.TASK, hosts, slots)
    closed = sum(not host.retiring and not host.shareable() for host in hosts)
    room_is_made = isinstance(apart, NoPlace) and (apart.retire is not None or any(h.retiring for h in hosts))
    shares = isinstance(apart, NoPlace) and not (foremost and room_is_made)
    if shares or slots - closed <= (1 if foremost else 2):
        return place(task, isolation, hosts, slots), isolation
    return apart, Isolation.TASK


def _together(task: Instance, isolation: Isolation, hosts: Iterable[HostView]) -> HostView | None:
    """A host where tasks of this isolation gather even while slots are free."""
    match isolation:
        case Isolation.CONNECTOR:
            own = (h for h in hosts if h.tasks and h.only_of(task.connector) and _all(h, isolation))
            return next(own, None)
        case Isolation.SHARED:
            shared = (
                h for h in hosts if h.tasks and _all(h, isolation) and len(h.tasks) < MAX_SHARED_HOST_TASKS
            )
            return min(shared, key=_load, default=None)
        case _:
            return None


def _all(host: HostView, isolation: Isolation) -> bool:
    return all(found is isolation for found in host.tasks.values())


def _empty(task: Instance, hosts: Iterable[HostView]) -> HostView | None:
    """An empty host: the one the connector has just left, else a fresh one."""
    empty = [host for host in hosts if not host.tasks]
    left = (host for host in empty if host.former == task.connector)
    return next(left, None) or next((host for host in empty if host.fresh), None)


def _crowd(task: Instance, isolation: Isolation, hosts: Sequence[HostView]) -> HostView | None:
    """The host to take when no slot is free: one another connector left, else one to share.

    To share: of the same connector first, then the one with the fewest tasks.
    """
    left = next((host for host in hosts if not host.tasks), None)
    if left is not None or isolation in (Isolation.TASK, Isolation.CONNECTOR):
        return left
    shareable = [host for host in hosts if host.shareable()]
    return min(shareable, key=lambda host: (not host.only_of(task.connector), *_load(host)), default=None)


def _room_to_make(hosts: Sequence[HostView]) -> str | None:
    shareable = [host for host in hosts if host.tasks and host.shareable()]
    return min(shareable, key=_load).host_id if len(shareable) > 1 else None


def _load(host: HostView) -> tuple[int, str]:
    return len(host.tasks), host.host_id
