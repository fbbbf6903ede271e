"""What failures of tasks mean, and what happens to records that fail."""

from __future__ import annotations

import errno
import itertools

import pytest
from confluent_kafka import KafkaError, KafkaException
from copycat_connect.errors import ConfigError, ConnectError, DataError, OffsetLostError, RetriableError
from copycat_connect.failure_kind import FailureKind
from copycat_executor.pipeline.records.tolerate import ErrorPolicy, Tolerance
from copycat_executor.pipeline.task.call_log import CallLog, FailedTries
from copycat_executor.pipeline.task.failures import failure_of, is_tolerable
from copycat_executor.pipeline.task.measures import Measures
from copycat_executor.pipeline.task.stages import (
    DrainedError,
    RecordSkippedError,
    Stage,
    ToleranceExceededError,
)

from tests.unit.pipeline.fakes import Clock, ClockedControl, Reports, tolerance


class LoginRefusedError(ConnectError):
    """One of a plugin's own."""


def caused(error: Exception, *causes: BaseException) -> Exception:
    chain: list[BaseException] = [error, *causes]
    for outer, inner in itertools.pairwise(chain):
        outer.__cause__ = inner
    return error


def kafka(code: int) -> KafkaException:
    return KafkaException(KafkaError(code))


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (RetriableError("away"), FailureKind.TRANSIENT),
        (caused(ConnectError("x"), ConnectionRefusedError(errno.ECONNREFUSED, "x")), FailureKind.TRANSIENT),
        (caused(ConnectError("x"), ConnectError("y"), TimeoutError()), FailureKind.TRANSIENT),
        (OSError(errno.ENOSPC, "full"), FailureKind.RESOURCE),
        (OSError(errno.EHOSTUNREACH, "no route"), FailureKind.TRANSIENT),
        (OSError(errno.EDQUOT, "quota"), FailureKind.RESOURCE),
        (caused(ConnectError("x"), OSError(errno.EROFS, "read-only")), FailureKind.TRANSIENT),
        (MemoryError(), FailureKind.RESOURCE),
        (PermissionError(errno.EACCES, "no"), FailureKind.AUTHORISATION),
        (FileNotFoundError(errno.ENOENT, "no"), FailureKind.BUG),
        (ConfigError("key x"), FailureKind.CONFIGURATION),
        (OffsetLostError("made anew"), FailureKind.OFFSET),
        (caused(ToleranceExceededError(Stage.TASK_PUT), DataError("bad")), FailureKind.POISON_RECORD),
        (ConnectError("no reason"), FailureKind.BUG),
        (ValueError("no reason"), FailureKind.BUG),
        (kafka(KafkaError.TOPIC_AUTHORIZATION_FAILED), FailureKind.AUTHORISATION),
        (kafka(KafkaError.MSG_SIZE_TOO_LARGE), FailureKind.POISON_RECORD),
        (kafka(KafkaError._ALL_BROKERS_DOWN), FailureKind.TRANSIENT),
        (kafka(KafkaError.NOT_LEADER_FOR_PARTITION), FailureKind.BUG),
        (caused(ConnectError("x"), kafka(KafkaError.UNKNOWN_TOPIC_OR_PART)), FailureKind.CONFIGURATION),
        (KafkaException(KafkaError(KafkaError.INVALID_TXN_STATE, fatal=True)), FailureKind.TRANSIENT),
        (KafkaException(KafkaError(KafkaError.UNSUPPORTED_VERSION, fatal=True)), FailureKind.CONFIGURATION),
    ],
    ids=str,
)
def test_an_error_and_its_causes_say_what_a_failure_means(error: Exception, kind: FailureKind) -> None:
    assert failure_of(error, {}) is kind


def test_the_innermost_cause_that_says_something_counts() -> None:
    error = caused(ConfigError("key url"), ConnectionResetError(), KeyError("x"))
    assert failure_of(error, {}) is FailureKind.TRANSIENT


def test_what_the_plugin_says_of_its_exceptions_counts_first() -> None:
    error = caused(ConnectError("x"), LoginRefusedError("who?"), ConnectionResetError())
    assert failure_of(error, {LoginRefusedError: FailureKind.AUTHORISATION}) is FailureKind.AUTHORISATION


@pytest.mark.parametrize("stage", [Stage.TRANSFORMATION, Stage.VALUE_CONVERTER])
def test_what_a_record_does_to_transformations_and_converters_is_the_records(stage: Stage) -> None:
    assert failure_of(KeyError("field"), {}, stage) is FailureKind.POISON_RECORD
    assert failure_of(ConnectionResetError(), {}, stage) is FailureKind.TRANSIENT, "a schema registry is away"


def test_causes_that_go_round_in_circles_end() -> None:
    error, other = ConnectError("x"), ConnectError("y")
    error.__cause__, other.__cause__ = other, error
    assert failure_of(error, {}) is FailureKind.BUG


def test_tolerance_has_a_say_where_a_record_failed_and_where_a_sink_puts_it() -> None:
    assert is_tolerable(ToleranceExceededError(Stage.TASK_POLL), Stage.TASK_POLL)
    assert is_tolerable(ToleranceExceededError(Stage.VALUE_CONVERTER), Stage.VALUE_CONVERTER)
    assert is_tolerable(DataError("no number"), Stage.TASK_PUT)
    assert not is_tolerable(DataError("no row"), Stage.TASK_POLL)
    assert not is_tolerable(DataError("no row"), Stage.FLUSH)


class Flaky:
    """Fails a number of times, then answers."""

    def __init__(self, failures: int) -> None:
        self.left = failures

    def __call__(self) -> str:
        if self.left:
            self.left -= 1
            raise RetriableError("away")
        return "done"


def recover(handler: Tolerance, error: Exception, again: Flaky | None = None) -> str:
    return handler.recover(error, "record", Stage.TRANSFORMATION, "Plugin", again or Flaky(0))


def counted(measures: Measures) -> dict[str, float]:
    return {name: measure.total for name, measure in measures.take().items()}


def test_without_tolerance_a_bad_record_is_reported_and_fails_the_task() -> None:
    reports = Reports()
    cause = DataError("no")

    with pytest.raises(ToleranceExceededError, match=r"^Tolerance exceeded in error handler$") as raised:
        recover(tolerance(reports=reports), cause)

    assert raised.value.__cause__ is cause
    assert [each.error for each in reports.failed] == [cause]


def test_with_tolerance_a_bad_record_is_reported_and_skipped() -> None:
    reports, measures = Reports(), Measures(Clock())
    handler = tolerance(ErrorPolicy(tolerate_all=True), reports, measures=measures)

    with pytest.raises(RecordSkippedError):
        recover(handler, DataError("no"))

    assert len(reports.failed) == 1
    assert counted(measures) == {
        "total-record-failures": 1,
        "total-record-errors": 1,
        "total-records-skipped": 1,
    }


def test_every_attempt_counts_as_a_failure_and_every_further_one_as_a_retry() -> None:
    clock = Clock()
    measures = Measures(clock)
    handler = tolerance(ErrorPolicy(retry_timeout=10.0), clock=clock, measures=measures)

    recover(handler, RetriableError("away"), Flaky(2))

    assert counted(measures) == {"total-record-failures": 3, "total-retries": 3}


def test_attempts_of_a_record_that_fails_for_good_count_all_the_same() -> None:
    clock = Clock()
    measures = Measures(clock)

    with pytest.raises(ToleranceExceededError):
        recover(
            tolerance(ErrorPolicy(retry_timeout=0.5), clock=clock, measures=measures),
            RetriableError("away"),
            Flaky(99),
        )

    assert counted(measures) == {"total-record-failures": 3, "total-retries": 2, "total-record-errors": 1}


def test_a_retriable_failure_is_not_retried_by_default_and_not_forgiven() -> None:
    with pytest.raises(ToleranceExceededError):
        recover(tolerance(), RetriableError("away"))


def test_a_retriable_failure_is_retried_with_growing_delays() -> None:
    clock = Clock()
    policy = ErrorPolicy(retry_timeout=10.0)

    assert recover(tolerance(policy, clock=clock), RetriableError("away"), Flaky(2)) == "done"
    assert clock.now == pytest.approx(100 + 0.3 + 0.6 + 1.2)


def test_retries_end_with_the_timeout() -> None:
    clock = Clock()

    with pytest.raises(ToleranceExceededError):
        recover(tolerance(ErrorPolicy(retry_timeout=2.0), clock=clock), RetriableError("away"), Flaky(99))

    assert clock.now == pytest.approx(102.0)


def test_a_delay_beyond_the_limit_is_random_below_it() -> None:
    clock = Clock()
    policy = ErrorPolicy(retry_timeout=None, retry_delay_max=0.5)

    recover(tolerance(policy, clock=clock), RetriableError("away"), Flaky(2))

    assert clock.now == pytest.approx(100 + 0.3 + 0.25 + 0.25)


def test_a_failure_that_is_final_ends_the_retries() -> None:
    clock = Clock()

    def broken() -> str:
        raise DataError("no")

    with pytest.raises(ToleranceExceededError) as raised:
        tolerance(ErrorPolicy(retry_timeout=None), clock=clock).recover(
            RetriableError("away"), "record", Stage.VALUE_CONVERTER, "Plugin", broken
        )

    assert isinstance(raised.value.__cause__, DataError)


def test_a_record_that_is_tried_again_shows_for_as_long_as_that_lasts() -> None:
    clock = Clock()
    calls, seen = CallLog(clock), list[FailedTries | None]()
    error = RetriableError("the registry is away")

    def wait(seconds: float) -> bool:
        seen.append(calls.tried())
        return False

    handler = Tolerance(
        ErrorPolicy(retry_timeout=None),
        (),
        wait=wait,
        measures=Measures(clock),
        calls=calls,
        random=lambda: 0.5,
    )
    recover(handler, error, Flaky(0))

    assert seen == [FailedTries("TRANSFORMATION", clock.now, 1, error)]
    assert calls.tried() is None


def test_a_stop_ends_the_retries() -> None:
    clock = Clock()
    control = ClockedControl(clock)
    control.stop()
    handler = Tolerance(
        ErrorPolicy(retry_timeout=None),
        (),
        wait=control.wait,
        measures=Measures(clock),
        calls=CallLog(clock),
        random=lambda: 0.5,
    )

    with pytest.raises(DrainedError):
        recover(handler, RetriableError("away"), Flaky(1))


def test_settings_are_read_as_connect_reads_them() -> None:
    parsed = ErrorPolicy.parse({
        "errors.tolerance": "all", "errors.retry.timeout": -1, "errors.retry.delay.max.ms": 500,
        "errors.log.enable": True, "errors.log.include.messages": True,
    })  # fmt: skip

    assert parsed == ErrorPolicy(True, None, 0.5, True, True)
