"""A config service that is stopped, on a real log (I7): it answers what it has taken."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from copycat.config.v1 import config_service_pb2 as pb
from copycat.config.v1.config_service_pb2_grpc import ConfigServiceStub
from copycat_rpc.channel import open_channel
from copycat_rpc.messages import config_to_proto
from copycat_testkit.cluster import ROLES, Cluster
from copycat_testkit.eventually import eventually

CONFIG = config_to_proto({"connector.class": "FileStreamSource"})
WRITERS = 20
#: How often the leader is stopped: each time some calls are on their way.
TURNS = 2
SECONDS = 60.0

pytestmark = [pytest.mark.timeout(300), pytest.mark.long]


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
                pb.PutConnectorRequest(name=name, config=CONFIG, create_only=True), timeout=SECONDS
            )
            self.written.append(name)


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
        listed = await stub.ListConnectors(pb.ListConnectorsRequest())

    assert sorted(each.name for each in listed.connectors) == sorted(writers.written)
