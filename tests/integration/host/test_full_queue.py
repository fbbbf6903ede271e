"""A producer whose queue is full: every record of a batch arrives once, in its order, with all it has."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest
from copycat_connect.data.records import RecordMetadata
from copycat_executor.kafka.client_config import producer_config
from copycat_executor.kafka.producer import KafkaSender
from copycat_executor.pipeline.records.sender import Done, OutgoingRecord, PlacedRecords
from copycat_testkit.kafka import consume_all, create_topic, wait_until

SECONDS = 60.0
COUNT = 25_000
QUEUED = 700
VALUES: list[bytes | None] = [b"%07d" % number for number in range(COUNT)]
KEYS: list[bytes | None] = [None if number % 3 else b"k%d" % number for number in range(COUNT)]
STAMPS: list[int | None] = [1_700_000_000_000 + number for number in range(COUNT)]


@contextmanager
def sending(kafka: str) -> Iterator[KafkaSender]:
    config = producer_config({"bootstrap.servers": kafka}, {}, "queue")
    small = {**config.properties, "queue.buffering.max.messages": str(QUEUED)}
    failed: list[object] = []
    sender = KafkaSender(
        replace(config, properties=small),
        on_failure=lambda error, record: failed.append((error, record)),
        draining=lambda: False,
        report_each=True,
    )
    yield sender
    wait_until(lambda: sender.flush(0.1), SECONDS, "everything is durable")
    sender.close()
    assert failed == []


def test_plain_records_arrive_in_their_order(kafka: str) -> None:
    topic = create_topic(kafka)
    with sending(kafka) as sender:
        sender.send_values(topic, VALUES, None)
        sender.send_values(topic, VALUES, KEYS)
    messages = consume_all(kafka, topic)
    assert [each.value() for each in messages] == VALUES * 2
    assert [each.key() for each in messages] == [None] * COUNT + KEYS


def test_placed_records_keep_all_they_have_and_the_watched_are_told_of(kafka: str) -> None:
    topic, told = create_topic(kafka), dict[int, int]()

    def teller(place: int) -> Done:
        def done(metadata: RecordMetadata | None, error: Exception | None) -> None:
            assert error is None
            assert metadata is not None
            told[place] = metadata.offset

        return done

    watched = {place: teller(place) for place in range(0, COUNT, 101)}
    headers = [[("h", b"%d" % number)] if number % 2 else [] for number in range(COUNT)]
    with sending(kafka) as sender:
        sender.send_placed(PlacedRecords(topic, VALUES, KEYS, headers, 0, STAMPS), watched)
    messages = consume_all(kafka, topic)
    assert [each.value() for each in messages] == VALUES
    assert [each.key() for each in messages] == KEYS
    assert [each.timestamp()[1] for each in messages] == STAMPS
    assert [(each.headers() or []) for each in messages] == headers
    assert told == {place: place for place in watched}


def test_no_timestamp_becomes_another_time_without_a_word(
    kafka: str, caplog: pytest.LogCaptureFixture
) -> None:
    topic, began, values = create_topic(kafka), int(time.time() * 1000), VALUES[:4]
    with sending(kafka) as sender:
        sender.send_placed(PlacedRecords(topic, values, None, None, 0, [0, -1, None, 5]), {})
        sender.send_placed(PlacedRecords(topic, values, None, None, 0, 0), {})
        for stamp in (0, -1, None, -5):
            sender.send(OutgoingRecord(topic, b"v", partition=0, timestamp=stamp))
    stamps = [each.timestamp()[1] for each in consume_all(kafka, topic)]
    told = [None if each >= began else each for each in stamps]
    assert told == [1, None, None, 5, *[1] * 4, 1, None, None, -5]
    assert [each.message for each in caplog.records if "timestamp 0" in each.message] == [
        "A record has the timestamp 0, which this Kafka client cannot write: it and all such records of this "
        f"task get 1, a millisecond after the epoch. First met for topic {topic}"
    ]


def test_columns_of_several_lengths_are_refused_before_anything_is_written(kafka: str) -> None:
    topic = create_topic(kafka)
    with sending(kafka) as sender, pytest.raises(ValueError, match="several lengths"):
        sender.send_values(topic, VALUES, KEYS[:-1])
    assert consume_all(kafka, topic) == []
