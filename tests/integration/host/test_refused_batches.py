"""A topic that takes less at once than a batch holds: what fits arrives, what does not fails alone."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from copycat_executor.kafka.client_config import producer_config
from copycat_executor.kafka.producer import KafkaSender
from copycat_executor.pipeline.records.sender import OutgoingRecord
from copycat_testkit.kafka import consume_all, create_topic, wait_until

SECONDS = 60.0
COUNT = 5000
VALUES = [b"%07d" % number + b"x" * 136 for number in range(COUNT)]
TOO_LARGE = b"y" * 200_000
LIMIT = 50_000
#: Smaller than the batches of Java's producer, too.
TINY = 3_000


class Sending:
    """A sender as a source task has one, and what it reported."""

    def __init__(self, kafka: str, *, report_each: bool = False) -> None:
        self.failed: list[Exception] = []
        self.sender = KafkaSender(
            producer_config({"bootstrap.servers": kafka}, {}, "batches"),
            on_failure=lambda error, record: self.failed.append(error),
            draining=lambda: False,
            report_each=report_each,
        )

    def flushed(self) -> bool:
        return self.sender.flush(0.1)


@contextmanager
def sending(kafka: str, *, report_each: bool = False) -> Iterator[Sending]:
    under_test = Sending(kafka, report_each=report_each)
    yield under_test
    under_test.sender.close()


def limited(kafka: str, limit: int) -> str:
    return create_topic(kafka, config={"max.message.bytes": str(limit)})


def read(kafka: str, topic: str) -> list[bytes | None]:
    return [message.value() for message in consume_all(kafka, topic)]


def test_records_of_refused_batches_arrive_and_later_ones_in_their_order(kafka: str) -> None:
    topic = limited(kafka, LIMIT)
    with sending(kafka) as it:
        it.sender.send_values(topic, VALUES, None)
        wait_until(it.flushed, SECONDS, "everything is durable")
        it.sender.send_values(topic, VALUES, None)
        wait_until(it.flushed, SECONDS, "everything is durable once more")
    assert it.failed == []
    values = read(kafka, topic)
    assert sorted(value or b"" for value in values[:COUNT]) == VALUES
    assert values[COUNT:] == VALUES


@pytest.mark.parametrize("limit", [LIMIT, TINY])
def test_only_the_record_that_is_too_large_fails(kafka: str, limit: int) -> None:
    topic = limited(kafka, limit)
    with sending(kafka) as it:
        it.sender.send_values(topic, VALUES[:2000], None)
        it.sender.send(OutgoingRecord(topic, TOO_LARGE))
        it.sender.send_values(topic, VALUES[2000:], None)
        wait_until(it.flushed, SECONDS, "everything is durable or failed")
    (error,) = it.failed
    assert f"could not be written to topic {topic}: a record is too large" in str(error)
    assert sorted(value or b"" for value in read(kafka, topic)) == VALUES


def test_a_record_keeps_all_it_has_and_its_task_hears_of_it_once(kafka: str) -> None:
    topic = limited(kafka, LIMIT)
    told: list[int | None] = []
    with sending(kafka, report_each=True) as it:
        for number, value in enumerate(VALUES):
            record = OutgoingRecord(topic, value, b"k", (("h", None), ("h", b"1")), 0, 1000 + number)
            it.sender.send(record, lambda metadata, error: told.append(metadata and metadata.timestamp))
        wait_until(it.flushed, SECONDS, "everything is durable")
    assert it.failed == []
    assert sorted(told, key=lambda stamp: stamp or 0) == [1000 + number for number in range(COUNT)]
    messages = consume_all(kafka, topic)
    assert [message.timestamp()[1] for message in messages] == told
    assert {(message.key(), tuple(message.headers() or ())) for message in messages} == {
        (b"k", (("h", None), ("h", b"1")))
    }
