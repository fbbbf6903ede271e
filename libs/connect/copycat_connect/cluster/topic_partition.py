"""The name of a Kafka partition."""

from __future__ import annotations

from typing import NamedTuple


class TopicPartition(NamedTuple):
    """A partition of a Kafka topic."""

    topic: str
    """The topic's name."""
    partition: int
    """The partition's number, from 0."""
