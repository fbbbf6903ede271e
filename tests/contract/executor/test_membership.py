"""The worker's place in the cluster: kept with whichever scheduler answers."""

from __future__ import annotations

from functools import partial

from tests.contract.executor import world as worlds

world = partial(worlds.world, connectors=False)


async def test_a_worker_joins_anew_when_the_scheduler_does_not_answer() -> None:
    async with world() as it:
        await it.until(lambda: it.scheduler.beats > 0)
        it.scheduler.hangs = True
        await it.until(lambda: it.scheduler.joins > 1)
        it.scheduler.hangs = False
        beats = it.scheduler.beats
        await it.until(lambda: it.scheduler.beats > beats)
