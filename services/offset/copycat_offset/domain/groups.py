"""The port to the consumer groups in which sinks keep their progress."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Protocol

from copycat_connect.cluster import TopicPartition


class ConsumerGroups(Protocol):
    """Kafka's consumer groups; raises UnavailableError, GroupActiveError or GroupError."""

    async def positions(self, group: str) -> Mapping[TopicPartition, int]:
        """Return the committed positions; none for an unknown group."""
        ...

    async def commit(self, group: str, offsets: Mapping[TopicPartition, int]) -> None:
        """Commit positions; refused while the group has members.

        Raises:
            PartitionGoneError: Some partitions are missing; the positions of the others are committed.
        """
        ...

    async def forget(self, group: str, partitions: Collection[TopicPartition]) -> None:
        """Remove the positions of some partitions; what is not there counts as removed."""
        ...

    async def delete(self, group: str) -> None:
        """Remove the group with all its positions; an unknown one counts as removed."""
        ...
