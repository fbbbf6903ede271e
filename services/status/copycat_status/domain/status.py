"""What a connector or task does."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple


class State(Enum):
    """Kafka Connect's states; the values are their names in the log. DESTROYED is a tombstone there."""

    UNASSIGNED = "UNASSIGNED"
    RUNNING = "RUNNING"
    PAUSED = "PAUSED"
    STOPPED = "STOPPED"
    FAILED = "FAILED"
    RESTARTING = "RESTARTING"


class Instance(NamedTuple):
    """What a status is about."""

    connector: str
    task: int | None = None
    """Task index; None is the connector itself."""

    def __str__(self) -> str:
        return self.connector if self.task is None else f"{self.connector}-{self.task}"


@dataclass(frozen=True, slots=True)
class Status:
    """What an instance does, says the worker that runs it."""

    state: State
    worker_id: str
    generation: int
    """Generation of the assignment the worker runs it under."""
    trace: str | None = None
    """Why it failed."""
    version: str | None = None
    """Plugin version, when known."""
