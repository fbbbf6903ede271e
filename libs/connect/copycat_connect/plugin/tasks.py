"""Tasks: they move the data. Calls into one task never overlap."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence

from copycat_connect.cluster import TopicPartition
from copycat_connect.data.batches import SinkBatch, SourceBatch
from copycat_connect.data.record_metadata import RecordMetadata
from copycat_connect.data.records import SourceRecord
from copycat_connect.plugin.contexts import SinkTaskContext, SourceTaskContext


class SourceTask(ABC):
    """Reads from a system. The engine calls `initialize`, `start`, `poll` again and again, then `stop`."""

    context: SourceTaskContext

    def initialize(self, context: SourceTaskContext) -> None:
        """Keep the context; called once, before `start`."""
        self.context = context

    @abstractmethod
    def start(self, config: Mapping[str, str]) -> None:
        """Take the task's configuration, placeholders resolved.

        Raises:
            ConnectError: The task cannot work; it becomes FAILED.
        """

    @abstractmethod
    def poll(self) -> SourceBatch | Sequence[SourceRecord] | None:
        """Return the next records, or nothing when there are none yet.

        It may block no longer than a second, so that a drain is prompt; wait with `context.wait`. After a
        restart the first call continues from the offsets in the context.

        Raises:
            RetriableError: The system is away; the engine calls again later.
            ConnectError: The task cannot go on; it becomes FAILED.
        """

    def commit(self) -> None:
        """Learn that offsets were stored; for systems that are acknowledged. Errors are logged only."""

    def commit_record(self, record: SourceRecord, metadata: RecordMetadata | None) -> None:
        """Learn that one record is durable, or was dropped (no metadata). Errors are logged only.

        Called from the task's thread between polls, and only when a task defines it.
        """

    @abstractmethod
    def stop(self) -> None:
        """Let go of everything; called after the last `poll` returned, also when `start` failed."""


class SinkTask(ABC):
    """Writes to a system.

    The engine calls `initialize`, `start`, `open` with the partitions, then `put` again and again and
    `pre_commit` before offsets are committed, `close` when partitions are taken away, and `stop`.
    """

    context: SinkTaskContext

    def initialize(self, context: SinkTaskContext) -> None:
        """Keep the context; called once, before `start`."""
        self.context = context

    @abstractmethod
    def start(self, config: Mapping[str, str]) -> None:
        """Take the task's configuration, placeholders resolved.

        Raises:
            ConnectError: The task cannot work; it becomes FAILED.
        """

    def open(self, partitions: Collection[TopicPartition]) -> None:
        """Get ready for partitions that were assigned."""

    @abstractmethod
    def put(self, records: SinkBatch) -> None:
        """Take records to write; they may be written later, at the latest in `flush`. The batch may be empty.

        Raises:
            RetriableError: The system is away; the engine gives the same batch again later.
            ConnectError: The task cannot go on; it becomes FAILED.
        """

    def flush(self, offsets: Mapping[TopicPartition, int]) -> None:
        """Make everything up to these offsets durable.

        Raises:
            ConnectError: It is not; the engine goes back to the last committed offsets.
        """

    def pre_commit(self, offsets: Mapping[TopicPartition, int]) -> Mapping[TopicPartition, int]:
        """Return the offsets that are durable now: those given, or lower ones.

        By default it calls `flush` and returns all of them. An empty answer commits nothing: the way of a
        task that keeps its progress with its data.
        """
        self.flush(offsets)
        return offsets

    def close(self, partitions: Collection[TopicPartition]) -> None:
        """Let go of partitions that were taken away."""

    @abstractmethod
    def stop(self) -> None:
        """Let go of everything; called last, also when `start` failed."""
