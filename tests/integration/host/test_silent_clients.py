"""Clients of tasks, and of the event log, that have lost all brokers for good while the brokers are there."""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Final

import pytest
from copycat_connect.cluster import TopicPartition
from copycat_embedded.broker import EmbeddedKafka
from copycat_embedded.ports import free_ports
from copycat_eventlog import append, producers
from copycat_eventlog.append import Transaction, TransactionalProducer
from copycat_eventlog.clients import librdkafka_config, read_security
from copycat_eventlog.log import Record
from copycat_executor.kafka import silent_consumer, silent_producer
from copycat_executor.kafka.client_config import ClientConfig, consumer_config, producer_config
from copycat_executor.kafka.consumer import KafkaReceiver
from copycat_executor.kafka.producer import KafkaSender
from copycat_executor.pipeline.records.sender import OutgoingRecord
from copycat_testkit.kafka import consume_all, create_topic, produce, wait_until

pytestmark = pytest.mark.long

SECONDS: Final = 60
#: The controller takes such a broker for dead most of the time: its answers name no live broker.
FENCED: Final = {"broker.session.timeout.ms": "500", "broker.heartbeat.interval.ms": "3000"}
#: With "none" the client is sure to end where it otherwise ends only at times.
FOR_GOOD: Final = {"metadata.recovery.strategy": "none"}
#: A client that knows a broker asks it for all others this often.
REFRESH_SECONDS: Final = 0.5
VERBOSE: Final = {
    "debug": "metadata",
    "topic.metadata.refresh.interval.ms": str(round(REFRESH_SECONDS * 1000)),
}
#: What a client logs when it was answered: its id and number, and how many brokers there are.
ANSWER: Final = re.compile(r"\[(\w+)#(?:consumer|producer)-(\d+)\].* (\d+) brokers, ")
REPLACED_CONSUMER: Final = "consumer reads nothing any more and is replaced"
#: Records that each producer has when the broker is back for all but it.
UNDER_WAY: Final = 300


class Lines(logging.Handler):
    """What the clients log, and what each last learned of the brokers."""

    def __init__(self) -> None:
        super().__init__()
        self.text = ""
        self._answers: dict[str, dict[int, tuple[int, float]]] = {}

    def emit(self, record: logging.LogRecord) -> None:
        text = record.getMessage()
        self.text += text + "\n"
        if found := ANSWER.search(text):
            client, instance, brokers = found.groups()
            self._answers.setdefault(client, {})[int(instance)] = (int(brokers), time.monotonic())

    def lost(self, client: str) -> bool:
        """Whether the first client of this id learned that there are no brokers, and nothing since.

        An answer that was under way on another connection may name the broker, and the client has it again.
        """
        instances = self._answers.get(client)
        if instances is None:
            return False
        brokers, when = instances[min(instances)]
        return brokers == 0 and time.monotonic() - when > REFRESH_SECONDS * 4


def properties(bootstrap: str) -> dict[str, str]:
    both = {f"{kind}.{key}": value for kind in ("producer", "consumer") for key, value in FOR_GOOD.items()}
    return {"bootstrap.servers": bootstrap, "producer.request.timeout.ms": "1000", **both}


def verbose(config: ClientConfig) -> ClientConfig:
    config.properties.update(VERBOSE)
    return config


def writer(bootstrap: str, topic: str) -> TransactionalProducer:
    """Return a producer of the event log, as a service has one that leads."""
    config = librdkafka_config(bootstrap, read_security({}))
    producer = TransactionalProducer({**config, **VERBOSE, **FOR_GOOD, "log_level": 7}, topic, "writer")
    producer.claim()
    return producer


@dataclass
class Sending:
    """A sender as a task has one, with what it was given and what it reported."""

    bootstrap: str
    client: str
    topic: str
    columns: bool
    failed: list[Exception] = field(default_factory=list)
    written: list[bytes] = field(default_factory=list)
    replaced: int = 0

    def __post_init__(self) -> None:
        self.sender = KafkaSender(
            verbose(producer_config(properties(self.bootstrap), {}, self.client)),
            on_failure=lambda error, record: self.failed.append(error),
            draining=lambda: False,
            report_each=not self.columns,
            replaced=self._note,
        )
        self._numbers = count()
        self.values: list[bytes] = []

    def _note(self) -> None:
        self.replaced += 1

    def send(self, most: int) -> None:
        """Send the next values, as columns or as records with all they can have."""
        values = [b"%05d" % next(self._numbers) for _ in range(most)]
        self.values += values
        if self.columns:
            self.sender.send_values(self.topic, values, None)
            return
        for value in values:
            record = OutgoingRecord(self.topic, value, b"key", (("name", value),), timestamp=int(value) + 1)
            self.sender.send(record, lambda metadata, error, value=value: self._done(value, error))  # type: ignore[misc]

    def _done(self, value: bytes, error: Exception | None) -> None:
        assert error is None
        self.written.append(value)

    def flushed(self) -> bool:
        return self.sender.flush(0.1)


@dataclass
class Lost:
    """Clients that know of no broker, although it runs."""

    bootstrap: str
    lines: Lines
    receiver: KafkaReceiver
    read: TopicPartition
    unread: TopicPartition
    source: Sending
    letters: Sending
    writer: TransactionalProducer
    written: str
    """The topic of the writer."""


@pytest.fixture(scope="module")
def lost(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lost]:
    """Restart a broker in such a way that all clients learn of no live broker."""
    folder, port, lines = tmp_path_factory.mktemp("lost"), free_ports(1)[0], Lines()
    logs = [logging.getLogger("copycat_executor.kafka"), producers.SILENT]
    with pytest.MonkeyPatch.context() as patch, EmbeddedKafka(folder, port=port) as broker:
        for module in (silent_consumer, silent_producer):
            patch.setattr(module, "CHECK_INTERVAL_SECONDS", 1.0)
            patch.setattr(module, "STUCK_AFTER_SECONDS", 2.0)
        patch.setattr(append, "TRANSACTION_TIMEOUT_SECONDS", 2.0)
        for log in logs:
            patch.setattr(log, "level", logging.DEBUG)
            log.addHandler(lines)
        one, other = (TopicPartition(create_topic(broker.bootstrap), 0) for _ in range(2))
        topics = [create_topic(broker.bootstrap) for _ in range(3)]
        source = Sending(broker.bootstrap, "source", topics[0], columns=True)
        letters = Sending(broker.bootstrap, "letters", topics[1], columns=False)
        receiver = KafkaReceiver(verbose(consumer_config(properties(broker.bootstrap), {}, "sink", "g")))
        produce(broker.bootstrap, one.topic, [b"before"])
        receiver.assign({one: 0, other: 0})
        read(receiver, [b"before"])
        for sending in (source, letters):
            sending.send(10)
            wait_until(sending.flushed, SECONDS, "the first records are durable")
        producer = writer(broker.bootstrap, topics[2])
        clients = Lost(broker.bootstrap, lines, receiver, one, other, source, letters, producer, topics[2])
        lose_brokers(broker, folder, clients)
        yield clients
        for close in (receiver.close, source.sender.close, letters.sender.close):
            close()
        for log in logs:
            log.removeHandler(lines)


def lose_brokers(broker: EmbeddedKafka, folder: Path, clients: Lost) -> None:
    sendings = (clients.source, clients.letters)

    def clients_have_no_broker() -> bool:
        clients.receiver.read(1, 0.1)
        clients.writer._producer.poll(0)
        for sending in sendings:
            sending.send(10 if len(sending.values) < UNDER_WAY else 0)
            sending.sender.flush(0.1)
        lost = clients.lines.lost
        return (
            (lost("sink") or REPLACED_CONSUMER in clients.lines.text)
            and all(lost(each.client) or each.replaced for each in sendings)
            and lost("writer")
        )

    for sending in sendings:
        sending.send(100)  # some are on their way when the broker ends
    broker.kill()
    fenced = EmbeddedKafka(folder, port=int(broker.bootstrap.rpartition(":")[2]), settings=FENCED)
    fenced.launch()
    try:
        wait_until(clients_have_no_broker, SECONDS, "answers without brokers")
    finally:
        fenced.kill()
    broker.start()


def read(receiver: KafkaReceiver, wanted: list[bytes]) -> None:
    values: list[bytes | None] = []

    def came() -> bool:
        values.extend(each.value() for each in receiver.read(100, 0.2))
        return len(values) >= len(wanted)

    wait_until(came, SECONDS, f"{wanted} to be read")
    assert sorted(value or b"" for value in values) == wanted


def unique(values: list[bytes | None]) -> list[bytes | None]:
    """Return the values without repetitions: what was on its way may be written twice."""
    return list(dict.fromkeys(values))


def test_a_consumer_that_lost_all_brokers_is_replaced_and_goes_on_where_it_was(lost: Lost) -> None:
    produce(lost.bootstrap, lost.read.topic, [b"after"])
    produce(lost.bootstrap, lost.unread.topic, [b"new"])
    assert lost.receiver.positions() == {lost.read: 1}
    read(lost.receiver, [b"after", b"new"])
    assert lost.receiver.positions() == {lost.read: 2, lost.unread: 1}
    assert REPLACED_CONSUMER in lost.lines.text


@pytest.mark.parametrize("name", ["source", "letters"])
def test_a_producer_that_lost_all_brokers_is_replaced_and_what_it_had_is_sent_in_order(
    lost: Lost, name: str
) -> None:
    sending: Sending = getattr(lost, name)
    sending.send(100)
    assert not sending.sender.flush(0), "something is under way"
    wait_until(sending.flushed, SECONDS, "all records are durable")
    assert not sending.failed
    assert sending.replaced
    messages = consume_all(lost.bootstrap, sending.topic)
    assert unique([message.value() for message in messages]) == sending.values
    assert "producer delivers nothing any more and is replaced" in lost.lines.text


def test_a_record_sent_again_keeps_all_it_has_and_its_task_hears_of_it_once(lost: Lost) -> None:
    it = lost.letters
    wait_until(it.flushed, SECONDS, "all records are durable")
    assert it.written == it.values
    found = [
        (message.key(), message.headers(), message.timestamp()[1])
        for message in consume_all(lost.bootstrap, it.topic)
    ]
    assert all(each in found for each in [(b"key", [("name", v)], int(v) + 1) for v in it.values])


def test_another_record_goes_its_way_through_the_next_producer(lost: Lost) -> None:
    for sending in (lost.source, lost.letters):
        wait_until(sending.flushed, SECONDS, "what it had is durable")
        replaced = sending.replaced
        sending.send(1)
        wait_until(sending.flushed, SECONDS, "it is durable")
        assert consume_all(lost.bootstrap, sending.topic)[-1].value() == sending.values[-1]
        assert sending.replaced == replaced


def test_a_writer_of_the_event_log_that_lost_all_brokers_fails_in_time_and_the_next_one_writes(
    lost: Lost,
) -> None:
    transaction = Transaction([[Record(b"key", b"one")]])
    failure = lost.writer.commit(transaction, lambda: None)
    # It waits as long as its client does: either gives up first.
    assert failure in {"the brokers did not take the records in time", "Local: Message timed out"}
    assert transaction.first is None, "nobody can have read it"
    lost.writer.discard()
    following = writer(lost.bootstrap, lost.written)
    assert following.commit(Transaction([[Record(b"key", b"two")]]), lambda: None) is None
    following.discard()

    def committed() -> list[bytes | None]:
        return [message.value() for message in consume_all(lost.bootstrap, lost.written)]

    # Readers of committed records see them a moment after the commit was answered.
    wait_until(committed, SECONDS, "a record")
    assert committed() == [b"two"]
