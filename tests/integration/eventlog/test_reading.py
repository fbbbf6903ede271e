"""Reading a topic that others wrote: Kafka Connect, its tools, its accidents."""

from __future__ import annotations

import asyncio

import pytest
from confluent_kafka import Producer, TopicPartition, murmur2
from confluent_kafka.admin import AdminClient
from confluent_kafka.admin._config import AlterConfigOpType, ConfigEntry, ConfigResource
from copycat_eventlog.kafka import KafkaLog
from copycat_eventlog.log import Record, Revision
from copycat_eventlog.settings import Backend, LogSettings
from copycat_testkit.eventually import eventually
from copycat_testkit.kafka import consume_all, create_topic, idempotent_producer, unique
from copycat_testkit.log_suite import Reader, led, running
from kafka import KafkaProducer

pytestmark = pytest.mark.long

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


async def test_records_are_read_whatever_codec_their_writer_used(kafka: str) -> None:
    topic = create_topic(kafka, config=COMPACT)
    for codec in CODECS:
        producer = idempotent_producer(kafka, {"compression.type": codec})
        producer.produce(topic, key=codec, value=b"v" * 10_000)
        producer.flush(60)
    async with running(on(kafka, topic)) as reader:
        assert reader.facts == {codec.encode(): b"v" * 10_000 for codec in CODECS}


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


async def test_an_aborted_transaction_at_the_tail_is_passed(kafka: str) -> None:
    topic = create_topic(kafka, config=COMPACT)
    transaction(kafka, topic, "a").commit_transaction(20)
    transaction(kafka, topic, "b", "c").abort_transaction(20)
    log = on(kafka, topic)
    async with running(log) as reader:
        assert reader.facts == {b"a": b"in transaction"}
        assert reader.revision.covers(await log.end())


async def test_an_open_transaction_is_waited_for(kafka: str) -> None:
    topic = create_topic(kafka, config=COMPACT)
    open_one = transaction(kafka, topic, "a")
    log, reader = on(kafka, topic), Reader()
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


async def test_markers_alone_move_the_revision(kafka: str) -> None:
    topic = create_topic(kafka, config=COMPACT)
    async with running(on(kafka, topic)) as reader:
        transaction(kafka, topic, "a").abort_transaction(20)
        await eventually(lambda: reader.revision == Revision({0: 2}))
        assert reader.records == []


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
