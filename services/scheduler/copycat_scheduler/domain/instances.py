"""What a sink task reads."""

from __future__ import annotations

from typing import NamedTuple


class TopicPartition(NamedTuple):
    """A Kafka topic partition."""

    topic: str
    partition: int
