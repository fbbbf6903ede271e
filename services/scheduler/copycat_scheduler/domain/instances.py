"""What is placed: connectors and their tasks, and what a sink task reads."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple


class Instance(NamedTuple):
    """A connector, or one of its tasks."""

    connector: str
    task: int | None = None


class TopicPartition(NamedTuple):
    """A Kafka topic partition."""

    topic: str
    partition: int


def in_order(instances: Iterable[Instance]) -> list[Instance]:
    """Return instances by connector, the connector itself before its tasks."""
    return sorted(instances, key=_place)


def _place(instance: Instance) -> tuple[str, int]:
    return instance.connector, -1 if instance.task is None else instance.task
