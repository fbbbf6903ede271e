"""What clients of tasks do on a real broker: with full queues, refused batches, choices of Java clients."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest
from confluent_kafka import Producer
from copycat_connect.cluster import TopicPartition
from copycat_connect.data.records import RecordMetadata
from copycat_executor.kafka.client_config import consumer_config, producer_config
from copycat_executor.kafka.consumer import KafkaReceiver
from copycat_executor.kafka.producer import KafkaSender
from copycat_executor.pipeline.records.sender import Done, OutgoingRecord, PlacedRecords
from copycat_testkit.kafka import consume_all, create_topic, wait_until

SECONDS = 60.0
HOUR_MS = 3_600_000
ROUND_ROBIN = "org.apache.kafka.clients.producer.RoundRobinPartitioner"


@pytest.mark.parametrize(
    ("age", "begins"),
    [("PT30M", 2), ("PT90M", 1), ("P1D", 0), ("PT1S", 3)],
    ids=["newest", "middle", "all", "none, so the end"],
)
def test_a_sink_without_positions_begins_at_the_records_that_are_young_enough(
    kafka: str, age: str, begins: int
) -> None:
    topic, now = create_topic(kafka), int(time.time() * 1000)
    producer = Producer({"bootstrap.servers": kafka})
    for hours in (3, 1, 0):
        producer.produce(topic, str(hours), partition=0, timestamp=now - hours * HOUR_MS - 60_000)
    assert producer.flush(SECONDS) == 0
    overrides = {"consumer.override.auto.offset.reset": f"by_duration:{age}"}
    receiver = KafkaReceiver(consumer_config({"bootstrap.servers": kafka}, overrides, "c", f"g-{topic}"))
    partition = TopicPartition(topic, 0)
    try:
        assert receiver.assign({partition: None}) == {partition: begins}
    finally:
        receiver.close()


def test_round_robin_goes_through_the_partitions_whatever_the_keys_are(kafka: str) -> None:
    topic = create_topic(kafka, partitions=3)
    failed: list[Exception] = []
    sender = KafkaSender(
        producer_config(
            {"bootstrap.servers": kafka}, {"producer.override.partitioner.class": ROUND_ROBIN}, "turns"
        ),
        on_failure=lambda error, record: failed.append(error),
        draining=lambda: False,
    )
    try:
        sender.send_values(topic, [b"a", b"b", b"c", b"d"], [b"same"] * 4)
        sender.send_values(topic, [b"e"], None)
        sender.send(OutgoingRecord(topic, b"f", b"same"))
        named = PlacedRecords(topic, [b"named"] * 5, [b"same"] * 5, None, 1, None)
        sender.send_placed(named, {})
        sender.send(OutgoingRecord(topic, b"named", b"same", partition=1))
        wait_until(lambda: sender.flush(0.1), SECONDS, "everything is durable")
    finally:
        sender.close()
    assert failed == []
    found = [(message.partition(), message.value()) for message in consume_all(kafka, topic)]
    assert Counter(place for place, value in found if value != b"named") == {0: 2, 1: 2, 2: 2}
    assert {place for place, value in found if value == b"named"} == {1}


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


PADDED_COUNT = 5000
PADDED = [b"%07d" % number + b"x" * 136 for number in range(PADDED_COUNT)]
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
def sending_batches(kafka: str, *, report_each: bool = False) -> Iterator[Sending]:
    under_test = Sending(kafka, report_each=report_each)
    yield under_test
    under_test.sender.close()


def limited(kafka: str, limit: int) -> str:
    return create_topic(kafka, config={"max.message.bytes": str(limit)})


def read(kafka: str, topic: str) -> list[bytes | None]:
    return [message.value() for message in consume_all(kafka, topic)]


def test_records_of_refused_batches_arrive_and_later_ones_in_their_order(kafka: str) -> None:
    topic = limited(kafka, LIMIT)
    with sending_batches(kafka) as it:
        it.sender.send_values(topic, PADDED, None)
        wait_until(it.flushed, SECONDS, "everything is durable")
        it.sender.send_values(topic, PADDED, None)
        wait_until(it.flushed, SECONDS, "everything is durable once more")
    assert it.failed == []
    values = read(kafka, topic)
    assert sorted(value or b"" for value in values[:PADDED_COUNT]) == PADDED
    assert values[PADDED_COUNT:] == PADDED


@pytest.mark.parametrize("limit", [LIMIT, TINY])
def test_only_the_record_that_is_too_large_fails(kafka: str, limit: int) -> None:
    topic = limited(kafka, limit)
    with sending_batches(kafka) as it:
        it.sender.send_values(topic, PADDED[:2000], None)
        it.sender.send(OutgoingRecord(topic, TOO_LARGE))
        it.sender.send_values(topic, PADDED[2000:], None)
        wait_until(it.flushed, SECONDS, "everything is durable or failed")
    (error,) = it.failed
    assert f"could not be written to topic {topic}: a record is too large" in str(error)
    assert sorted(value or b"" for value in read(kafka, topic)) == PADDED


def test_a_record_keeps_all_it_has_and_its_task_hears_of_it_once(kafka: str) -> None:
    topic = limited(kafka, LIMIT)
    told: list[int | None] = []
    with sending_batches(kafka, report_each=True) as it:
        for number, value in enumerate(PADDED):
            record = OutgoingRecord(topic, value, b"k", (("h", None), ("h", b"1")), 0, 1000 + number)
            it.sender.send(record, lambda metadata, error: told.append(metadata and metadata.timestamp))
        wait_until(it.flushed, SECONDS, "everything is durable")
    assert it.failed == []
    assert sorted(told, key=lambda stamp: stamp or 0) == [1000 + number for number in range(PADDED_COUNT)]
    messages = consume_all(kafka, topic)
    assert [message.timestamp()[1] for message in messages] == told
    assert {(message.key(), tuple(message.headers() or ())) for message in messages} == {
        (b"k", (("h", None), ("h", b"1")))
    }
