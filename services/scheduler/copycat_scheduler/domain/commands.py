"""What may be asked of the scheduler: to make the assignments fit the world as it is now."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass, field
from typing import TypeAlias

from copycat_connect.cluster import Instance, TopicPartition


@dataclass(frozen=True, slots=True)
class DesiredConnector:
    """What should run of one connector, whatever its target state: a paused one keeps its places."""

    tasks: int
    """Number of its tasks; 0 while it is stopped."""
    partitions: tuple[TopicPartition, ...] | None = ()
    """What its tasks read together; None while that is not known yet. Empty for a source."""


@dataclass(frozen=True, slots=True)
class Reschedule:
    """Place what should run on the workers there are."""

    desired: Mapping[str, DesiredConnector]
    """Every configured connector."""
    workers: Set[str]
    """Live workers that take work."""
    absent: Set[str] = frozenset()
    """Workers not heard of that may come back: what they have stays theirs."""
    held: Mapping[Instance, Set[str]] = field(default_factory=dict)
    """Workers, live or absent, that run an instance or may do so still."""
    former: Mapping[Instance, str] = field(default_factory=dict)
    """The worker that ran an instance last: it gets it back where balance allows."""
    generation: int = 0
    """For every assignment of this decision; above all generations known anywhere."""


SchedulerCommand: TypeAlias = Reschedule
