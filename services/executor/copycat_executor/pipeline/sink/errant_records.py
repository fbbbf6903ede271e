"""Records a sink task could not write and hands back (KIP-610)."""

from __future__ import annotations

from concurrent.futures import Future
from dataclasses import dataclass
from typing import Final

from copycat_connect.data.records import SinkRecord
from copycat_connect.errors import ConnectError

from copycat_executor.pipeline.records.converters import Converters
from copycat_executor.pipeline.records.dead_letter import DeadLetterQueue
from copycat_executor.pipeline.records.receiver import TracedRecord
from copycat_executor.pipeline.records.tolerate import FailedRecord, Reporter, Tolerance
from copycat_executor.pipeline.task.stages import Stage, ToleranceExceededError

_TASK_CLASS: Final = "org.apache.kafka.connect.sink.SinkTask"


@dataclass(frozen=True, slots=True)
class RebuiltMessage:
    """A message for a record that the task made itself."""

    record: SinkRecord
    """The record."""
    encoded_key: bytes | None
    """Its key."""
    encoded_value: bytes | None
    """Its value."""
    encoded_headers: list[tuple[str, bytes | None]]
    """Its headers."""

    def topic(self) -> str:
        """Return the topic it was read from."""
        return self.record.original_topic

    def partition(self) -> int:
        """Return the partition it was read from."""
        return self.record.original_partition

    def offset(self) -> int:
        """Return the offset of the message that the record was."""
        return self.record.original_offset

    def key(self) -> bytes | None:
        """Return the key, encoded again."""
        return self.encoded_key

    def value(self) -> bytes | None:
        """Return the value, encoded again."""
        return self.encoded_value

    def headers(self) -> list[tuple[str, bytes | None]]:
        """Return the headers, encoded again."""
        return self.encoded_headers

    def timestamp(self) -> tuple[int, int]:
        """Return the kind of timestamp and the milliseconds since the epoch."""
        stamp = self.record.timestamp
        return int(self.record.timestamp_type), -1 if stamp is None else stamp


class ErrantRecords:
    """Takes errant records of one task (`ErrantRecordReporter`)."""

    def __init__(
        self,
        tolerance: Tolerance,
        converters: Converters,
        queue: DeadLetterQueue | None,
        reporters: tuple[Reporter, ...],
    ) -> None:
        """Compose the reporter; `reporters` are those besides the queue."""
        self._tolerance = tolerance
        self._converters = converters
        self._queue = queue
        self._reporters = reporters
        self._open: list[Future[None]] = []
        self._exceeded: ToleranceExceededError | None = None
        self._lost: BaseException | None = None

    def report(self, record: SinkRecord, error: Exception) -> Future[None]:
        """Report a record; the engine waits for the answer before it commits.

        Raises:
            ToleranceExceededError: The connector tolerates no errors.
            Exception: It could not be reported. A task may swallow that; `check` and `settle` do not.
        """
        try:
            written = self._report(record, error)
        except ToleranceExceededError as exceeded:
            self._exceeded = exceeded
            raise
        except BaseException as failure:
            self._lost = self._lost or failure
            raise
        self._tolerance.note_skipped()
        return written

    def _report(self, record: SinkRecord, error: Exception) -> Future[None]:
        message = record.message if isinstance(record, TracedRecord) else self._rebuild(record)
        failed = FailedRecord(Stage.TASK_PUT, _TASK_CLASS, error, message)
        self._tolerance.note_failure()
        for reporter in self._reporters:
            reporter.report(failed)
        written: Future[None] = Future() if self._queue is None else self._queue.send(failed)
        if self._queue is None:
            written.set_result(None)
        self._open.append(written)
        if not self._tolerance.policy.tolerate_all:
            raise ToleranceExceededError(Stage.TASK_PUT) from error
        return written

    def check(self) -> None:
        """Raise again what a task swallowed.

        Raises:
            ToleranceExceededError: A record was reported although none is tolerated.
            ConnectError: A record could not be reported.
        """
        if self._exceeded is not None:
            raise self._exceeded
        if self._lost is not None:
            raise ConnectError("Failed to report an errant record") from self._lost

    def settle(self) -> bool:
        """Note the writes that ended; False while one has not.

        Once a record was lost this raises at each call: no later commit of this run may pass it.

        Raises:
            ToleranceExceededError: A record was reported although none is tolerated.
            ConnectError: A record could not be written to the dead letter queue.
        """
        for each in self._open:
            if each.done() and self._lost is None:
                self._lost = each.exception()
        self.check()
        self._open = [each for each in self._open if not each.done()]
        return not self._open

    def _rebuild(self, record: SinkRecord) -> RebuiltMessage:
        topic, headers = record.topic, record.headers
        return RebuiltMessage(
            record,
            self._converters.key.from_connect(topic, headers, record.key_schema, record.key),
            self._converters.value.from_connect(topic, headers, record.value_schema, record.value),
            [
                (
                    each.key,
                    self._converters.header.from_connect_header(topic, each.key, each.schema, each.value),
                )
                for each in headers
            ],
        )
