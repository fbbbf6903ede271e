"""What a user can do about records that Kafka did not take."""

from __future__ import annotations

import pytest
from confluent_kafka import KafkaError
from copycat_connect.failure_kind import FailureKind
from copycat_executor.kafka.remedies import not_written
from copycat_executor.pipeline.task.failures import failure_of


@pytest.mark.parametrize(
    "code",
    [KafkaError._UNKNOWN_PARTITION, pytest.param(KafkaError._DESTROY, id="while a record waited for it")],
)
def test_a_record_for_a_deleted_topic_says_that_it_was_deleted(code: int) -> None:
    failure = not_written("orders", KafkaError(code))

    assert "topic orders: it was deleted, or has no such partition" in str(failure)
    assert "topic.creation.default.partitions" in str(failure)


@pytest.mark.parametrize("code", [KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError._UNKNOWN_TOPIC])
def test_a_record_for_a_topic_that_never_was_says_that_nobody_creates_it(code: int) -> None:
    assert "topic orders: it does not exist and nobody creates it" in str(
        not_written("orders", KafkaError(code))
    )


@pytest.mark.parametrize(
    "code", [KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError._UNKNOWN_TOPIC, KafkaError._UNKNOWN_PARTITION]
)
def test_a_topic_that_was_there_may_be_there_again_and_one_that_never_was_has_to_be_made(code: int) -> None:
    gone = not_written("orders", KafkaError(code), was_there=True)

    assert "topic orders: it was deleted" in str(gone)
    assert failure_of(gone, {}) is FailureKind.TRANSIENT
    assert failure_of(not_written("orders", KafkaError(code)), {}) is FailureKind.CONFIGURATION


def test_a_partition_that_went_while_a_record_waited_for_it_may_be_there_again() -> None:
    assert failure_of(not_written("orders", KafkaError(KafkaError._DESTROY)), {}) is FailureKind.TRANSIENT
