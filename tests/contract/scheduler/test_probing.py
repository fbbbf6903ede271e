"""Workers that are asked at their own addresses, since nothing more is heard of them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

from copycat.scheduler.v1 import scheduler_service_pb2 as pb
from copycat_rpc.server import RpcServer

from tests.contract.scheduler.service import Cluster, FakeWorker, running

#: What takes this long is waited for by nothing here.
LONG_LEASE = 60.0
LEASE = 3.0


@asynccontextmanager
async def listening(*, serving: bool = False) -> AsyncIterator[tuple[str, RpcServer]]:
    """Run what listens where a worker would; it answers that it serves if `serving`."""
    server = RpcServer("127.0.0.1:0")
    address = await server.start()
    await server.set_serving(serving)
    try:
        yield address, server
    finally:
        await server.stop(0)


async def _names(cluster: Cluster) -> list[str]:
    answer = await cluster.stub.ListWorkers(pb.ListWorkersRequest())
    return [each.worker_id for each in answer.workers]


async def _seen(cluster: Cluster, worker: FakeWorker) -> None:
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
        await _seen(cluster, worker)
        await other.beat()
        await server.stop(0)
        worker.hang_up()
        for task in (None, 0):
            unassigned = ("UNASSIGNED", address, before)
            said = partial(cluster.status.said, "a", task)
            await cluster.eventually(said, unassigned.__eq__, "its status")
        await cluster.until_assigned(other=2)


async def test_a_worker_whose_connection_broke_and_that_listens_still_has_its_lease() -> None:
    async with running(lease=LONG_LEASE, a=1) as cluster, listening() as (address, _):
        worker = cluster.worker(address)
        await worker.beat()
        before = await cluster.until_assigned(**{address: 2})
        await _seen(cluster, worker)
        worker.hang_up()
        await cluster.worker("other").beat(leaving=True)
        await asyncio.sleep(2.0)  # all that could come of it would have come by now
        assert await _names(cluster) == sorted([address, "other"])
        assert await cluster.assigned() == before


async def test_an_address_nobody_was_ever_seen_at_says_nothing_by_refusing() -> None:
    async with running(lease=LONG_LEASE, a=1) as cluster:
        async with listening() as (address, _):
            pass
        worker = cluster.worker(address)
        await worker.beat()
        await _seen(cluster, worker)
        worker.hang_up()
        await asyncio.sleep(2.0)  # all that could come of it would have come by now
        assert await _names(cluster) == [address]


async def test_a_silent_worker_that_answers_that_it_serves_keeps_its_work() -> None:
    async with running(lease=LEASE, a=1) as cluster, listening(serving=True) as (address, server):
        worker = cluster.worker(address)
        await worker.beat()
        before = await cluster.until_assigned(**{address: 2})
        await asyncio.sleep(2 * LEASE)  # it beats no more
        assert await _names(cluster) == [address]
        assert await cluster.assigned() == before
        await server.set_serving(False)
        await cluster.eventually(lambda: _names(cluster), [].__eq__, "workers", timeout=30.0)
