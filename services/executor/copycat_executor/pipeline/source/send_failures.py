"""Records the producer gave up."""

from __future__ import annotations

import logging
from typing import Final

from copycat_connect.errors import ConnectError

from copycat_executor.pipeline.records.tolerate import FailedRecord, Tolerance
from copycat_executor.pipeline.task.stages import Stage, ToleranceExceededError

_log = logging.getLogger(__name__)
_TASK_CLASS: Final = "org.apache.kafka.connect.runtime.WorkerSourceTask"


class SendFailures:
    """The first failure fails the task, unless the connector tolerates all (KIP-779)."""

    def __init__(self, tolerance: Tolerance) -> None:
        self._tolerance = tolerance
        self._first: Exception | None = None
        self.lost = 0

    def __bool__(self) -> bool:
        return self._first is not None

    def add(self, error: Exception, message: object) -> None:
        """Note a record that was not written; `message` is what the producer knows of it."""
        self.lost += 1
        self._tolerance.note_failure()
        try:
            self._tolerance.fail(FailedRecord(Stage.KAFKA_PRODUCE, _TASK_CLASS, error, message))
        except ToleranceExceededError:
            self._first = self._first or error
        else:
            _log.debug("A record was not written and is left out: %s", error)

    def fatal(self, error: Exception, message: object) -> None:
        """Note a record that was not written, with which its whole transaction fails, tolerated or not."""
        del message
        self.lost += 1
        self._tolerance.note_failure()
        self._first = self._first or error

    def check(self) -> None:
        """Raise when a failure is not tolerated.

        Raises:
            ConnectError: A record was not written and never will be.
        """
        if self._first is not None:
            raise ConnectError("Unrecoverable exception from producer send callback") from self._first
