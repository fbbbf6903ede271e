"""Tasks: they move the data. Calls into one task never overlap."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence

from copycat_connect.cluster import TopicPartition
from copycat_connect.data.batches import SinkBatch, SourceBatch
from copycat_connect.data.records import RecordMetadata, SourceRecord
from copycat_connect.plugin.contexts import SinkTaskContext, SourceTaskContext


class SourceTask(ABC):
    """Reads from a system. The engine calls `initialize`, `start`, `poll` again and again, then `stop`."""

    context: SourceTaskContext

    def initialize(self, context: SourceTaskContext) -> None:
        """Keep the context; called once, before `start`."""
        self.context = context

    @abstractmethod
    def start(self, config: Mapping[str, str]) -> None:
        """Start with the task's configuration, placeholders resolved.

        Raises:
            ConnectError: The task cannot work; it becomes FAILED.
        """

    @abstractmethod
    def poll(self) -> SourceBatch | Sequence[SourceRecord] | None:
        """Return the next records, or nothing before there are any.

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

    def commit_watched(self, mark: object, metadata: RecordMetadata | None) -> None:
        """Learn that a record its batch names in `watched` is durable, or was dropped (no metadata).

        It says where in Kafka the record is, and costs less than `commit_record`: the batch still travels as
        columns. Called from the task's thread between polls, in the order of Kafka's answers, with
        exactly-once delivery after the transaction ended. Errors are logged only.

        Args:
            mark: What the batch named it by.
            metadata: Where the record is.
        """

    @abstractmethod
    def stop(self) -> None:
        """Let go of everything; called after the last `poll` returned, also when `start` failed."""


class SinkTask(ABC):
    """Writes to a system.

    The engine calls `initialize`, `start`, `open` with the partitions, then `put` again and again and
    `pre_commit` before offsets are committed, `close` when partitions are taken away, and `stop`.

    What a record is promised is the user's choice, `delivery.guarantee` of the connector (KIP-26):

    - at_least_once: what `pre_commit` returns is committed to the connector's consumer group. After a crash,
      or a flush that failed, reading goes on at the last committed positions.
    - at_most_once: what was read is committed before `put` gets it. After a crash it is not read again, nor
      after an error of `put` or a flush that failed: what the task did not write then is lost. Only a batch
      that `put` refused with RetriableError, which says that nothing of it was taken, is given again, within
      the same run. `context.offset` cannot go back.
    - exactly_once: the task stores positions together with its data, see `stored_positions`. A connector gets
      it only where its `exactly_once_support` returns SUPPORTED.
    """

    context: SinkTaskContext

    def initialize(self, context: SinkTaskContext) -> None:
        """Keep the context; called once, before `start`."""
        self.context = context

    @abstractmethod
    def start(self, config: Mapping[str, str]) -> None:
        """Start with the task's configuration, placeholders resolved.

        Raises:
            ConnectError: The task cannot work; it becomes FAILED.
        """

    def open(self, partitions: Collection[TopicPartition]) -> None:
        """Get ready for partitions that were assigned."""

    def stored_positions(self, partitions: Collection[TopicPartition]) -> Mapping[TopicPartition, int] | None:
        """Say where reading resumes, of a task that stores positions with its data; for exactly-once only.

        A position is the offset of the first record that is not in the data yet. It counts whatever the
        consumer group says; a partition that is left out begins at the group's position, or else where the
        consumer's reset policy says. None, the default, leaves all of them to the group: the way of a task
        that writes to Kafka and commits positions inside of its producer's transactions
        (`SinkTaskContext.transactional_id`).

        The engine asks after `start` and before `open` and the first `put`, and once more after a
        `pre_commit` that raised. It reads the group's positions after `start`, too. The task must see to it
        that

        - `pre_commit` makes data and positions durable at once: after a kill at any instruction both are
          there or neither. It is called with the positions of exactly what `put` has taken.
        - once this has returned, nothing counts that was put and not stored with a position: cut it off here.
          It is put again.
        - once this has returned, no earlier task of the same connector can write any more, even one that was
          frozen for hours and goes on now: by a lock, a fencing token in every write, or a place of its own.
          A task that was driven out so raises ConnectError; the engine asks again, or ends it, when a newer
          one exists.
        - `alter_offsets` of the connector changes what is stored, and answers True: the group's positions are
          for show then, and a user's change of them alone would have no effect.

        What the group has follows the answers of `pre_commit`, as with every other sink. The consumer reads
        only what is committed, unless `consumer.override.isolation.level` says otherwise.

        Args:
            partitions: The partitions the task reads.

        Returns:
            Positions of some or all of them; others are ignored.

        Raises:
            ConnectError: What is stored cannot be read, or no longer belongs to this task; it becomes FAILED.
        """
        del partitions
        return None

    @abstractmethod
    def put(self, records: SinkBatch) -> None:
        """Write records; they may be written later, at the latest in `flush`. The batch may be empty.

        Raises:
            RetriableError: The system is away and nothing was taken; the engine gives the same batch again
            later. ConnectError: The task cannot go on; it becomes FAILED.
        """

    def flush(self, offsets: Mapping[TopicPartition, int]) -> None:
        """Make everything up to these offsets durable.

        Raises:
            ConnectError: It is not; the engine goes back to the last committed offsets, if the guarantee
                allows that.
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

    def made_anew(self, partitions: Collection[TopicPartition]) -> None:
        """Hear that the topics of partitions were deleted and made anew, after `close` and before `open`.

        They are read from their beginning, so that records get offsets that others had. A task whose data is
        found by offsets, or which goes on behind what its data holds, sees to it here that the data of the
        two topics does not meet.

        Raises:
            ConfigError: It would, unless a user changes the configuration or moves the data.
        """

    @abstractmethod
    def stop(self) -> None:
        """Let go of everything; called last, also when `start` failed."""
