"""A worker whose process is gone is asked at its own address; the other answers are in the unit tests."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

from copycat_rpc.server import RpcServer

from tests.contract.scheduler.service import FakeWorker, running

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
