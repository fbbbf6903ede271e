"""The port to the consumer groups in which sinks keep their progress."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Protocol

from copycat_connect.cluster import TopicPartition

from copycat_offset.domain.moves import Bounds


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

    async def bounds(
        self, partitions: Collection[TopicPartition], time: int | None
    ) -> Mapping[TopicPartition, Bounds]:
        """Return what those partitions hold that exist, on the group's cluster.

        `time` is in milliseconds since the epoch; with it, `Bounds.at` is the first offset as new.

        Raises:
            UnavailableError: Brokers did not answer in time, or may not be asked.
        """
        ...
