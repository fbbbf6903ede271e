"""What the engine offers to running connectors and tasks. The engine implements these; tests pass fakes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Future
from typing import Any, Protocol

from copycat_connect.cluster import TopicPartition
from copycat_connect.data.records import SinkRecord, SourceRecord

SourcePartition = Mapping[str, Any]
SourceOffset = Mapping[str, Any]


class ConnectorContext(Protocol):
    """What a connector may ask of the engine; callable from any thread."""

    def request_task_reconfiguration(self) -> None:
        """Ask the engine to call `task_configs` again, since the system's partitions changed."""

    def raise_error(self, error: BaseException) -> None:
        """Fail the connector with an error found outside of a call, e.g. in a watching thread.

        A thread that ends by an error is such a case, whatever the error is.
        """

    def waiting(self, reason: str | None) -> None:
        """Say what keeps the connector from its work and may pass, e.g. `table orders is not there`.

        Its status shows the reason, and it is degraded, until None says that it waits no longer, or it is
        stopped. A connector that cannot divide its work for such a reason raises RetriableError from
        `task_configs` instead: it is asked again, and the tasks that it has go on.
        """


class TransactionContext(Protocol):
    """Lets a source task place its transaction boundaries (`transaction.boundary=connector`)."""

    def commit_transaction(self, record: SourceRecord | None = None) -> None:
        """Commit after the record, or after the next batch when none is given."""

    def abort_transaction(self, record: SourceRecord | None = None) -> None:
        """Abort with the record as the last, or after the next batch when none is given."""


class SourceTaskContext(Protocol):
    """What a source task may ask of the engine."""

    @property
    def transaction(self) -> TransactionContext | None:
        """Transaction boundaries; None unless the connector defines them itself."""

    def configs(self) -> Mapping[str, str]:
        """Return the task's configuration as it is now, placeholders resolved."""

    def offset(self, partition: SourcePartition) -> SourceOffset | None:
        """Return the committed offset of a source partition; None without one.

        Integers come back as int whatever width they had. Blocks until the engine knows.
        """

    def offsets(self, partitions: Sequence[SourcePartition]) -> list[SourceOffset | None]:
        """Return the committed offsets of several source partitions, in their order."""

    def waiting(self, reason: str | None) -> None:
        """Say what the task waits for that should be there, e.g. `file /data/in.txt does not exist`.

        Its status shows the reason, and it is degraded, until None says that it waits no longer. Not for a
        source in which there is nothing new; one that is away is a RetriableError.
        """

    def wait(self, seconds: float) -> bool:
        """Wait, but no longer than until the task is being stopped; use this and never `time.sleep`.

        Returns:
            True when the task is being stopped.
        """


class ErrantRecordReporter(Protocol):
    """Takes records a sink task cannot write."""

    def report(self, record: SinkRecord, error: Exception) -> Future[None]:
        """Report a record, so that the task can go on.

        Returns:
            Done when the record is safe in the dead letter queue; the engine waits for it before it commits.

        Raises:
            ConnectError: The connector tolerates no errors.
        """


class SinkTaskContext(Protocol):
    """What a sink task may ask of the engine; only from the task's own calls."""

    @property
    def assignment(self) -> frozenset[TopicPartition]:
        """The partitions the task reads now."""

    @property
    def errant_record_reporter(self) -> ErrantRecordReporter | None:
        """Takes bad records; None unless the connector has a dead letter queue or logs errors."""

    @property
    def group_id(self) -> str:
        """The consumer group that holds the connector's positions."""

    @property
    def transactional_id(self) -> str | None:
        """This task's transactional id, the same at each start; None unless it delivers exactly once.

        It is `<group.id>-<connector>-<task>`, for a task that writes to the Kafka its records came from: its
        `start` makes a producer with it and calls `init_transactions`, which ends what an earlier task has
        open and bars that task; `put` sends inside of a transaction; `pre_commit` adds the positions it was
        given to the transaction (`send_offsets_to_transaction`, for `group_id`), commits it, and returns
        nothing, since positions that the engine commits besides would arrive out of order. When a commit
        fails for a reason that passes, the task aborts the transaction before it raises: the engine then
        reads the group's positions again.
        """

    def configs(self) -> Mapping[str, str]:
        """Return the task's configuration as it is now, placeholders resolved."""

    def offset(self, offsets: Mapping[TopicPartition, int]) -> None:
        """Continue reading at these offsets; for a task that keeps its progress with its data."""

    def timeout(self, millis: int) -> None:
        """Wait no longer than this before the next `put`, e.g. while the task waits to try again."""

    def pause(self, partitions: Iterable[TopicPartition]) -> None:
        """Read no more from these partitions until `resume`."""

    def resume(self, partitions: Iterable[TopicPartition]) -> None:
        """Read from these partitions again."""

    def request_commit(self) -> None:
        """Ask for an offset commit soon, without waiting for the next interval."""

    def wait(self, seconds: float) -> bool:
        """Wait, but no longer than until the task is being stopped; use this and never `time.sleep`.

        Returns:
            True when the task is being stopped.
        """


class QueryEngine(Protocol):
    """Spark, for a transformation that is a DataFrame step; may be asked from any thread."""

    def prepare(self, sql: str, columns: str) -> str:
        """Check a query over a table named `records`, one row or none for each record.

        Args:
            sql: `SELECT ... FROM records [WHERE ...]`.
            columns: The table's columns, in Spark's DDL.

        Returns:
            The columns of the result, in Spark's DDL.

        Raises:
            ConfigError: Spark does not understand it, or it is not such a query.
            RetriableError: The engine is away.
        """

    def run(self, sql: str, columns: str, batch: bytes) -> bytes:
        """Run the query on records.

        Args:
            sql: The query.
            columns: The table's columns.
            batch: The records, as an Arrow stream of these columns.

        Returns:
            The rows as an Arrow stream; its last column is the place, from 0, of the record a row came from.

        Raises:
            DataError: The query fails on one of the records.
            RetriableError: The engine is away.
            ConnectError: It took too long, or ended.
        """


class TransformationContext(Protocol):
    """What the engine offers to transformations."""

    @property
    def queries(self) -> QueryEngine:
        """Runs queries over batches of records."""
