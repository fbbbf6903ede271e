"""The config service on a real config topic."""

import asyncio
import signal
import subprocess
import sys
from contextlib import aclosing
from pathlib import Path

import grpc
import pytest
from copycat.config.v1 import config_service_pb2 as pb
from copycat.types.v1 import types_pb2
from copycat_connect.errors import ConfigError
from copycat_embedded.ports import free_ports
from copycat_rpc.messages import config_to_proto
from copycat_testkit.kafka import create_topic, idempotent_producer, wait_until
from grpc_health.v1 import health_pb2, health_pb2_grpc

from tests.integration.config.service import records, running, settings

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
