"""What happens to a record whose conversion or transformation failed (KIP-298)."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol, TypeVar

from copycat_connect.errors import RetriableError

from copycat_executor.pipeline.task.call_log import CallLog
from copycat_executor.pipeline.task.measures import Measures
from copycat_executor.pipeline.task.stages import (
    DrainedError,
    RecordSkippedError,
    Stage,
    ToleranceExceededError,
)

T = TypeVar("T")

#: Kafka Connect's first delay; each further one doubles, up to `errors.retry.delay.max.ms`.
_FIRST_RETRY_DELAY_SECONDS: Final = 0.3


@dataclass(frozen=True, slots=True)
class ErrorPolicy:
    """The `errors.*` settings of a connector."""

    tolerate_all: bool = False
    """True when failed records are left out instead of failing the task."""
    retry_timeout: float | None = 0.0
    """Seconds a retriable failure is retried; None for ever."""
    retry_delay_max: float = 60.0
    """The longest delay between retries, seconds."""
    log: bool = False
    """True when failures are logged."""
    log_records: bool = False
    """True when the log line names the record."""

    @classmethod
    def parse(cls, config: Mapping[str, Any]) -> ErrorPolicy:
        """Read the settings out of a parsed connector configuration."""
        timeout = int(config.get("errors.retry.timeout", 0))
        return cls(
            tolerate_all=config.get("errors.tolerance", "none") == "all",
            retry_timeout=None if timeout < 0 else timeout / 1000,
            retry_delay_max=int(config.get("errors.retry.delay.max.ms", 60000)) / 1000,
            log=bool(config.get("errors.log.enable", False)),
            log_records=bool(config.get("errors.log.include.messages", False)),
        )


@dataclass(frozen=True, slots=True)
class FailedRecord:
    """One failure of one record."""

    stage: Stage
    """Where it failed."""
    plugin: str
    """Class name of what failed."""
    error: BaseException
    """The failure."""
    original: object
    """The record as it was read: a source record, or a Kafka message."""


class Reporter(Protocol):
    """Tells somebody about failed records."""

    def report(self, failed: FailedRecord) -> None:
        """Report one failure; raises nothing."""


class Tolerance:
    """Decides about failed records of one task; called by the task's thread only."""

    def __init__(
        self,
        policy: ErrorPolicy,
        reporters: tuple[Reporter, ...],
        *,
        wait: Callable[[float], bool],
        measures: Measures,
        calls: CallLog,
        random: Callable[[], float],
    ) -> None:
        """Compose the handler.

        `wait` sleeps and answers True when the task must end; `random` gives numbers from 0 to 1.
        """
        self.policy = policy
        self._measures = measures
        self._calls = calls
        self._reporters = reporters
        self._wait = wait
        self._clock = measures.clock
        self._random = random

    def recover(
        self, error: BaseException, original: object, stage: Stage, plugin: str, again: Callable[[], T]
    ) -> T:
        """Try a failed operation again while that is worth it; returns what it gave in the end.

        Raises:
            RecordSkippedError: It failed for good and is tolerated; it was reported.
            ToleranceExceededError: It failed for good and is not tolerated; it was reported.
            DrainedError: The task must end.
        """
        try:
            start = self._clock()
            attempt = 1
            while isinstance(error, RetriableError):
                left = self._left(start)
                if left is not None and left <= 0:
                    break
                self._calls.failed(stage.value, error)
                if self._wait(self._delay(attempt, left)):
                    raise DrainedError
                attempt += 1
                self._measures.note("total-record-failures")
                self._measures.note("total-retries")
                try:
                    return again()
                except BaseException as failure:
                    error = failure
        finally:
            self._calls.worked(stage.value)
        self.note_failure()
        self.fail(FailedRecord(stage, plugin, error, original))
        raise RecordSkippedError

    def fail(self, failed: FailedRecord) -> None:
        """Report a failure; returns when it is tolerated, so that no record is lost without a word (I6).

        What is no `Exception` (`sys.exit`, a panic of compiled code) is no record's fault: it fails the task,
        as Java's errors do in Kafka Connect.

        Raises:
            ToleranceExceededError: It is not.
        """
        for reporter in self._reporters:
            reporter.report(failed)
        if not self.policy.tolerate_all or not isinstance(failed.error, Exception):
            raise ToleranceExceededError(failed.stage) from failed.error
        self.note_skipped()

    def note_failure(self) -> None:
        """Count a record that failed for good, together with the attempt that said so."""
        self._measures.note("total-record-failures")
        self._measures.note("total-record-errors")

    def note_skipped(self) -> None:
        """Count a record that was left out."""
        self._measures.note("total-records-skipped")

    def _left(self, start: float) -> float | None:
        timeout = self.policy.retry_timeout
        return None if timeout is None else start + timeout - self._clock()

    def _delay(self, attempt: int, left: float | None) -> float:
        delay = _FIRST_RETRY_DELAY_SECONDS * 2.0 ** min(attempt - 1, 30)
        if delay > self.policy.retry_delay_max:
            delay = self._random() * self.policy.retry_delay_max
        return delay if left is None else min(delay, left)


class LogReporter:
    """Writes failed records to the log (`errors.log.enable`)."""

    def __init__(self, task_id: str, describe: Callable[[object], str] | None, measures: Measures) -> None:
        """`describe` names a record in the line; None leaves records out (they may hold secrets)."""
        self._task_id = task_id
        self._describe = describe
        self._measures = measures
        self._log = logging.getLogger(__name__)

    def report(self, failed: FailedRecord) -> None:
        """Log one failure in Kafka Connect's words."""
        self._measures.note("total-errors-logged")
        detail = "" if self._describe is None else self._describe(failed.original)
        self._log.error(
            "Error encountered in task %s. Executing stage '%s' with class '%s'%s.",
            self._task_id, failed.stage.value, failed.plugin, detail, exc_info=failed.error,
            extra={"unlimited": True},  # errors.log.enable asks for each
        )  # fmt: skip
