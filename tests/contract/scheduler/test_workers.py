"""Workers that come, go and fall silent: their leases, probes of their addresses, lines of the log."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import pytest
from copycat.scheduler.v1 import scheduler_service_pb2 as pb
from copycat_connect.errors import NotWriterError
from copycat_rpc.errors import RemoteError
from copycat_rpc.server import RpcServer

from tests.contract.scheduler.service import Cluster, FakeWorker, running

LEASE = 0.6


@asynccontextmanager
async def alive(cluster: Cluster, *workers: FakeWorker) -> AsyncIterator[None]:
    """Let workers beat and do what they are assigned."""

    async def live() -> None:
        while True:
            for worker in workers:
                await worker.hold(await cluster.assigned())
            await asyncio.sleep(0.05)

    living = asyncio.create_task(live())
    try:
        yield
    finally:
        living.cancel()


async def _names(cluster: Cluster) -> list[str]:
    answer = await cluster.stub.ListWorkers(pb.ListWorkersRequest())
    return [each.worker_id for each in answer.workers]


async def test_live_workers_are_listed_with_what_they_hold() -> None:
    async with running() as cluster:
        worker = cluster.worker("w1")
        worker.held = {("a", 0): 3, ("a", None): 2}
        await worker.beat()
        await cluster.worker("w0").beat(leaving=True)
        answer = await cluster.stub.ListWorkers(pb.ListWorkersRequest())
        assert [(each.worker_id, each.leaving) for each in answer.workers] == [("w0", True), ("w1", False)]
        assert list(answer.workers[1].held) == [
            pb.Held(instance=pb.Instance(connector="a"), generation=2),
            pb.Held(instance=pb.Instance(connector="a", task=0), generation=3),
        ]


async def test_work_of_a_silent_worker_goes_to_the_others_and_its_statuses_become_unassigned() -> None:
    async with running(lease=LEASE, a=1, b=1) as cluster:
        first, second = cluster.worker("w1"), cluster.worker("w2")
        async with alive(cluster, first, second):
            before = await cluster.until_assigned(w1=2, w2=2)
        for (connector, task), each in before.items():
            cluster.status.put(connector, task, each.worker_id, each.generation)
        async with alive(cluster, first):
            after = await cluster.until_assigned(w1=4)
        for key, each in before.items():
            if each.worker_id == "w1":
                assert after[key] == each
                assert cluster.status.said(*key) == ("RUNNING", "w1", each.generation)
            else:
                assert after[key].generation > each.generation
                unassigned = ("UNASSIGNED", "w2", each.generation)
                await cluster.eventually(
                    partial(cluster.status.said, *key), unassigned.__eq__, f"{key} {unassigned}"
                )


async def test_a_broken_stream_does_not_end_a_lease() -> None:
    async with running(lease=60, a=1) as cluster:
        worker = cluster.worker("w1")
        await worker.beat()
        before = await cluster.until_assigned(w1=2)
        worker.hang_up()
        await cluster.worker("w2").beat(leaving=True)
        assert await _names(cluster) == ["w1", "w2"]
        await worker.beat()
        assert await cluster.assigned() == before


async def test_a_worker_that_leaves_is_drained_and_gone_when_its_stream_ends() -> None:
    async with running(lease=60, a=1) as cluster:
        leaving, staying = cluster.worker("w1"), cluster.worker("w2")
        await leaving.beat()
        await leaving.hold(await cluster.until_assigned(w1=2))
        await leaving.beat(leaving=True)
        await cluster.until_assigned()
        await staying.beat()
        assert await cluster.assigned() == {}
        leaving.held = {}
        await leaving.beat(leaving=True)
        await cluster.until_assigned(w2=2)
        leaving.hang_up()
        await cluster.eventually(lambda: _names(cluster), ["w2"].__eq__, "workers")


async def test_after_a_restart_known_workers_have_one_lease_to_join_and_new_work_does_not_wait() -> None:
    cluster = Cluster()
    cluster.config.put("a", 1)
    async with cluster.peers() as peers:
        async with cluster.scheduler(peers, lease=60):
            await cluster.worker("w1").beat()
            before = await cluster.until_assigned(w1=2)
        async with cluster.scheduler(peers, lease=60):
            await cluster.worker("w2").beat()
            cluster.config.put("b", 1)
            during = await cluster.until_assigned(w1=2, w2=2)
            assert {key: during[key] for key in before} == before
        async with cluster.scheduler(peers, lease=LEASE), alive(cluster, cluster.worker("w2")):
            await cluster.until_assigned(w2=4)


async def test_what_a_not_yet_joined_worker_says_to_run_waits_for_it_after_a_restart() -> None:
    cluster = Cluster()
    cluster.config.put("a", 0)
    cluster.status.put("a", None, "w1", 3)
    async with cluster.peers() as peers, cluster.scheduler(peers, lease=60):
        await cluster.worker("w2").beat()
        cluster.config.put("b", 0)
        await cluster.until_assigned(w2=1)
        returning = cluster.worker("w1")
        returning.held = {("a", None): 3}
        await returning.beat()
        assert len(await cluster.assigned()) == 1
        returning.held = {}
        await returning.beat()
        await cluster.until_assigned(w1=1, w2=1)


async def test_lost_work_waits_for_its_worker_when_told_to() -> None:
    async with running(lease=LEASE, delay=60, a=1) as cluster:
        lost, other = cluster.worker("w1"), cluster.worker("w2")
        await lost.beat()
        before = await cluster.until_assigned(w1=2)
        async with alive(cluster, other):
            await cluster.eventually(lambda: _names(cluster), ["w2"].__eq__, "workers")
            cluster.config.put("b", 0)
            during = await cluster.until_assigned(w1=2, w2=1)
            await lost.beat()
            assert await _names(cluster) == ["w1", "w2"]
        assert {key: during[key] for key in before} == before
        assert await cluster.assigned() == during


async def test_a_standby_takes_no_workers() -> None:
    cluster = Cluster()
    async with cluster.peers() as peers, cluster.scheduler(peers), cluster.scheduler(peers):
        with pytest.raises(RemoteError) as refused:
            await cluster.worker("w1").beat()
        assert refused.value.remote_code.name == NotWriterError.code.name


async def test_a_status_is_forgotten_when_its_worker_has_drained_what_is_not_configured_any_more() -> None:
    async with running(lease=60, a=2) as cluster:
        worker = await cluster.join("w1")
        await worker.hold(await cluster.until_assigned(w1=3))
        cluster.status.put("a", 1, "w1", 1)
        cluster.config.put("a", 1)
        left = await cluster.until_assigned(w1=2)
        cluster.status.put("gone", None, "w1", 1)  # it drains task 1, while others are looked at
        await cluster.eventually(lambda: ("gone", None) not in cluster.status.statuses, bool, "gone")
        assert ("a", 1) in cluster.status.statuses
        await worker.hold(left)
        await cluster.eventually(lambda: ("a", 1) not in cluster.status.statuses, bool, "the drained task")


async def test_statuses_of_what_is_not_configured_are_forgotten() -> None:
    cluster = Cluster()
    cluster.config.put("a", 1)
    for task in (None, 0, 1, 2):
        cluster.status.put("a", task, "w1", 1)
        cluster.status.put("gone", task, "w1", 1)
    async with cluster.peers() as peers, cluster.scheduler(peers):
        await cluster.worker("w1").beat()
        await cluster.eventually(lambda: len(cluster.status.statuses), (2).__eq__, "statuses")
        assert sorted(cluster.status.forgotten) == [("a", (1, 2)), ("gone", ())]
        cluster.config.delete("a")
        await cluster.eventually(lambda: len(cluster.status.statuses), (0).__eq__, "statuses")


#: What takes this long is waited for by nothing here.
LONG_LEASE = 60.0


@asynccontextmanager
async def listening() -> AsyncIterator[tuple[str, RpcServer]]:
    """Run what listens where a worker would."""
    server = RpcServer("127.0.0.1:0")
    address = await server.start()
    try:
        yield address, server
    finally:
        await server.stop(0)


async def _seen(worker: FakeWorker) -> None:
    """Give the scheduler the time to see that somebody listens at the worker's address."""
    for _ in range(10):
        await worker.beat()
        await asyncio.sleep(0.1)


async def test_a_worker_whose_process_is_gone_is_lost_long_before_its_lease_ends() -> None:
    async with running(lease=LONG_LEASE, a=1) as cluster, listening() as (address, server):
        worker, other = cluster.worker(address), cluster.worker("other")
        await worker.beat()
        (before,) = {each.generation for each in (await cluster.until_assigned(**{address: 2})).values()}
        for task in (None, 0):
            cluster.status.put("a", task, address, before)
        await _seen(worker)
        await other.beat()
        await server.stop(0)
        worker.hang_up()
        for task in (None, 0):
            unassigned = ("UNASSIGNED", address, before)
            said = partial(cluster.status.said, "a", task)
            await cluster.eventually(said, unassigned.__eq__, "its status")
        await cluster.until_assigned(other=2)


@pytest.fixture
def at_info(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, logger="copycat_scheduler")


def lines(caplog: pytest.LogCaptureFixture, *whats: str) -> list[dict[str, Any]]:
    """The changes of these kinds so far, each with its fields."""
    return [
        {"what": record.getMessage(), **record.__dict__["fields"]}
        for record in caplog.records
        if record.getMessage() in whats
    ]


@pytest.mark.usefixtures("at_info")
async def test_a_worker_that_joins_and_what_it_is_given_are_lines(caplog: pytest.LogCaptureFixture) -> None:
    async with running(lease=60, orders=1) as cluster:
        await cluster.worker("w1").beat()
        await cluster.until_assigned(w1=2)

    assert lines(caplog, "worker joined") == [{"what": "worker joined", "worker": "w1"}]
    given = lines(caplog, "connector assigned", "task assigned")
    assert [(each["what"], each.get("task"), each["connector"], each["worker"]) for each in given] == [
        ("connector assigned", None, "orders", "w1"),
        ("task assigned", 0, "orders", "w1"),
    ]


@pytest.mark.usefixtures("at_info")
async def test_a_lost_worker_and_where_its_task_moves_are_lines(caplog: pytest.LogCaptureFixture) -> None:
    async with running(lease=1.0, orders=1) as cluster:
        first = cluster.worker("w1")
        await first.beat()
        await first.hold(await cluster.until_assigned(w1=2))
        second = cluster.worker("w2")

        async def beaten() -> dict[Any, Any]:
            await second.beat()
            return await cluster.assigned()

        await cluster.eventually(
            beaten, lambda found: {each.worker_id for each in found.values()} == {"w2"}, "a move", timeout=60
        )

    (lost,) = lines(caplog, "worker is lost")
    assert (lost["worker"], lost["why"]) == ("w1", "nothing was heard of it for 1 s")
    moved = next(each for each in lines(caplog, "task moved") if each["worker"] == "w2")
    assert (moved["connector"], moved["task"], moved["former_worker"]) == ("orders", 0, "w1")


@pytest.mark.usefixtures("at_info")
async def test_work_that_is_taken_away_says_why(caplog: pytest.LogCaptureFixture) -> None:
    async with running(a=1, b=1) as cluster:
        await cluster.worker("w1").beat()
        await cluster.until_assigned(w1=4)
        cluster.config.delete("a")
        await cluster.until_assigned(w1=2)

    taken = lines(caplog, "connector taken from its worker", "task taken from its worker")
    assert [(each["connector"], each["why"]) for each in taken] == [("a", "its connector was deleted")] * 2


@pytest.mark.usefixtures("at_info")
async def test_a_worker_that_leaves_is_a_line(caplog: pytest.LogCaptureFixture) -> None:
    async with running(lease=60) as cluster:
        worker = cluster.worker("w1")
        await worker.beat()
        await worker.beat(leaving=True)
        worker.hang_up()
        await cluster.eventually(
            lambda: lines(caplog, "worker has left"), lambda found: found, "w1 has left", timeout=60
        )

    assert lines(caplog, "worker is leaving") == [{"what": "worker is leaving", "worker": "w1", "holds": 0}]
    assert lines(caplog, "worker is lost") == []
