"""A log on Kafka: topics that others wrote, with accidents, and what it leaves alone in its process."""

from __future__ import annotations

import asyncio
import logging
import signal
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from aiokafka import AIOKafkaProducer
from aiokafka import TopicPartition as KafkaPartition
from confluent_kafka import Producer, TopicPartition, murmur2
from confluent_kafka.admin import AdminClient
from confluent_kafka.admin._config import AlterConfigOpType, ConfigEntry, ConfigResource
from copycat_connect.errors import NotWriterError
from copycat_embedded.broker import EmbeddedKafka
from copycat_eventlog.append import TransactionalProducer
from copycat_eventlog.clients import librdkafka_config, read_security
from copycat_eventlog.handler import EventSourced
from copycat_eventlog.kafka import KafkaLog
from copycat_eventlog.log import Record, Revision
from copycat_eventlog.producers import SILENT
from copycat_eventlog.settings import Backend, LogSettings
from copycat_testkit.eventually import eventually
from copycat_testkit.kafka import consume_all, create_topic, idempotent_producer, unique
from copycat_testkit.log_suite import FoldingReader, led, running
from copycat_testkit.puts import DECIDER, PutCodec, PutKey, Puts
from kafka import KafkaProducer

COMPACT = {"cleanup.policy": "compact"}
#: All that Kafka has, by whoever compresses: the client, or the broker, whose framing differs.
CODECS = ("gzip", "snappy", "lz4", "zstd")


class NotText(str):
    """The name of a header that is not UTF-8, as a client in another language may write it."""

    __slots__ = ()

    def encode(self, *_: object, **__: object) -> bytes:
        return b"\xff\xfe"


def on(kafka: str, topic: str) -> KafkaLog:
    return KafkaLog(LogSettings(Backend.KAFKA, kafka, topic, 1, 1, owner_id=topic))


def set_policy(kafka: str, topic: str, policy: str) -> None:
    admin = AdminClient({"bootstrap.servers": kafka})
    change = ConfigEntry("cleanup.policy", policy, incremental_operation=AlterConfigOpType.SET)
    resource = ConfigResource(ConfigResource.Type.TOPIC, topic, incremental_configs=[change])
    admin.incremental_alter_configs([resource])[resource].result(60)


def transaction(kafka: str, topic: str, *keys: str) -> Producer:
    """Begin a transaction with these records, all of them in the log."""
    producer = Producer({"bootstrap.servers": kafka, "transactional.id": unique("tx"), "linger.ms": 0})
    producer.init_transactions(20)
    producer.begin_transaction()
    for key in keys:
        producer.produce(topic, key=key, value="in transaction")
    producer.flush(60)
    return producer


@pytest.mark.long
async def test_records_without_a_key_are_no_facts(kafka: str) -> None:
    topic = create_topic(kafka)
    producer = idempotent_producer(kafka)
    for key, value in ((None, "nobody's"), ("a", "1"), (None, None), ("", "empty"), ("gone", None)):
        producer.produce(topic, key=key, value=value)
    producer.flush(60)
    set_policy(kafka, topic, "compact")
    async with running(on(kafka, topic)) as reader:
        assert reader.records == [Record(b"a", b"1"), Record(b"", b"empty"), Record(b"gone", None)]
        assert reader.revision == Revision({0: 5})


@pytest.mark.long
@pytest.mark.parametrize("codec", CODECS)
async def test_records_are_read_and_written_where_the_topic_compresses_them(kafka: str, codec: str) -> None:
    topic = create_topic(kafka, config={**COMPACT, "compression.type": codec})
    transaction(kafka, topic, "a", "b").commit_transaction(20)
    log = on(kafka, topic)
    async with running(log) as reader:
        await led(log)
        await reader.reached(await log.append([Record(b"c", b"ours" * 1000)]))
    async with running(on(kafka, topic)) as reader:
        assert reader.facts == {b"a": b"in transaction", b"b": b"in transaction", b"c": b"ours" * 1000}


@pytest.mark.long
async def test_records_are_read_whatever_codec_their_writer_used(kafka: str) -> None:
    topic = create_topic(kafka, config=COMPACT)
    for codec in CODECS:
        producer = idempotent_producer(kafka, {"compression.type": codec})
        producer.produce(topic, key=codec, value=b"v" * 10_000)
        producer.flush(60)
    async with running(on(kafka, topic)) as reader:
        assert reader.facts == {codec.encode(): b"v" * 10_000 for codec in CODECS}


@pytest.mark.long
@pytest.mark.parametrize("codec", [None, "gzip"])
async def test_headers_may_have_any_name(kafka: str, codec: str | None) -> None:
    """Brokers take every bytes for a name; the clients of Java and of librdkafka, too."""
    topic = create_topic(kafka, config=COMPACT)
    producer = KafkaProducer(bootstrap_servers=kafka, linger_ms=1000, compression_type=codec)
    headers = [(NotText("x"), b"v"), ("traceparent", b"00-a-b-01")]
    for key, value in ((b"a", b"1"), (b"b", b"2"), (b"c", None)):
        producer.send(topic, key=key, value=value, headers=headers if key == b"b" else [])
    producer.close()
    transaction(kafka, topic, "d").abort_transaction(20)
    log = on(kafka, topic)
    async with running(log) as reader:
        assert reader.records == [Record(b"a", b"1"), Record(b"b", b"2"), Record(b"c", None)]
        assert [record.traceparent for record in reader.records] == ["", "00-a-b-01", ""]
        await led(log)
        await reader.reached(await log.append([Record(b"e", b"ours")]))


@pytest.mark.long
async def test_an_aborted_transaction_at_the_tail_is_passed(kafka: str) -> None:
    topic = create_topic(kafka, config=COMPACT)
    transaction(kafka, topic, "a").commit_transaction(20)
    transaction(kafka, topic, "b", "c").abort_transaction(20)
    log = on(kafka, topic)
    async with running(log) as reader:
        assert reader.facts == {b"a": b"in transaction"}
        assert reader.revision.covers(await log.end())


@pytest.mark.long
async def test_an_open_transaction_is_waited_for(kafka: str) -> None:
    topic = create_topic(kafka, config=COMPACT)
    open_one = transaction(kafka, topic, "a")
    log, reader = on(kafka, topic), FoldingReader()
    starting = asyncio.create_task(log.start(reader.fold))
    probe = on(kafka, unique("other"))
    async with running(probe):  # as long as another log takes to start, this one does not
        assert not starting.done()
    assert reader.facts == {}
    await asyncio.to_thread(open_one.commit_transaction, 60)
    async with asyncio.timeout(60):
        await starting
    assert reader.facts == {b"a": b"in transaction"}
    await log.stop()


@pytest.mark.long
async def test_markers_alone_move_the_revision(kafka: str) -> None:
    topic = create_topic(kafka, config=COMPACT)
    async with running(on(kafka, topic)) as reader:
        transaction(kafka, topic, "a").abort_transaction(20)
        await eventually(lambda: reader.revision == Revision({0: 2}))
        assert reader.records == []


@pytest.mark.long
async def test_a_log_whose_head_is_gone_is_folded(kafka: str) -> None:
    topic = create_topic(kafka, partitions=2, config={"cleanup.policy": "compact,delete"})
    producer = idempotent_producer(kafka)
    for number in range(10):
        producer.produce(topic, key=f"k{number}", value="v", partition=number % 2)
    producer.flush(60)
    admin = AdminClient({"bootstrap.servers": kafka})
    heads = [TopicPartition(topic, 0, 3), TopicPartition(topic, 1, 5)]
    for future in admin.delete_records(heads).values():
        future.result(60)
    set_policy(kafka, topic, "compact")
    async with running(on(kafka, topic)) as reader:
        assert set(reader.facts) == {b"k6", b"k8"}
        assert reader.revision == Revision({0: 5, 1: 5})


@pytest.mark.long
async def test_records_are_plain_and_placed_as_java_places_them(kafka: str) -> None:
    topic = create_topic(kafka, partitions=7, config=COMPACT)
    log = on(kafka, topic)
    async with running(log) as reader:
        await led(log)
        keys = [b"", *(f'["connector-{n}",{{"file":"{n}"}}]'.encode() for n in range(60))]
        await reader.reached(await log.append([Record(key, b"v" if key else None) for key in keys]))
    messages = consume_all(kafka, topic)
    assert {message.key() for message in messages} == set(keys)
    assert all(message.headers() is None for message in messages)
    assert all(message.partition() == murmur2(message.key() or b"", 7) for message in messages)


SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGUSR1, signal.SIGUSR2, signal.SIGHUP)


def log_on(kafka: str, name: str) -> KafkaLog:
    return KafkaLog(LogSettings(Backend.KAFKA, kafka, name, 1, 1, owner_id=name))


def content(folder: Path) -> list[str]:
    return [each.name for each in folder.iterdir()]


async def test_logging_and_signals_stay_with_the_process(kafka: str) -> None:
    def manners() -> tuple[object, ...]:
        handlers = tuple(signal.getsignal(number) for number in SIGNALS)
        return *handlers, tuple(logging.root.handlers), logging.root.level, sys.stdout, sys.stderr

    before = manners()
    log = log_on(kafka, unique("manners"))
    async with running(log):
        await led(log)
        assert manners() == before
    assert manners() == before


async def test_being_fenced_is_an_error_and_no_noise(kafka: str, capfd: pytest.CaptureFixture[str]) -> None:
    name = unique("fenced")
    log = log_on(kafka, name)
    async with running(log) as reader:
        await led(log)
        await log.append([Record(b"a", b"1")])
        connection = librdkafka_config(kafka, read_security({}))
        fence = TransactionalProducer(connection, name, name)
        await asyncio.to_thread(fence.claim)
        capfd.readouterr()
        with pytest.raises(NotWriterError, match="fenced"):
            await log.append([Record(b"a", b"2")])
        await led(log)
        await reader.reached(await log.append([Record(b"a", b"3")]))
        assert reader.facts == {b"a": b"3"}
        fence.discard()
    assert capfd.readouterr() == ("", "")


async def test_several_logs_share_a_process(kafka: str) -> None:
    one, two = log_on(kafka, unique("one")), log_on(kafka, unique("two"))
    async with running(one) as first, running(two) as second:
        for log, reader in ((one, first), (two, second)):
            await led(log)
            await reader.reached(await log.append([Record(b"a", b"1")]))
    assert not one.leads


async def test_a_log_keeps_nothing_on_disk(
    kafka: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    log = log_on(kafka, unique("diskless"))
    async with running(log):
        await led(log)
        assert content(tmp_path) == []  # so one that is killed leaves nothing either


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Give a broker that takes records of transactions its coordinator does not know."""
    unchecked = {"transaction.partition.verification.enable": "false"}
    with EmbeddedKafka(tmp_path_factory.mktemp("kafka"), settings=unchecked) as broker:
        yield broker.bootstrap


async def started(broker: str, name: str) -> Puts:
    log = KafkaLog(LogSettings(Backend.KAFKA, broker, name, 1, 1, owner_id=name))
    events: Puts = EventSourced(DECIDER, PutCodec(), log)
    async with asyncio.timeout(60):
        await events.start()
    return events


async def forget(broker: str, name: str, key: str) -> None:
    """Leave a record in a transaction of an id that its coordinator knows nothing of."""
    producer = AIOKafkaProducer(bootstrap_servers=broker, transactional_id=name)
    await producer.start()
    await producer.begin_transaction()
    known, partition = producer._txn_manager, KafkaPartition(name, 0)
    known.maybe_add_partition_to_txn(partition)
    known.partition_added(partition)  # so it asks nobody to add it
    await producer.send_and_wait(name, b"1", key.encode())
    await producer.client.close()
    await producer.stop()


@pytest.mark.timeout(300)
@pytest.mark.long
@pytest.mark.row("K26-46")
async def test_the_next_leader_reads_what_a_forgotten_transaction_wrote_and_goes_on(broker: str) -> None:
    name = unique("forgotten")
    first = await started(broker, name)
    await first.execute(PutKey("before", "1"))
    await first.stop()
    await forget(broker, name, "told")
    assert [record.key() for record in consume_all(broker, name)] == [b"before"], (
        "readers wait in front of it"
    )

    second = await started(broker, name)
    async with asyncio.timeout(60):
        outcome = await second.execute(PutKey("after", "1"))
    assert dict(outcome.state) == {"before": "1", "told": "1", "after": "1"}
    await second.stop()


@pytest.mark.timeout(300)
@pytest.mark.long
async def test_a_leader_whose_records_cannot_be_read_claims_the_log_anew(broker: str) -> None:
    name = unique("overdue")
    events = await started(broker, name)
    await events.execute(PutKey("before", "1"))
    other = Producer({"bootstrap.servers": broker, "transactional.id": unique("other")}, logger=SILENT)
    other.init_transactions(60)
    other.begin_transaction()
    other.produce(name, b"1", b"other")
    other.flush(60)

    during = asyncio.create_task(events.execute(PutKey("during", "1")))
    await eventually(lambda: not events.leads, 60)
    assert not during.done()
    other.commit_transaction(60)
    async with asyncio.timeout(60):
        outcome = await during
        await events.lead()
    assert dict(outcome.state) == {"before": "1", "other": "1", "during": "1"}
    await events.stop()
