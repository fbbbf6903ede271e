"""Connectors and tasks: what is placed on workers, what runs there and what a status is about."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple


class Instance(NamedTuple):
    """A connector, or one of its tasks."""

    connector: str
    """The connector's name."""
    task: int | None = None
    """The task's number, from 0; None for the connector itself."""

    @property
    def task_number(self) -> int:
        """The task's number, where the caller knows that this is a task and not the connector itself."""
        assert self.task is not None  # its callers have a task
        return self.task

    def __str__(self) -> str:
        """Return the connector's name, or for a task `<connector>-<number>` as Kafka Connect writes it."""
        return self.connector if self.task is None else f"{self.connector}-{self.task}"


def in_order(instances: Iterable[Instance]) -> list[Instance]:
    """Return instances sorted by connector, each connector before its tasks, and tasks by number."""
    return sorted(instances, key=_sort_key)


def _sort_key(instance: Instance) -> tuple[str, int]:
    return instance.connector, -1 if instance.task is None else instance.task
