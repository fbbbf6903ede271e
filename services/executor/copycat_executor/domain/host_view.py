"""Hosts as the planner sees them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from copycat_connect.cluster import Config, Instance


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
