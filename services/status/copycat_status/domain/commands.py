"""What may be asked of the status service."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from copycat_connect.cluster import Instance

from copycat_status.domain.status import Status


@dataclass(frozen=True, slots=True)
class Report:
    """What a worker says about one instance."""

    instance: Instance
    status: Status


@dataclass(frozen=True, slots=True)
class ReportStatuses:
    """Record statuses; where one instance has several, the last counts."""

    reports: tuple[Report, ...]


@dataclass(frozen=True, slots=True)
class ReportTopics:
    """Record topics a task read from or wrote to."""

    connector: str
    task: int
    topics: tuple[str, ...]
    discovered_ms: int


@dataclass(frozen=True, slots=True)
class ForgetStatuses:
    """Forget what is known of these tasks, or without tasks of the connector as a whole."""

    connector: str
    tasks: tuple[int, ...] = ()
    spared: frozenset[Instance] = field(default_factory=frozenset)
    """Instances that reported since this was asked for: they are not forgotten."""
    spared_topics: frozenset[str] = field(default_factory=frozenset)
    """Topics that were seen since."""

    def concerns(self, instance: Instance) -> bool:
        """Return whether an instance is to be forgotten."""
        return instance.connector == self.connector and (not self.tasks or instance.task in self.tasks)


@dataclass(frozen=True, slots=True)
class ResetTopics:
    """Forget a connector's active topics."""

    connector: str
    spared: frozenset[str] = field(default_factory=frozenset)
    """Topics that were seen since this was asked for: they are not forgotten."""


StatusCommand: TypeAlias = ReportStatuses | ReportTopics | ForgetStatuses | ResetTopics
