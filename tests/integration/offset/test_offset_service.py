"""The offset service as it runs, on its topic and on connectors' own (KIP-618, KIP-875); bounds of topics."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

import pytest
from confluent_kafka import Consumer, Message, Producer, TopicPartition
from confluent_kafka.admin import AclOperation, AdminClient, ConfigResource, ResourceType
from copycat.offset.v1 import offset_service_pb2 as pb
from copycat.offset.v1.offset_service_pb2_grpc import OffsetServiceStub
from copycat.types.v1.types_pb2 import SourceOffset
from copycat_connect.cluster import TopicPartition as ClusterPartition
from copycat_connect.errors import UnavailableError
from copycat_embedded.broker import EmbeddedKafka
from copycat_offset.adapters.groups import KafkaGroups
from copycat_offset.domain.moves import Bounds
from copycat_offset.main import serve
from copycat_rpc.channel import open_channel
from copycat_rpc.errors import RemoteError
from copycat_rpc.messages import config_to_proto
from copycat_testkit.kafka import (
    CLIENT_SECONDS,
    consume_all,
    create_topic,
    delete_topic,
    idempotent_producer,
    unique,
)

from tests.integration.guarded.broker import SECURE, SETTINGS, GuardedKafka, login

if TYPE_CHECKING:
    from collections.abc import Iterator

    from copycat.offset.v1.offset_service_pb2_grpc import OffsetServiceAsyncStub


def properties_of(kafka: str, group: str) -> dict[str, str]:
    """Return the properties of a worker."""
    return {
        "bootstrap.servers": kafka,
        "group.id": group,
        "offset.listen": "127.0.0.1:0",
        "offset.storage.topic": f"{group}-offsets",
        "offset.storage.replication.factor": "1",
        "offset.storage.partitions": "5",
    }


@asynccontextmanager
async def running(properties: dict[str, str]) -> AsyncIterator[OffsetServiceAsyncStub]:
    """Run the service."""
    stop, bound = asyncio.Event(), asyncio.get_running_loop().create_future()
    serving = asyncio.create_task(serve(properties, stop, bound.set_result))
    await asyncio.wait((serving, bound), return_when=asyncio.FIRST_COMPLETED, timeout=60)
    if serving.done():
        serving.result()
    async with open_channel([bound.result()]) as channel:
        yield OffsetServiceStub(channel)
    stop.set()
    await serving


HOUR = 3_600_000


@pytest.fixture
async def groups(kafka: str) -> AsyncIterator[KafkaGroups]:
    async with aclosing(KafkaGroups(kafka, {})) as groups:
        yield groups


async def test_a_time_is_found_in_every_partition_that_exists(kafka: str, groups: KafkaGroups) -> None:
    topic = create_topic(kafka, partitions=3)
    producer = idempotent_producer(kafka)
    for hour in range(1, 11):
        producer.produce(topic, b"x", partition=0, timestamp=hour * HOUR)
        producer.produce(topic, b"x", partition=1, timestamp=hour)
    assert producer.flush(60) == 0
    there = [ClusterPartition(topic, number) for number in range(3)]

    found = await groups.bounds(
        [*there, ClusterPartition(topic, 3), ClusterPartition("none", 0)], 4 * HOUR - 1
    )

    assert found == dict(zip(there, (Bounds(0, 10, 3), Bounds(0, 10, None), Bounds(0, 0, None)), strict=True))
    assert await groups.bounds(there[:1], None) == {there[0]: Bounds(0, 10, None)}


async def test_brokers_that_are_away_are_told_as_such() -> None:
    async with aclosing(KafkaGroups("127.0.0.1:1", {"request.timeout.ms": "1000"})) as groups:
        with pytest.raises(UnavailableError, match="did not say within 1 s what the topics hold"):
            await groups.bounds([ClusterPartition("t", 0)], None)


async def test_offsets_survive_the_service_and_are_kafka_connects_own_bytes(kafka: str) -> None:
    properties = properties_of(kafka, unique("cluster"))
    partition = '{"filename":"größe.txt"}'.encode()
    async with running(properties) as stub:
        await stub.CommitSourceOffsets(
            pb.CommitSourceOffsetsRequest(
                connector="orders",
                generation=1,
                offsets=[SourceOffset(partition=partition, offset=b'{"position":57}')],
            )
        )
    (message,) = consume_all(kafka, properties["offset.storage.topic"])
    assert message.key() == '["orders",{"filename":"größe.txt"}]'.encode()
    assert message.value() == b'{"position":57}'
    async with running(properties) as stub:
        answer = await stub.ListSourceOffsets(pb.ListSourceOffsetsRequest(connector="orders"))
        assert [(each.partition, each.offset) for each in answer.offsets] == [(partition, b'{"position":57}')]


async def test_a_read_goes_to_the_end_of_what_others_have_written(kafka: str) -> None:
    properties = properties_of(kafka, unique("cluster"))
    async with running(properties) as stub:
        producer = idempotent_producer(kafka, {"partitioner": "murmur2_random"})
        for position in range(200):
            producer.produce(
                properties["offset.storage.topic"], key=b'["orders",{"f":1}]', value=b'{"n":%d}' % position
            )
        producer.flush(60)
        answer = await stub.ReadSourceOffsets(
            pb.ReadSourceOffsetsRequest(connector="orders", partitions=[b'{"f":1}'])
        )
        assert answer.offsets[0].offset == b'{"n":199}'


A, B = b'{"f":"a"}', b'{"f":"b"}'


def store(
    topic: str | None, more: Mapping[str, str] = MappingProxyType({}), *, exactly_once: bool = False
) -> pb.OffsetsStore:
    """Return where a connector keeps its offsets."""
    keys = {**more} if topic is None else {"offsets.storage.topic": topic, **more}
    return pb.OffsetsStore(config=config_to_proto(keys), exactly_once=exactly_once)


async def commit(stub: OffsetServiceAsyncStub, home: pb.OffsetsStore, **given: bytes) -> None:
    request = pb.CommitSourceOffsetsRequest(
        connector="orders", generation=1, offsets=offsets(given), store=home
    )
    await stub.CommitSourceOffsets(request, timeout=60)


async def alter(stub: OffsetServiceAsyncStub, home: pb.OffsetsStore, **given: bytes | None) -> None:
    request = pb.AlterSourceOffsetsRequest(connector="orders", offsets=offsets(given), store=home)
    await stub.AlterSourceOffsets(request, timeout=60)


async def listed(stub: OffsetServiceAsyncStub, home: pb.OffsetsStore | None) -> dict[bytes, bytes]:
    request = pb.ListSourceOffsetsRequest(connector="orders", store=home)
    answer = await stub.ListSourceOffsets(request, timeout=60)
    return {each.partition: each.offset for each in answer.offsets}


def offsets(given: Mapping[str, bytes | None]) -> list[SourceOffset]:
    return [
        SourceOffset(partition=b'{"f":"%s"}' % name.encode(), offset=each) for name, each in given.items()
    ]


def newest(bootstrap: str, topic: str) -> dict[bytes | None, bytes | None]:
    """Return what a read_committed reader finds, by key."""
    found: dict[bytes | None, bytes | None] = {}
    for message in consume_all(bootstrap, topic):
        found[bytes_of(message.key())] = bytes_of(message.value())
    return found


def bytes_of(text: str | bytes | None) -> bytes | None:
    assert not isinstance(text, str)
    return text


@pytest.mark.long
@pytest.mark.row("K875-25", "K875-30")
async def test_an_own_topic_is_made_as_the_workers_and_has_kafka_connects_own_bytes(kafka: str) -> None:
    properties = properties_of(kafka, unique("cluster")) | {"offset.storage.min.insync.replicas": "1"}
    own, key = unique("own"), b'["orders",{"f":"a"}]'
    async with running(properties) as stub:
        await commit(stub, store(own), a=b'{"n":1}')
        for topic in (own, properties["offset.storage.topic"]):
            assert newest(kafka, topic) == {key: b'{"n":1}'}
        await alter(stub, store(own), a=None, b=b'{"n":2}')
        for topic in (own, properties["offset.storage.topic"]):
            assert newest(kafka, topic) == {key: None, b'["orders",{"f":"b"}]': b'{"n":2}'}
        assert await listed(stub, store(own)) == {B: b'{"n":2}'}
    (first, *_) = consume_all(kafka, own)
    java = Producer({"bootstrap.servers": kafka, "partitioner": "murmur2_random"})
    placed: list[Message] = []
    java.produce(own, b"{}", key, on_delivery=lambda _, message: placed.append(message))
    assert java.flush(CLIENT_SECONDS) == 0
    assert first.partition() == placed[0].partition(), "where Kafka's own partitioner puts the key"
    admin = AdminClient({"bootstrap.servers": kafka})
    assert len(admin.list_topics(own, timeout=CLIENT_SECONDS).topics[own].partitions) == 5
    resource = ConfigResource(ConfigResource.Type.TOPIC, own)
    configs = admin.describe_configs([resource])[resource].result(CLIENT_SECONDS)
    assert (configs["cleanup.policy"].value, configs["min.insync.replicas"].value) == ("compact", "1")


@pytest.mark.long
async def test_offsets_of_the_own_topic_outlive_the_service_and_the_loss_of_the_copy(kafka: str) -> None:
    own = unique("own")
    async with running(properties_of(kafka, unique("cluster"))) as stub:
        await alter(stub, store(own), a=b'{"n":1}')
    async with running(properties_of(kafka, unique("cluster"))) as stub:
        assert await listed(stub, None) == {}
        assert await listed(stub, store(own)) == {A: b'{"n":1}'}


@pytest.mark.long
async def test_a_topic_that_is_not_compacted_is_refused_with_what_to_change(kafka: str) -> None:
    own = create_topic(kafka, unique("own"), config={"cleanup.policy": "delete"})
    async with running(properties_of(kafka, unique("cluster"))) as stub:
        with pytest.raises(RemoteError) as refused:
            await alter(stub, store(own), a=b'{"n":1}')
        for word in (own, "'offsets.storage.topic'", "cleanup.policy=delete"):
            assert word in refused.value.message
        assert await listed(stub, None) == {}


@pytest.mark.long
async def test_the_workers_own_topic_by_name_is_no_other_topic(kafka: str) -> None:
    properties = properties_of(kafka, unique("cluster"))
    topic = properties["offset.storage.topic"]
    async with running(properties) as stub:
        await alter(stub, store(topic), a=b'{"n":1}')
        assert len(consume_all(kafka, topic)) == 1, "written once"
        assert await listed(stub, store(topic)) == {A: b'{"n":1}'}


@pytest.mark.long
async def test_a_read_waits_for_an_open_transaction_and_goes_past_one_that_is_aborted(kafka: str) -> None:
    own = unique("own")
    async with running(properties_of(kafka, unique("cluster"))) as stub:
        await alter(stub, store(own), a=b'{"n":1}')
        task = Producer(
            {"bootstrap.servers": kafka, "transactional.id": unique("task"), "partitioner": "murmur2_random"}
        )
        task.init_transactions(CLIENT_SECONDS)
        for number, end in ((2, task.commit_transaction), (3, task.abort_transaction)):
            task.begin_transaction()
            task.produce(own, b'{"n":%d}' % number, b'["orders",{"f":"a"}]')
            assert task.flush(CLIENT_SECONDS) == 0
            reading = asyncio.create_task(listed(stub, store(own, exactly_once=True)))
            done, _ = await asyncio.wait([reading], timeout=1)
            assert not done, "it waits for the end of the transaction"
            await asyncio.to_thread(end, CLIENT_SECONDS)
            assert await reading == {A: b'{"n":2}'}


@pytest.mark.long
async def test_an_own_topic_that_was_deleted_is_made_and_read_anew(kafka: str) -> None:
    own = unique("own")
    async with running(properties_of(kafka, unique("cluster"))) as stub:
        for number in range(3):
            await alter(stub, store(own), a=b'{"n":%d}' % number)
        await alter(stub, store(own), b=b'{"n":1}')
        assert await listed(stub, store(own)) == {A: b'{"n":2}', B: b'{"n":1}'}
        delete_topic(AdminClient({"bootstrap.servers": kafka}), own)
        assert await listed(stub, store(own)) == {A: b'{"n":2}', B: b'{"n":1}'}, "what the copy has"
        await alter(stub, store(own), a=b'{"n":7}')
        assert newest(kafka, own) == {b'["orders",{"f":"a"}]': b'{"n":7}'}
        assert await listed(stub, store(own)) == {A: b'{"n":7}', B: b'{"n":1}'}


@pytest.mark.long
async def test_brokers_that_are_away_are_named_within_the_time_of_the_overrides(kafka: str) -> None:
    away = {"bootstrap.servers": "127.0.0.1:1"}
    soon = away | {"request.timeout.ms": "500"}
    home = store(unique("own"), overrides(away, away, soon))
    async with running(properties_of(kafka, unique("cluster"))) as stub:
        for call in (listed(stub, home), alter(stub, home, a=b'{"n":1}')):
            with pytest.raises(RemoteError, match=r"127\.0\.0\.1:1.* 0\.5 s") as refused:
                await call
            assert refused.value.remote_code.http == 503
        assert await listed(stub, None) == {}


@pytest.fixture(scope="module")
def walls(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GuardedKafka]:
    """Run another cluster, which asks for passwords and checks rights."""
    with EmbeddedKafka(tmp_path_factory.mktemp("walls") / "kafka", settings=SETTINGS) as kafka:
        yield GuardedKafka(kafka)


def clients(walls: GuardedKafka, folder: Path, user: str) -> dict[str, str]:
    """Return the overrides of all clients to the other cluster as a user; placeholders stand for secrets."""
    secrets = folder / "secrets.properties"
    secrets.write_text(f"servers={walls.bootstrap}\nlogin={login(user)}\n")
    given = {
        **SECURE,
        "bootstrap.servers": f"${{file:{secrets}:servers}}",
        "sasl.jaas.config": f"${{file:{secrets}:login}}",
    }
    return overrides(given, given, given)


def overrides(
    producer: Mapping[str, str], consumer: Mapping[str, str], admin: Mapping[str, str]
) -> dict[str, str]:
    """Return the overrides of each client."""
    given = {"producer": producer, "consumer": consumer, "admin": admin}
    return {
        f"{client}.override.{key}": value for client, keys in given.items() for key, value in keys.items()
    }


PROVIDERS = {
    "config.providers": "file",
    "config.providers.file.class": "org.apache.kafka.common.config.provider.FileConfigProvider",
}


@pytest.mark.long
@pytest.mark.row("K875-31")
async def test_an_own_topic_may_be_on_another_cluster_with_a_login(
    kafka: str, walls: GuardedKafka, tmp_path: Path
) -> None:
    own, home = unique("own"), clients(walls, tmp_path, "admin")
    properties = properties_of(kafka, unique("cluster")) | PROVIDERS
    async with running(properties) as stub:
        await alter(stub, store(own, home), a=b'{"n":1}')
        assert own in walls.admin.list_topics(timeout=CLIENT_SECONDS).topics
        assert own not in AdminClient({"bootstrap.servers": kafka}).list_topics(timeout=CLIENT_SECONDS).topics
        assert await listed(stub, store(own, home)) == await listed(stub, None) == {A: b'{"n":1}'}
        # Exactly once with clients elsewhere: the topic is the worker's by name, on the other cluster.
        elsewhere = store(None, home, exactly_once=True)
        await alter(stub, elsewhere, a=b'{"n":2}')
        assert properties["offset.storage.topic"] in walls.admin.list_topics(timeout=CLIENT_SECONDS).topics
        assert await listed(stub, elsewhere) == await listed(stub, None) == {A: b'{"n":2}'}


@pytest.mark.long
@pytest.mark.row("K875-19", "K875-48")
async def test_an_exactly_once_change_needs_the_right_to_its_transactional_id(
    kafka: str, walls: GuardedKafka, tmp_path: Path
) -> None:
    group, own, home = unique("cluster"), unique("own"), clients(walls, tmp_path, "alice")
    for operation in (AclOperation.READ, AclOperation.WRITE, AclOperation.CREATE, AclOperation.DESCRIBE):
        walls.allow("alice", ResourceType.TOPIC, own, operation)
    walls.allow("alice", ResourceType.TOPIC, own, AclOperation.DESCRIBE_CONFIGS)
    async with running(properties_of(kafka, group) | PROVIDERS) as stub:
        with pytest.raises(RemoteError) as refused:
            await alter(stub, store(own, home, exactly_once=True), a=b'{"n":1}')
        assert refused.value.remote_code.http == 500
        assert f"{group}-orders-0" in refused.value.message
        assert "alice-hidden-word" not in refused.value.message
        assert await listed(stub, store(own, home, exactly_once=True)) == {}
        walls.allow("alice", ResourceType.TRANSACTIONAL_ID, f"{group}-orders-0", AclOperation.WRITE)
        walls.allow("alice", ResourceType.TRANSACTIONAL_ID, f"{group}-orders-0", AclOperation.DESCRIBE)
        await alter(stub, store(own, home, exactly_once=True), a=b'{"n":1}')
        assert await listed(stub, store(own, home, exactly_once=True)) == {A: b'{"n":1}'}


@pytest.mark.long
@pytest.mark.row("K875-19", "K875-26")
async def test_an_exactly_once_change_is_seen_as_one_and_fences_the_first_task(kafka: str) -> None:
    properties = properties_of(kafka, unique("cluster"))
    topic, home = properties["offset.storage.topic"], store(None, exactly_once=True)
    zombie = Producer({"bootstrap.servers": kafka, "transactional.id": f"{properties['group.id']}-orders-0"})
    async with running(properties) as stub:
        zombie.init_transactions(CLIENT_SECONDS)
        zombie.begin_transaction()
        zombie.produce(topic, b'{"n":99}', b'["orders",{"f":"a"}]')
        assert zombie.flush(CLIENT_SECONDS) == 0
        await alter(stub, home, a=b'{"n":1}', b=b'{"n":2}')
        with pytest.raises(Exception, match=r"fenced"):
            await asyncio.to_thread(zombie.commit_transaction, CLIENT_SECONDS)
        assert await listed(stub, home) == {A: b'{"n":1}', B: b'{"n":2}'}
        await alter(stub, home, a=None, b=None)
        assert await listed(stub, home) == {}
    assert control_records(kafka, topic) >= 1, "it was a transaction"


def control_records(bootstrap: str, topic: str) -> int:
    """Return how many offsets of a topic hold no record."""
    read = len(consume_all(bootstrap, topic))
    reader = Consumer({"bootstrap.servers": bootstrap, "group.id": unique("reader")})
    try:
        places = [TopicPartition(topic, each) for each in range(5)]
        ends = [reader.get_watermark_offsets(each, CLIENT_SECONDS)[1] for each in places]
    finally:
        reader.close()
    return sum(ends) - read
