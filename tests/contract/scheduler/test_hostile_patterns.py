"""A pattern of a sink that does not come to an end harms nobody but its own connector."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from copycat.scheduler.v1 import scheduler_service_pb2 as pb

from tests.contract.scheduler.service import Cluster

pytestmark = pytest.mark.timeout(120)

#: Python's engine takes years for each of them.
HOSTILE = ("(a+)+b", "(a|aa)+$b", "(a|aa|a)+$b")
LONG = "a" * 40
LONGER = "a" * 200


def trace(cluster: Cluster, connector: str) -> str:
    return cluster.status.statuses[connector, None].trace


@asynccontextmanager
async def under_attack() -> AsyncIterator[tuple[Cluster, Any, tuple[str, str]]]:
    """Run a scheduler with a sink that works, then configure sinks with hostile patterns."""
    cluster = Cluster()
    cluster.topics.update({"orders": 2, LONG: 1, LONGER: 1})
    async with cluster.peers() as peers, cluster.scheduler(peers, lease=60):
        worker = cluster.worker("w1")
        await worker.beat()
        cluster.config.put("good", 1, topics_regex="orders.*")
        assigned = await cluster.until_assigned(w1=2)
        await worker.hold(assigned)
        for number, pattern in enumerate(HOSTILE):
            cluster.config.put(f"bad-{number}", 1, topics_regex=pattern)
            cluster.status.put(f"bad-{number}", None, "w1", assigned["good", None].generation)
        yield cluster, worker, peers


async def until_failed(cluster: Cluster, connector: str) -> None:
    await cluster.eventually(
        lambda: cluster.status.said(connector, None), lambda said: said and said[0] == "FAILED", "FAILED", 60
    )


async def test_its_connector_fails_with_key_pattern_and_way_on() -> None:
    async with under_attack() as (cluster, _, _):
        await until_failed(cluster, "bad-1")
        await until_failed(cluster, "bad-2")
        said = trace(cluster, "bad-1")
        assert said.startswith("topics.regex has '(a|aa)+$b', which does not come to an end within 1 s")
        assert f"The topic is {LONGER}" in said or f"The topic is {LONG}" in said
        assert "Change topics.regex, or delete that topic and restart the connector" in said
        # It is a status of the worker's own, so its next one replaces it.
        assert cluster.status.said("bad-1", None) == ("FAILED", "w1", 1)


async def test_the_service_answers_meanwhile_and_gives_others_their_work() -> None:
    async with under_attack() as (cluster, worker, _):
        slowest = 0.0
        cluster.topics["orders-new"] = 1
        for number in range(20):
            cluster.config.put(f"more-{number}", 1, topics="orders")
        until = time.monotonic() + 60
        names = {f"more-{number}" for number in range(20)}
        while not names <= {name for name, task in await cluster.assigned() if task == 0}:
            assert time.monotonic() < until
            began = time.monotonic()
            await cluster.stub.ListAssignments(pb.ListAssignmentsRequest())
            await worker.beat()
            slowest = max(slowest, time.monotonic() - began)
            await asyncio.sleep(0.01)
        assert slowest < 30  # on a busy machine; Python's engine never answers again
        assert "good" in {name for name, _ in await cluster.assigned()}


async def test_it_can_be_deleted_or_mended() -> None:
    async with under_attack() as (cluster, _, _):
        await until_failed(cluster, "bad-1")
        cluster.config.put("bad-1", 1, topics_regex="order.*")
        assigned = await cluster.eventually(
            cluster.assigned, lambda found: ("bad-1", 0) in found, "a place for the task", 60
        )
        assert {each.topic for each in assigned["bad-1", 0].partitions} == {"orders"}
        cluster.config.delete("bad-2")
        await cluster.eventually(
            cluster.assigned, lambda found: ("bad-2", None) not in found, "the deletion", 60
        )


async def test_what_its_tasks_read_before_stays_when_a_new_topic_is_hostile() -> None:
    cluster = Cluster()
    cluster.topics["a1"] = 2
    async with cluster.peers() as peers, cluster.scheduler(peers, lease=60):
        worker = cluster.worker("w1")
        await worker.beat()
        cluster.config.put("sink", 1, topics_regex="(a|aa)+$b|a1")
        assigned = await cluster.until_assigned(w1=2)
        await worker.hold(assigned)
        cluster.status.put("sink", None, "w1", assigned["sink", None].generation)
        cluster.topics[LONGER] = 1
        await until_failed(cluster, "sink")
        assert await cluster.assigned() == assigned
        # The way on that its reason names.
        del cluster.topics[LONGER]
        cluster.topics["a1"] = 3
        await worker.hold(await cluster.until_assigned(w1=1))
        grown = await cluster.until_assigned(w1=2)
        assert len(grown["sink", 0].partitions) == 3


async def test_the_next_start_comes_up_and_says_it_again() -> None:
    async with under_attack() as (cluster, worker, peers):
        await until_failed(cluster, "bad-1")
        worker.hang_up()
    assert peers
    again = Cluster(config=cluster.config, topics=cluster.topics, log=cluster.log)
    async with again.peers() as peers, again.scheduler(peers, lease=60):
        worker = await again.join("w1", 60)
        await again.eventually(again.assigned, lambda found: ("good", 0) in found, "the assignments", 60)
        again.status.put("bad-1", None, "w1", 1_000)
        await until_failed(again, "bad-1")
        assert await worker.beat()
