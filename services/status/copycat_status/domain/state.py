"""What the log says so far."""

from __future__ import annotations

from dataclasses import dataclass, field

from copycat_connect.cluster import Instance
from immutables import Map

from copycat_status.domain.status import Status


@dataclass(frozen=True, slots=True)
class ActiveTopic:
    """Who noticed a topic, and when."""

    task: int
    discovered_ms: int


@dataclass(frozen=True, slots=True)
class StatusFacts:
    """All that is known under one connector name; each fact follows from the newest record of its own key."""

    status: Status | None = None
    tasks: Map[int, Status] = field(default_factory=Map)
    topics: Map[str, ActiveTopic] = field(default_factory=Map)


@dataclass(frozen=True, slots=True)
class StatusState:
    """Every connector name anything is known about."""

    connectors: Map[str, StatusFacts] = field(default_factory=Map)

    def facts(self, connector: str) -> StatusFacts:
        """Return what is known under a name."""
        return self.connectors.get(connector, NOTHING)

    def status(self, instance: Instance) -> Status | None:
        """Return the status of an instance."""
        facts = self.facts(instance.connector)
        return facts.status if instance.task is None else facts.tasks.get(instance.task)


NOTHING = StatusFacts()
