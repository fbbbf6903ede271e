"""What failures of tasks mean."""

from __future__ import annotations

import errno
import itertools

import pytest
from confluent_kafka import KafkaError, KafkaException
from copycat_connect.errors import ConfigError, ConnectError, DataError, RetriableError
from copycat_connect.failure_kind import FailureKind
from copycat_executor.pipeline.task.failures import failure_of, is_tolerable
from copycat_executor.pipeline.task.stages import Stage, ToleranceExceededError


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
