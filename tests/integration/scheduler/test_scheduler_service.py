"""The scheduler as it runs, on real topics: its assignments, what sinks read, and brokers that were lost."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest
from confluent_kafka.admin import AdminClient, NewPartitions
from copycat.scheduler.v1 import scheduler_service_pb2 as pb
from copycat.scheduler.v1.scheduler_service_pb2_grpc import SchedulerServiceStub
from copycat_connect.errors import UnavailableError
from copycat_embedded.broker import EmbeddedKafka
from copycat_embedded.ports import free_ports
from copycat_eventlog.clients import Security, librdkafka_config
from copycat_rpc.channel import open_channel
from copycat_scheduler.adapters import topics
from copycat_scheduler.main import serve
from copycat_testkit.kafka import create_topic, unique

from tests.contract.scheduler.service import Cluster


def _properties(kafka: str, peers: tuple[str, str], group: str) -> dict[str, str]:
    return {
        "bootstrap.servers": kafka,
        "group.id": group,
        "scheduler.listen": "127.0.0.1:0",
        "config.addresses": peers[0],
        "status.addresses": peers[1],
        "assignment.storage.replication.factor": "1",
        "metadata.refresh.interval.ms": "200",
    }


@asynccontextmanager
async def _running(cluster: Cluster, properties: dict[str, str]) -> AsyncIterator[None]:
    stop, bound = asyncio.Event(), asyncio.get_running_loop().create_future()
    serving = asyncio.create_task(serve(properties, stop, bound.set_result))
    await asyncio.wait((serving, bound), return_when=asyncio.FIRST_COMPLETED, timeout=60)
    if serving.done():
        serving.result()
    async with open_channel([bound.result()]) as channel:
        cluster.stub = SchedulerServiceStub(channel)
        yield
    stop.set()
    await serving


async def test_assignments_survive_the_scheduler(kafka: str) -> None:
    cluster = Cluster()
    cluster.config.put("orders", 2)
    async with cluster.peers() as peers:
        properties = _properties(kafka, peers, unique("cluster"))
        async with _running(cluster, properties):
            await cluster.join("w1")
            before = await cluster.until_assigned(w1=3)
        async with _running(cluster, properties):
            await cluster.join("w1")
            cluster.config.put("more", 0)
            after = await cluster.until_assigned(w1=4)
    assert {key: after[key] for key in before} == before
    assert after[("more", None)].generation > max(each.generation for each in before.values())


async def test_a_sink_reads_the_partitions_there_are_and_those_that_come(kafka: str) -> None:
    cluster, topic = Cluster(), create_topic(kafka, partitions=3)
    async with cluster.peers() as peers, _running(cluster, _properties(kafka, peers, unique("cluster"))):
        worker = await cluster.join("w1")
        cluster.config.put("sink", 2, topics=topic)
        assigned = await cluster.until_assigned(w1=3)
        assert _read(assigned) == {None: [], 0: [0, 2], 1: [1]}
        await worker.hold(assigned)
        admin = AdminClient({"bootstrap.servers": kafka})
        admin.create_partitions([NewPartitions(topic, 4)])[topic].result(60)
        await worker.hold(await cluster.until_assigned(w1=2))
        assert _read(await cluster.until_assigned(w1=3)) == {None: [], 0: [0, 2], 1: [1, 3]}


async def test_a_new_connector_is_assigned(kafka: str) -> None:
    cluster = Cluster()
    async with cluster.peers() as peers, _running(cluster, _properties(kafka, peers, unique("cluster"))):
        await cluster.join("w1")
        cluster.config.put("first", 0)
        await cluster.until_assigned(w1=1)
        cluster.config.put("second", 0)
        await cluster.until_assigned(w1=2)


def _read(assigned: Mapping[tuple[str, int | None], pb.Assignment]) -> dict[int | None, list[int]]:
    return {key[1]: [each.partition for each in a.partitions] for key, a in assigned.items()}


#: The controller takes such a broker for dead most of the time: its answers name no live broker.
FENCED = {"broker.session.timeout.ms": "500", "broker.heartbeat.interval.ms": "3000"}


def connection(bootstrap_servers: str, security: Security) -> dict[str, str | int | bool]:
    # With "none" the client is sure to end where it otherwise ends only at times.
    return librdkafka_config(bootstrap_servers, security) | {"metadata.recovery.strategy": "none"}


@pytest.mark.long
async def test_topics_are_read_again_after_a_client_lost_all_brokers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(topics, "librdkafka_config", connection)
    monkeypatch.setattr(topics, "METADATA_TIMEOUT_SECONDS", 3.0)
    with EmbeddedKafka(tmp_path, port=free_ports(1)[0]) as broker:
        topic = create_topic(broker.bootstrap)
        reader = topics.PartitionCounts(broker.bootstrap, {})
        assert topic in await reader.read()
        broker.kill()
        fenced = EmbeddedKafka(tmp_path, port=int(broker.bootstrap.rpartition(":")[2]), settings=FENCED)
        fenced.start()
        try:
            await wait_until_lost(reader)
        finally:
            fenced.kill()
        broker.start()
        assert topic in await read_at_last(reader)
        reader.close()


async def read_at_last(reader: topics.PartitionCounts) -> Mapping[str, int]:
    async with asyncio.timeout(60):
        while True:
            with suppress(UnavailableError):
                return await reader.read()


async def wait_until_lost(reader: topics.PartitionCounts) -> None:
    """Read until that fails although the broker is up: the client has lost it."""
    async with asyncio.timeout(60):
        while True:
            try:
                await reader.read()
            except UnavailableError:
                return
