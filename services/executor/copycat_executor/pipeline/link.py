"""The port through which a task speaks to whoever runs it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Protocol

from copycat_connect.data.topic_partition import TopicPartition


class TaskState(Enum):
    """What a task reports about itself."""

    RUNNING = "RUNNING"
    PAUSED = "PAUSED"
    FAILED = "FAILED"
    UNASSIGNED = "UNASSIGNED"


@dataclass(slots=True)
class Counts:
    """Numbers of a task since it started."""

    records_in: int = 0
    """Polled or consumed."""
    records_out: int = 0
    """Delivered or put."""
    records_skipped: int = 0
    """Filtered or skipped."""
    errors: int = 0
    """Errors met."""


class TaskLink(Protocol):
    """Reports of one task.

    No call blocks but `source_offsets`; after the host gave the task up they do nothing.
    """

    def state(self, state: TaskState) -> None:
        """Report a new state."""

    def acknowledge_source(self, sequence: int, offsets: Mapping[bytes, bytes | None]) -> None:
        """Report source offsets whose records are durable (I1); answered by a settlement."""

    def acknowledge_sink(self, sequence: int, offsets: Mapping[TopicPartition, int]) -> None:
        """Report sink positions that were flushed (I1); answered by a settlement."""

    def topics_seen(self, topics: Sequence[str]) -> None:
        """Report topics met for the first time (KIP-558)."""

    def source_offsets(self, partitions: Sequence[bytes]) -> list[bytes | None]:
        """Ask for committed source offsets, in the order of the partitions; blocks.

        Raises:
            RetriableError: There is no answer now.
        """

    def counts(self, counts: Counts) -> None:
        """Report the numbers so far."""
