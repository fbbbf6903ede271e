"""Very many partitions of a source, which nobody lists to the framework (K26-18)."""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict

import httpx2
import psutil
import pytest
from copycat_client.client import CopycatClient
from copycat_testkit.kafka import consume_all, create_topic, unique, wait_until
from copycat_testkit.system import CopycatUp

from tests.integration.kip26.world import until

pytestmark = [pytest.mark.timeout(600), pytest.mark.long]

PATIENCE = 240
"""Seconds for a hundred thousand records, on a machine that is busy with other tests."""
BYTES_OF_A_PARTITION = 8192
"""In all processes together: a fold of the offsets each in the service and its views, and a task's batch."""
METRICS = 100
"""Metrics of a host, as the author's connector has them."""


async def test_k26_18_a_hundred_thousand_partitions_go_on_each_from_its_own_offset(
    copycat: CopycatClient, cluster: CopycatUp, kafka: str
) -> None:
    topic, name, hosts = create_topic(kafka), unique("metrics"), 1000
    config = {"connector.class": "author.MetricsSourceConnector", "hosts": str(hosts), "topic": topic}
    await copycat.configs.put(name, {**config, "name": name})

    def times() -> list[Counter[int]]:
        """Return how many metrics each time has."""
        found: defaultdict[int, Counter[str]] = defaultdict(Counter)
        for message in consume_all(kafka, topic):
            metric, _, time = (message.value() or b"").decode().rpartition(" ")
            found[int(time)][metric] += 1
        return [Counter(found[time].values()) for time in sorted(found)]

    once, every, before = Counter({1: hosts * METRICS}), hosts * METRICS, memory(cluster)
    await asyncio.to_thread(wait_until, lambda: times() == [once], PATIENCE, "each metric once")
    async with httpx2.AsyncClient(base_url=cluster.url, timeout=90) as rest:
        await rest.put(f"/connectors/{name}/stop")
        await until(lambda: stopped(rest, name), "the connector is stopped")
        # A commit of so many outlives the task that made it.
        await until(lambda: shown(rest, name, every, 0), "every offset is committed")
        await rest.put(f"/connectors/{name}/resume")
        await asyncio.to_thread(wait_until, lambda: times() == [once] * 2, PATIENCE, "each metric once again")
        await until(lambda: shown(rest, name, every, 1), "every offset is committed again")
    cluster.kill("host")
    await asyncio.to_thread(wait_until, lambda: times() == [once] * 3, PATIENCE, "each metric after a kill")
    assert memory(cluster) - before < every * BYTES_OF_A_PARTITION


async def shown(rest: httpx2.AsyncClient, name: str, count: int, time: int) -> bool:
    """Return whether so many partitions are at a time."""
    offsets = (await rest.get(f"/connectors/{name}/offsets")).json()["offsets"]
    assert {each["offset"]["time"] for each in offsets} <= {time - 1, time}
    return [each["offset"]["time"] for each in offsets] == [time] * count


def memory(cluster: CopycatUp) -> int:
    """Return how many bytes its processes hold together, what they share counted once."""
    found = psutil.Process(cluster.pid).children(recursive=True)
    return sum(each.memory_full_info().pss for each in found if each.is_running())


async def stopped(rest: httpx2.AsyncClient, name: str) -> bool:
    """Return whether a connector is stopped and its tasks are gone."""
    status = (await rest.get(f"/connectors/{name}/status")).json()
    return bool(status["connector"]["state"] == "STOPPED" and not status["tasks"])
