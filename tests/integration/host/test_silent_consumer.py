"""A consumer whose client has lost all brokers for good while the brokers are there."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from copycat_connect.cluster import TopicPartition
from copycat_embedded.broker import EmbeddedKafka
from copycat_embedded.ports import free_ports
from copycat_executor.kafka import silent_consumer
from copycat_executor.kafka.client_config import consumer_config
from copycat_executor.kafka.consumer import KafkaReceiver
from copycat_testkit.kafka import create_topic, produce

#: The controller takes such a broker for dead most of the time: its answers name no live broker.
FENCED = {"broker.session.timeout.ms": "500", "broker.heartbeat.interval.ms": "3000"}


@pytest.fixture
def receiver(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[KafkaReceiver, EmbeddedKafka]]:
    monkeypatch.setattr(silent_consumer, "CHECK_INTERVAL_SECONDS", 1.0)
    monkeypatch.setattr(silent_consumer, "STUCK_AFTER_SECONDS", 2.0)
    with EmbeddedKafka(tmp_path, port=free_ports(1)[0]) as broker:
        # With "none" the client is sure to end where it otherwise ends only at times.
        worker = {"bootstrap.servers": broker.bootstrap, "consumer.metadata.recovery.strategy": "none"}
        config = consumer_config(worker, {}, "c", "g")
        config.properties["debug"] = "metadata"
        receiver = KafkaReceiver(config)
        yield receiver, broker
        receiver.close()


def read(receiver: KafkaReceiver, count: int) -> list[bytes | None]:
    values: list[bytes | None] = []
    deadline = time.monotonic() + 60
    while len(values) < count:
        assert time.monotonic() < deadline, f"only {values} came"
        values += [each.value() for each in receiver.read(100, 0.2)]
    return values


def test_a_consumer_that_lost_all_brokers_is_replaced_and_goes_on_where_it_was(
    receiver: tuple[KafkaReceiver, EmbeddedKafka],
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    consumer, broker = receiver
    one, other = (TopicPartition(create_topic(broker.bootstrap), 0) for _ in range(2))
    produce(broker.bootstrap, one.topic, [b"before"])
    caplog.set_level("DEBUG")
    consumer.assign({one: 0, other: 0})
    assert read(consumer, 1) == [b"before"]
    client = re.search(r"\[c#consumer-\d+\]", caplog.text)
    assert client is not None
    no_brokers = re.compile(f"{re.escape(client[0])}.* 0 brokers, ")
    broker.kill()
    fenced = EmbeddedKafka(tmp_path, port=int(broker.bootstrap.rpartition(":")[2]), settings=FENCED)
    fenced.launch()
    try:
        deadline = time.monotonic() + 60
        while not no_brokers.search(caplog.text):
            assert time.monotonic() < deadline, "no answer without brokers came"
            consumer.read(1, 0.2)
    finally:
        fenced.kill()
    broker.start()
    produce(broker.bootstrap, one.topic, [b"after"])
    produce(broker.bootstrap, other.topic, [b"new"])
    assert consumer.positions() == {one: 1}
    assert sorted(value or b"" for value in read(consumer, 2)) == [b"after", b"new"]
    assert consumer.positions() == {one: 2, other: 1}
    assert "reads nothing any more and is replaced" in caplog.text
