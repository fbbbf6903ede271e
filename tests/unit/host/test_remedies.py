"""What a user can do about records that Kafka did not take."""

from __future__ import annotations

import pytest
from confluent_kafka import KafkaError
from copycat_executor.kafka.remedies import not_written


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
