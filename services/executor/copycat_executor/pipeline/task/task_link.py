"""The port through which a task speaks to whoever runs it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Protocol

from copycat_connect.cluster import TopicPartition

from copycat_executor.pipeline.task.measures import Measure


class TaskState(Enum):
    """What a task reports about itself."""

    RUNNING = "RUNNING"
    PAUSED = "PAUSED"
    FAILED = "FAILED"
    UNASSIGNED = "UNASSIGNED"


class TaskLink(Protocol):
    """Reports of one task.

    No call blocks but `source_offsets`; after the host gave the task up they do nothing.
    """

    def state(self, state: TaskState) -> None:
        """Report the state the task is in from now on."""

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

    def measured(self, measures: Mapping[str, Measure]) -> None:
        """Report what was measured since the last such report; nothing is no report."""
