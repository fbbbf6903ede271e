"""What a connector or task does."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum


class State(Enum):
    """Kafka Connect's states; the values are their names in the log. DESTROYED is a tombstone there."""

    UNASSIGNED = "UNASSIGNED"
    RUNNING = "RUNNING"
    PAUSED = "PAUSED"
    STOPPED = "STOPPED"
    FAILED = "FAILED"
    RESTARTING = "RESTARTING"


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
    since_ms: int | None = field(default=None, compare=False)
    """When it began, milliseconds since the epoch; the same said again later is nothing new."""
