"""A pytest plugin: one real Kafka per test session, and small helpers to talk to it."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TypeVar, cast

import pytest
from confluent_kafka import (
    Consumer,
    KafkaError,
    KafkaException,
    Message,
    Producer,
    TopicCollection,
    TopicPartition,
)
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic
from copycat_embedded.broker import EmbeddedKafka

T = TypeVar("T")
POLL_SECONDS = 0.02
#: What takes long is asked for less often: asking costs the machine that is waited for.
LONGEST_POLL_SECONDS = 0.1
POLL_GROWTH = 1.25
CLIENT_SECONDS = 60.0
#: For a whole queue of records, on a machine that has much else to do.
WRITE_SECONDS = 60.0


@pytest.fixture(scope="session")
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Run a real single-node Kafka for the whole session and give its bootstrap address."""
    with EmbeddedKafka(tmp_path_factory.mktemp("kafka")) as broker:
        yield broker.bootstrap


def unique(prefix: str = "test") -> str:
    """Return a name no other test uses: for topics, groups and connectors on the shared broker."""
    return f"{prefix}-{uuid.uuid4().hex[:12]}"


def wait_until(
    condition: Callable[[], T | None], timeout: float = 60.0, what: str | Callable[[], str] = ""
) -> T:
    """Poll until the condition returns something true, and return that.

    `what` it waits for may be a function: it is asked when the time is over, and can say how far it came.

    Raises:
        AssertionError: It did not within `timeout` seconds.
    """
    deadline, pause = time.monotonic() + timeout, POLL_SECONDS
    while True:
        if answer := condition():
            return answer
        if time.monotonic() > deadline:
            wanted = (what() if callable(what) else what) or getattr(condition, "__name__", "the condition")
            pytest.fail(f"{wanted} did not come true within {timeout} s")
        time.sleep(pause)
        pause = min(pause * POLL_GROWTH, LONGEST_POLL_SECONDS)


def create_topic(
    bootstrap: str,
    topic: str | None = None,
    partitions: int = 1,
    config: Mapping[str, str] | None = None,
) -> str:
    """Create a topic, uniquely named unless `topic` is given, wait until it is there, and return its name."""
    name = topic or unique("topic")
    admin = AdminClient({"bootstrap.servers": bootstrap})
    created = admin.create_topics([NewTopic(name, partitions, 1, config=dict(config or {}))])
    created[name].result(CLIENT_SECONDS)
    wait_until(lambda: _is_there(admin, name), CLIENT_SECONDS, f"{name} is there")
    return name


def delete_topic(admin: AdminClient, topic: str) -> None:
    """Delete a topic and wait until its broker knows: the controller answers before that."""
    admin.delete_topics([topic])[topic].result(CLIENT_SECONDS)
    wait_until(lambda: not _is_there(admin, topic), CLIENT_SECONDS, f"{topic} is deleted")


def _is_there(admin: AdminClient, topic: str) -> bool:
    try:
        admin.describe_topics(TopicCollection([topic]))[topic].result(CLIENT_SECONDS)
    except KafkaException as error:
        if error.args[0].code() == KafkaError.UNKNOWN_TOPIC_OR_PART:
            return False
        raise
    return True


def idempotent_producer(bootstrap: str, settings: Mapping[str, str | int] | None = None) -> Producer:
    """Return a producer that writes every record once and in order, whatever the broker is asked again.

    A plain one has many requests on the way and sends a refused one again behind the others: on a busy
    machine the leader of a new topic may refuse the first.
    """
    return Producer({"bootstrap.servers": bootstrap, **(settings or {}), "enable.idempotence": True})


def produce(bootstrap: str, topic: str, values: Iterable[bytes | None], key: bytes | None = None) -> None:
    """Write values to a topic and wait until the broker has them."""
    producer = idempotent_producer(bootstrap, {"partitioner": "murmur2_random", "linger.ms": 5})
    for value in values:
        while not _queued(producer, topic, value, key):
            producer.poll(POLL_SECONDS)  # the broker is slower than we are: wait for room
        producer.poll(0)
    if left := producer.flush(WRITE_SECONDS):
        pytest.fail(f"{left} records were not written to {topic} within {WRITE_SECONDS} s")


def _queued(producer: Producer, topic: str, value: bytes | None, key: bytes | None) -> bool:
    try:
        producer.produce(topic, value=value, key=key)
    except BufferError:
        return False
    return True


def headers_in(message: Message) -> list[tuple[str, bytes | None]]:
    """Return the headers of a message that was read, in their order.

    The client declares every form in which headers may be produced, and reads them in this one only.
    """
    return cast("list[tuple[str, bytes | None]]", message.headers() or [])


def consume_all(
    kafka: str | Mapping[str, str | int | bool], topic: str, timeout: float = CLIENT_SECONDS
) -> list[Message]:
    """Read a topic's committed records from its beginning to the end it has now, in order by partition.

    `kafka` is the bootstrap address, or all that a client of librdkafka needs to connect.
    """
    consumer = Consumer(
        {
            **({"bootstrap.servers": kafka} if isinstance(kafka, str) else kafka),
            "group.id": unique("reader"),
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "isolation.level": "read_committed",
            "fetch.queue.backoff.ms": 2,
            "fetch.wait.max.ms": 10,  # where a topic ends with what is no record, its end shows that late
        }
    )
    try:
        partitions = consumer.list_topics(topic, timeout=timeout).topics[topic].partitions
        ends = {number: _end(consumer, TopicPartition(topic, number), timeout) for number in partitions}
        consumer.assign([TopicPartition(topic, number, 0) for number, end in ends.items() if end])
        return _read_to_ends(consumer, ends, time.monotonic() + timeout)
    finally:
        consumer.close()


def _end(consumer: Consumer, partition: TopicPartition, timeout: float) -> int:
    """Return where a partition ends; one that was just made may have no leader yet."""

    def asked() -> tuple[int] | None:
        try:
            return (int(consumer.get_watermark_offsets(partition, timeout=timeout)[1]),)
        except KafkaException as error:
            if error.args[0].code() == KafkaError.NOT_LEADER_FOR_PARTITION:
                return None
            raise

    return wait_until(asked, timeout, f"a leader of {partition}")[0]


def _read_to_ends(consumer: Consumer, ends: Mapping[int, int], deadline: float) -> list[Message]:
    """Read up to these offsets: a topic that grows all the time has no end."""
    messages: list[Message] = []
    left = {partition for partition, end in ends.items() if end}
    while left:
        if time.monotonic() > deadline:
            pytest.fail(f"partitions {sorted(left)} were not read to their ends in time")
        message = consumer.poll(0.1)
        if message is None or (partition := message.partition() or 0) not in left:
            continue
        error = message.error()
        if error is None:
            messages.append(message)
            if (message.offset() or 0) + 1 >= ends[partition]:
                left.discard(partition)
        elif error.name() == "_PARTITION_EOF":  # what is last may be no record: the end of a transaction
            left.discard(partition)
        else:
            raise KafkaException(error)
    return messages
