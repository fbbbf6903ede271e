"""Instances: connectors and tasks, and what a user wants them to do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

Config: TypeAlias = Mapping[str, str | None]
"""A raw configuration; `${...}` placeholders are never resolved in this room."""

Partition: TypeAlias = tuple[str, int]
"""A Kafka topic partition."""


class Target(Enum):
    """What a user wants a connector to do."""

    STARTED = "STARTED"
    PAUSED = "PAUSED"
    STOPPED = "STOPPED"


@dataclass(frozen=True, slots=True)
class Instance:
    """A connector, or one of its tasks."""

    connector: str
    task: int | None = None
    """Task index; None for the connector itself."""

    @property
    def index(self) -> int:
        """Task index; only for tasks."""
        assert self.task is not None  # noqa: S101 - its callers have a task
        return self.task

    def __str__(self) -> str:
        return self.connector if self.task is None else f"{self.connector}-{self.task}"
