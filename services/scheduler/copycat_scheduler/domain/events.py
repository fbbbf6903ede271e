"""Facts of the assignments topic; one key per instance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from copycat_connect.cluster import Instance, TopicPartition


@dataclass(frozen=True, slots=True)
class Assigned:
    """A worker runs an instance."""

    instance: Instance
    """What it runs."""
    worker_id: str
    """The worker."""
    generation: int
    """Above every generation assigned before."""
    partitions: tuple[TopicPartition, ...] = ()
    """What a sink task reads; empty for anything else."""


@dataclass(frozen=True, slots=True)
class Unassigned:
    """No worker should run an instance."""

    instance: Instance
    """What nobody should run."""


SchedulerEvent: TypeAlias = Assigned | Unassigned
