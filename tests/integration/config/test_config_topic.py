"""The config service on a real config topic: what it writes, whom it fences (KIP-618), how it drains (I7)."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import aclosing
from pathlib import Path
from typing import Any

import grpc
import pytest
from confluent_kafka import KafkaError, KafkaException, Producer
from copycat.config.v1 import config_service_pb2 as pb
from copycat.config.v1.config_service_pb2_grpc import ConfigServiceStub
from copycat.types.v1 import types_pb2
from copycat_connect.config.delivery import transactional_id
from copycat_connect.errors import ConfigError
from copycat_embedded.ports import free_ports
from copycat_eventlog.producers import SILENT
from copycat_rpc.channel import open_channel
from copycat_rpc.messages import config_to_proto
from copycat_testkit.cluster import ROLES, Cluster
from copycat_testkit.eventually import eventually
from copycat_testkit.kafka import consume_all, create_topic, idempotent_producer, wait_until
from grpc_health.v1 import health_pb2, health_pb2_grpc

from tests.integration.config.service import publish, records, running, settings

pytestmark = pytest.mark.long

CONFIG = {"connector.class": "FileStreamSource", "file": "/tmp/größe.txt"}  # noqa: S108
TASK = {"task.class": "FileStreamSourceTask"}


def write(kafka: str, topic: str, *written: tuple[str, str | None]) -> None:
    producer = idempotent_producer(kafka, {"partitioner": "murmur2_random"})
    for key, value in written:
        producer.produce(topic, key=key, value=value)
    assert producer.flush(60) == 0


async def test_a_connectors_life_is_written_as_kafka_connect_writes_it(kafka: str) -> None:
    properties = settings(kafka)
    async with running(properties) as stub:
        config = config_to_proto(CONFIG)
        await stub.PutConnector(pb.PutConnectorRequest(name="orders", config=config))
        await stub.PutTaskConfigs(
            pb.PutTaskConfigsRequest(connector="orders", tasks=[config_to_proto(TASK)], applied_config=config)
        )
        await stub.RequestRestart(pb.RequestRestartRequest(connector="orders", include_tasks=True))
        for state in (types_pb2.TARGET_STATE_PAUSED, types_pb2.TARGET_STATE_STOPPED):
            await stub.SetTargetState(pb.SetTargetStateRequest(name="orders", target_state=state))
        await stub.DeleteConnector(pb.DeleteConnectorRequest(name="orders"))
        await stub.SetLoggerLevel(pb.SetLoggerLevelRequest(logger="root", level="DEBUG"))

    assert records(kafka, properties["config.storage.topic"]) == [
        (
            "connector-orders",
            '{"properties":{"connector.class":"FileStreamSource","file":"/tmp/größe.txt"}}',
        ),
        ("task-orders-0", '{"properties":{"task.class":"FileStreamSourceTask"}}'),
        ("commit-orders", '{"tasks":1}'),
        ("restart-connector-orders", '{"include-tasks":true,"only-failed":false}'),
        ("target-state-orders", '{"state":"PAUSED","state.v2":"PAUSED"}'),
        ("commit-orders", '{"tasks":0}'),
        ("target-state-orders", '{"state":"PAUSED","state.v2":"STOPPED"}'),
        ("connector-orders", None),
        ("target-state-orders", None),
        ("logger-cluster-root", '{"level":"DEBUG"}'),
    ]


async def test_a_topic_of_kafka_connect_is_taken_over(kafka: str) -> None:
    properties = settings(kafka)
    topic = create_topic(kafka, properties["config.storage.topic"], config={"cleanup.policy": "compact"})
    write(
        kafka,
        topic,
        ("session-key", '{"key":"c2VjcmV0","algorithm":"HmacSHA256","creation-timestamp":1}'),
        ("target-state-orders", '{"state":"PAUSED","state.v2":"PAUSED"}'),
        ("connector-orders", '{"properties":{"connector.class":"FileStreamSource"}}'),
        ("task-orders-0", '{"properties":{"task.class":"FileStreamSourceTask"}}'),
        ("commit-orders", '{"tasks":1}'),
        ("connector-gone", '{"properties":{}}'),
        ("connector-gone", None),
        ("connector-broken", "nonsense"),
        ("something-else", "{}"),
        ("task-torn-1", '{"properties":{}}'),
        ("connector-torn", '{"properties":{}}'),
        ("commit-torn", '{"tasks":2}'),
    )

    async with running(properties) as stub:
        listed = await stub.ListConnectors(pb.ListConnectorsRequest())
        write(kafka, topic, ("connector-later", '{"properties":{}}'))
        async with aclosing(aiter(stub.WatchConnectors(pb.WatchConnectorsRequest()))) as watch:
            names = set()
            while "later" not in names:
                names.add((await anext(watch)).connector.name)

    orders, torn = listed.connectors
    assert (orders.name, orders.target_state, len(orders.tasks)) == (
        "orders",
        types_pb2.TARGET_STATE_PAUSED,
        1,
    )
    assert (torn.name, torn.inconsistent, len(torn.tasks)) == ("torn", True, 0)


async def test_a_restarted_service_knows_what_it_knew(kafka: str) -> None:
    properties = settings(kafka)
    async with running(properties) as stub:
        config = config_to_proto(CONFIG)
        await stub.PutConnector(pb.PutConnectorRequest(name="orders", config=config))
        await stub.PutTaskConfigs(
            pb.PutTaskConfigsRequest(connector="orders", tasks=[config_to_proto(TASK)], applied_config=config)
        )
        before = await stub.GetConnector(pb.GetConnectorRequest(name="orders"))

    async with running(properties) as stub:
        after = await stub.GetConnector(pb.GetConnectorRequest(name="orders"))
        again = await stub.PutConnector(pb.PutConnectorRequest(name="orders", config=config))

    assert after.connector == before.connector
    assert not again.created


async def test_many_callers_are_answered_with_what_they_wrote(kafka: str) -> None:
    async with running(settings(kafka)) as stub:

        async def put(number: int) -> None:
            name, config = f"c{number}", config_to_proto({"n": str(number)})
            answer = await stub.PutConnector(pb.PutConnectorRequest(name=name, config=config))
            found = await stub.GetConnector(pb.GetConnectorRequest(name=name, min_revision=answer.revision))
            assert found.connector.config == config

        await asyncio.gather(*(put(number) for number in range(200)))

        listed = await stub.ListConnectors(pb.ListConnectorsRequest())
    assert len(listed.connectors) == 200


async def test_a_topic_of_more_than_one_partition_is_refused(kafka: str) -> None:
    properties = settings(kafka)
    topic = properties["config.storage.topic"]
    create_topic(kafka, topic, partitions=2, config={"cleanup.policy": "compact"})

    with pytest.raises(ConfigError) as refusal:
        async with running(properties):
            pass

    assert refusal.value.message == (
        f"Topic '{topic}' supplied via the 'config.storage.topic' property is required to have a single "
        "partition in order to guarantee consistency of connector configurations, but found 2 partitions."
    )


def test_the_process_serves_until_it_is_told_to_stop(kafka: str, tmp_path: Path) -> None:
    (port,) = free_ports(1)
    file = tmp_path / "worker.properties"
    lines = settings(kafka) | {"config.listen": f"127.0.0.1:{port}"}
    file.write_text("".join(f"{key}={value}\n" for key, value in lines.items()))
    process = subprocess.Popen([sys.executable, "-m", "copycat_config", str(file)])
    try:
        with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
            wait_until(lambda: _serving(channel), timeout=60)
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0
    finally:
        process.kill()
        process.wait()


def _serving(channel: grpc.Channel) -> bool:
    check = health_pb2_grpc.HealthStub(channel).Check
    answer = check(health_pb2.HealthCheckRequest(), wait_for_ready=True, timeout=60)
    return bool(answer.status == health_pb2.HealthCheckResponse.SERVING)


FENCE = pb.FenceTasksRequest(connector="orders")
SECONDS = 60.0


class Task:
    """A source task's producer, with a transaction that it has begun."""

    def __init__(self, kafka: str, group: str, number: int, topic: str) -> None:
        self.value = f"of task {number}".encode()
        self._producer = Producer({
            "bootstrap.servers": kafka,
            "transactional.id": transactional_id(group, "orders", number),
        }, logger=SILENT)  # fmt: skip
        self._producer.init_transactions(SECONDS)
        self._producer.begin_transaction()
        self._producer.produce(topic, self.value)
        assert self._producer.flush(SECONDS) == 0

    def fenced(self) -> bool:
        """Commit; return whether that is refused since another producer has begun with the id."""
        try:
            self._producer.commit_transaction(SECONDS)
        except KafkaException as error:
            return bool(error.args[0].code() == KafkaError._FENCED)
        return False


def visible(kafka: str, topic: str) -> set[bytes | None]:
    """Return what a reader of committed records sees."""
    return {message.value() for message in consume_all(kafka, topic)}


async def test_a_zombie_with_an_open_transaction_cannot_commit_once_it_is_fenced(kafka: str) -> None:
    properties, topic = settings(kafka), create_topic(kafka)
    async with running(properties) as stub:
        await publish(stub, 3)
        await stub.FenceTasks(FENCE, timeout=SECONDS)
        zombies = [await asyncio.to_thread(Task, kafka, properties["group.id"], n, topic) for n in range(3)]
        await publish(stub, 2)

        answer = await stub.FenceTasks(FENCE, timeout=SECONDS)
        heirs = [await asyncio.to_thread(Task, kafka, properties["group.id"], n, topic) for n in range(2)]
        again = await stub.FenceTasks(FENCE, timeout=SECONDS)

    assert (answer.fenced, answer.task_generation, again.fenced) == (3, 1, 0)
    assert [zombie.fenced() for zombie in zombies] == [True] * 3
    assert [heir.fenced() for heir in heirs] == [False] * 2
    assert visible(kafka, topic) == {b"of task 0", b"of task 1"}
    assert len(consume_all(kafka, topic)) == 2


async def test_task_sets_that_grow_and_shrink_are_recorded_as_kafka_connect_records_them(kafka: str) -> None:
    properties, topic = settings(kafka), create_topic(kafka)
    group, fenced = properties["group.id"], []
    async with running(properties) as stub:
        last: list[Task] = []
        for size in (3, 5, 1, 5, 3):
            await publish(stub, size)
            fenced.append((await stub.FenceTasks(FENCE, timeout=SECONDS)).fenced)
            assert [task.fenced() for task in last] == [True] * len(last)
            last = [await asyncio.to_thread(Task, kafka, group, n, topic) for n in range(size)]
        await stub.DeleteConnector(pb.DeleteConnectorRequest(name="orders"))

    written = records(kafka, properties["config.storage.topic"])
    keys = [key for key, _ in written]
    counts = [value for key, value in written if key == "tasks-fencing-orders"]
    assert fenced == [0, 3, 5, 1, 5]
    assert counts == [f'{{"task-count":{size}}}' for size in (3, 5, 1, 5, 3)]
    after_commit = [keys[place + 1] for place, key in enumerate(keys) if key == "commit-orders"]
    assert after_commit == ["tasks-fencing-orders"] * 5
    assert visible(kafka, topic) == set()


PROTO_CONFIG = config_to_proto({"connector.class": "FileStreamSource"})
WRITERS = 20
#: How often the leader is stopped: each time some calls are on their way.
TURNS = 2


@pytest.fixture
def cluster(kafka: str, tmp_path: Path) -> Iterator[Cluster]:
    """Run two instances of the config service and nothing else."""
    instances = {**dict.fromkeys(ROLES, 0), "config": 2}
    with Cluster(tmp_path, kafka, instances) as cluster:
        yield cluster


class Writers:
    """Create one connector after the other, each once: neither repeated nor refused."""

    def __init__(self, stub: Any) -> None:
        self.written: list[str] = []
        """What was answered well."""
        self.ended = False
        self._stub = stub

    async def go_on(self) -> None:
        """Return once each of them may have written again."""
        before = len(self.written)
        await eventually(lambda: len(self.written) > before + 2 * WRITERS, SECONDS)

    async def run(self, who: int) -> None:
        """Write until it is ended; an answer that is no success fails the test."""
        number = 0
        while not self.ended:
            number += 1
            name = f"writer-{who}-{number}"
            # Were a call that was carried out sent again, it would be refused: the connector exists.
            await self._stub.PutConnector(
                pb.PutConnectorRequest(name=name, config=PROTO_CONFIG, create_only=True), timeout=SECONDS
            )
            self.written.append(name)


@pytest.mark.timeout(300)
async def test_calls_under_way_when_a_leader_is_told_to_end_are_answered_and_later_ones_by_the_other(
    cluster: Cluster,
) -> None:
    async with open_channel(cluster.addresses("config"), secret=cluster.secret) as channel:
        stub = ConfigServiceStub(channel)
        writers = Writers(stub)
        async with asyncio.TaskGroup() as group:
            for who in range(WRITERS):
                group.create_task(writers.run(who))
            await writers.go_on()
            for _ in range(TURNS):
                leader = await asyncio.to_thread(cluster.leader, "config")
                assert await asyncio.to_thread(leader.end) == 0
                await writers.go_on()
                assert await asyncio.to_thread(cluster.leader, "config") is not leader
                leader.start()
                await asyncio.to_thread(leader.wait_serving)
            writers.ended = True
        last = await stub.PutConnector(pb.PutConnectorRequest(name="last", config=PROTO_CONFIG))
        # The instance that is asked may be the one that follows, and show a moment later what was answered.
        listed = await stub.ListConnectors(pb.ListConnectorsRequest(min_revision=last.revision))

    assert {each.name for each in listed.connectors} ^ {"last", *writers.written} == set()
