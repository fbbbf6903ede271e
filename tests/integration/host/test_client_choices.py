"""What Kafka's Java clients can be asked for and librdkafka cannot, done otherwise: with a real broker."""

from __future__ import annotations

import time
from collections import Counter

import pytest
from confluent_kafka import Producer
from copycat_connect.cluster import TopicPartition
from copycat_executor.kafka.client_config import consumer_config, producer_config
from copycat_executor.kafka.consumer import KafkaReceiver
from copycat_executor.kafka.producer import KafkaSender
from copycat_executor.pipeline.records.sender import OutgoingRecord, PlacedRecords
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
