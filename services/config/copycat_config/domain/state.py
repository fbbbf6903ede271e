"""What the log says so far."""

from __future__ import annotations

from dataclasses import dataclass, field

from copycat_connect.cluster import Config, TargetState
from immutables import Map


@dataclass(frozen=True, slots=True)
class ConfigFacts:
    """All that is known under one connector name, as Kafka's reader keeps it; the default knows nothing."""

    config: Config | None = None
    """None when there is no such connector."""
    target: TargetState | None = None
    """None when nothing was said; outlives the configuration until its own tombstone."""
    tasks: Map[int, Config] = field(default_factory=Map)
    """Committed task configurations; those from `task_count` on are left over and not in force."""
    task_count: int | None = None
    """Size of the committed set; None before the first."""
    deferred: Map[int, Config] | None = None
    """Task configurations waiting for their commit; None until the first since the connector was there."""
    applied: Config | None = None
    """The configuration in force at the last good commit."""
    inconsistent: bool = False
    """The last commit lacked tasks; only a good one heals this, not even removal."""
    orphaned: bool = False
    """A commit was read without its configuration (compaction): the set has to be made again."""
    task_generation: int | None = None
    """Number of good task sets before the last; survives removal."""
    fenced: int | None = None
    """Number of tasks fenced last; survives removal, so that a namesake fences the old producers."""
    pending_fencing: bool = False
    """A task set was committed after the last fencing."""

    @property
    def target_in_force(self) -> TargetState:
        """What the connector should do: STARTED when nothing was said."""
        return self.target or TargetState.STARTED

    @property
    def size(self) -> int:
        """Number of tasks of the committed set; 0 before the first."""
        return self.task_count or 0

    @property
    def visible_tasks(self) -> tuple[Config, ...]:
        """The task set in force, none while it is inconsistent."""
        if self.inconsistent or self.task_count is None:
            return ()
        return tuple(self.tasks[index] for index in range(self.task_count) if index in self.tasks)


@dataclass(frozen=True, slots=True)
class ConfigState:
    """Every connector name anything is known about; names about which nothing is known leave no trace."""

    connectors: Map[str, ConfigFacts] = field(default_factory=Map)

    def facts(self, connector: str) -> ConfigFacts:
        """Return what is known under a name."""
        return self.connectors.get(connector, NOTHING)


NOTHING = ConfigFacts()
