"""Every call of the scheduler: `python scheduler.py worker.properties`."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path

from copycat_client.client import CopycatClient
from copycat_client.scheduler import Worker
from copycat_client.watching import Snapshot
from copycat_rpc.role import read_properties


async def goodbye() -> AsyncIterator[Worker]:
    """Beat once, as a worker that takes no work and leaves."""
    yield Worker("example:9105", leaving=True)


async def main(worker: Path) -> None:
    """See who works on what."""
    async with CopycatClient.from_properties(read_properties(worker)) as copycat:
        for each in await copycat.scheduler.workers():
            print("worker", each.worker_id, "leaving" if each.leaving else "working", len(each.held))
        for assignment in await copycat.scheduler.assignments():
            print("assigned", assignment.instance, assignment.worker_id)
        print("cluster", await copycat.scheduler.kafka_cluster_id())
        async with aclosing(copycat.scheduler.watch()) as events:
            first = await anext(events)
            print("watch begins with a snapshot:", isinstance(first, Snapshot))
        async for lease in copycat.scheduler.join(goodbye()):
            print("lease", lease)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
