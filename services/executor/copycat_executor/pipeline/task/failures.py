"""What the failure of a task means: its exception, what caused that, Kafka's errors, and where it was."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Final

from confluent_kafka import KafkaError, KafkaException
from copycat_connect.failure_kind import FailureKind, kind_of

from copycat_executor.pipeline.task.stages import Stage, ToleranceExceededError

#: A record that fails here was the reason, whatever was raised.
_RECORD_STAGES: Final = frozenset(
    {Stage.TRANSFORMATION, Stage.KEY_CONVERTER, Stage.VALUE_CONVERTER, Stage.HEADER_CONVERTER}
)
#: Names of Kafka's errors, here and below; those of the client library itself begin with an underscore.
_AUTHORISATION: Final = frozenset(
    {
        "TOPIC_AUTHORIZATION_FAILED",
        "GROUP_AUTHORIZATION_FAILED",
        "CLUSTER_AUTHORIZATION_FAILED",
        "TRANSACTIONAL_ID_AUTHORIZATION_FAILED",
        "SASL_AUTHENTICATION_FAILED",
        "_AUTHENTICATION",
    }
)
_POISON: Final = frozenset({"MSG_SIZE_TOO_LARGE", "RECORD_LIST_TOO_LARGE", "INVALID_RECORD"})
_CONFIGURATION: Final = frozenset(
    {
        "_INVALID_ARG",
        "TOPIC_EXCEPTION",
        "UNKNOWN_TOPIC_OR_PART",
        "_UNKNOWN_TOPIC",
        "_UNKNOWN_PARTITION",
        "POLICY_VIOLATION",
        "INVALID_TRANSACTION_TIMEOUT",
        "UNSUPPORTED_VERSION",
        "_UNSUPPORTED_FEATURE",
    }
)
_TRANSIENT: Final = frozenset(
    {
        "_TRANSPORT",
        "_ALL_BROKERS_DOWN",
        "_TIMED_OUT",
        "_MSG_TIMED_OUT",
        "_RESOLVE",
        "REQUEST_TIMED_OUT",
        "NOT_ENOUGH_REPLICAS",
        "NOT_ENOUGH_REPLICAS_AFTER_APPEND",
        "LEADER_NOT_AVAILABLE",
        "COORDINATOR_NOT_AVAILABLE",
    }
)


def failure_of(
    error: BaseException,
    declared: Mapping[type[BaseException], FailureKind],
    stage: Stage | None = None,
) -> FailureKind:
    """Return what a failure means (`kind_of`); what nobody can explain is a bug.

    Args:
        error: What failed the task.
        declared: What its plugin says of exceptions (`PluginSpec.failures`).
        stage: Where it failed.
    """
    # Said of the stage, not of the reason, which is its cause.
    reason = error.__cause__ if isinstance(error, ToleranceExceededError) else error
    kind = kind_of(reason or error, declared, _of_kafka)
    if stage in _RECORD_STAGES and (kind is None or not kind.passes):
        return FailureKind.POISON_RECORD
    return kind or FailureKind.BUG


def is_tolerable(error: BaseException, stage: Stage) -> bool:
    """Return whether `errors.tolerance` has a say in a failure: most sinks ask before they raise."""
    return isinstance(error, ToleranceExceededError) or stage is Stage.TASK_PUT


def log_failure(log: logging.Logger, message: str, error: BaseException) -> None:
    """Log an error of author code; that its text cannot be read is no further failure."""
    try:
        log.error("%s", message, exc_info=error)
    except BaseException:
        log.error("%s: %s, whose text cannot be read", message, type(error).__qualname__)  # noqa: TRY400


def _of_kafka(error: BaseException) -> FailureKind | None:
    if not isinstance(error, KafkaException):
        return None
    told = error.args[0] if error.args else None
    if not isinstance(told, KafkaError):
        return None
    for codes, kind in (
        (_AUTHORISATION, FailureKind.AUTHORISATION),
        (_POISON, FailureKind.POISON_RECORD),
        (_CONFIGURATION, FailureKind.CONFIGURATION),
        (_TRANSIENT, FailureKind.TRANSIENT),
    ):
        if told.name() in codes:
            return kind
    # What ended a client for good, and has no other name here, may not meet the next one.
    return FailureKind.TRANSIENT if told.retriable() or told.fatal() else None
