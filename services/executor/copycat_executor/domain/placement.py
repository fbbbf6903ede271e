"""The planner: which host a task goes to, and how long hosts stay.

A slot is one host. While slots are free each task has a host of its own; beyond that light tasks share one,
those of one connector first. A connector's `isolation` overrides this. Empty hosts end after a linger, old
ones are left, one fresh one is kept ready.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import TypeAlias

from copycat_connect.cluster import Config, Instance

#: Tasks of `isolation=shared` fill a host up to here before the next one is opened.
MAX_SHARED_HOST_TASKS = 16


class Isolation(Enum):
    """With whom a connector's tasks share a host (`isolation`)."""

    AUTO = "auto"
    """A host for each task while slots are free, then light tasks share."""
    TASK = "task"
    """A host for each task, always."""
    CONNECTOR = "connector"
    """One host for the connector's tasks and nobody else's."""
    SHARED = "shared"
    """Together with the tasks of other connectors that say so too."""

    @classmethod
    def of(cls, config: Config) -> Isolation:
        """Read a connector's `isolation`; anything unknown counts as not given."""
        text = (config.get("isolation") or "auto").strip().lower()
        return next((isolation for isolation in cls if isolation.value == text), cls.AUTO)


@dataclass(frozen=True, slots=True)
class HostView:
    """A host on this worker. It takes one slot from its launch to its end."""

    host_id: str
    launched: float
    """When it was launched, seconds on the caller's clock."""
    tasks: Mapping[Instance, Isolation] = field(default_factory=dict)
    """Its tasks, the draining ones included."""
    former: str | None = None
    """Connector of its last task; None while it is fresh."""
    empty_since: float = 0.0
    """When it became empty; means nothing while it has tasks."""
    retiring: bool = False
    """It takes no new task and ends once it is empty."""

    @property
    def fresh(self) -> bool:
        """True while it never ran a task."""
        return self.former is None and not self.tasks

    def only_of(self, connector: str) -> bool:
        """Return whether all its tasks are of one connector."""
        return all(instance.connector == connector for instance in self.tasks)

    def shareable(self) -> bool:
        """Return whether every task in it may share with tasks of any connector."""
        return all(isolation in (Isolation.AUTO, Isolation.SHARED) for isolation in self.tasks.values())


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


@dataclass(frozen=True, slots=True)
class ResidencyRules:
    """What the settings say about hosts."""

    slots: int
    """The most hosts at a time."""
    lifetime: float
    """Seconds after which a host is recycled."""
    linger: float
    """Seconds an empty used host stays for its connector's next task."""
    spares: int
    """Fresh hosts kept ready, so that a task starts at once."""


@dataclass(frozen=True, slots=True)
class HostUpkeep:
    """What to do about hosts now."""

    end: tuple[str, ...] = ()
    """Hosts to end; they are empty."""
    retire: tuple[str, ...] = ()
    """Hosts to leave: their tasks move, then they end."""
    launch: int = 0
    """Fresh hosts to launch."""


def upkeep(hosts: Sequence[HostView], now: float, rules: ResidencyRules) -> HostUpkeep:
    """Return what to do about hosts; one old host is left at a time, so that few tasks pause at once."""
    end = {host.host_id for host in hosts if not host.tasks and _over(host, now, rules)}
    fresh = [host for host in hosts if host.fresh and not host.retiring and host.host_id not in end]
    end |= {host.host_id for host in fresh[rules.spares :]}
    kept = len(fresh[: rules.spares])
    free = rules.slots - len(hosts)
    return HostUpkeep(
        end=tuple(sorted(end)),
        retire=_oldest(hosts, now, rules),
        launch=max(0, min(rules.spares - kept, free)),
    )


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


def _over(host: HostView, now: float, rules: ResidencyRules) -> bool:
    if host.retiring or now - host.launched >= rules.lifetime:
        return True
    return not host.fresh and now - host.empty_since >= rules.linger


def _oldest(hosts: Sequence[HostView], now: float, rules: ResidencyRules) -> tuple[str, ...]:
    if any(host.retiring for host in hosts):
        return ()
    old = [host for host in hosts if host.tasks and now - host.launched >= rules.lifetime]
    return (min(old, key=lambda host: (host.launched, host.host_id)).host_id,) if old else ()
