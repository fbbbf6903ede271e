"""Workers that are asked at their own addresses, since nothing more is heard of them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from copycat_eventlog.memory import MemoryLog
from copycat_rpc.reach import Reach
from copycat_scheduler.adapters.event_sourced import event_sourced
from copycat_scheduler.adapters.probing import WAITS_SECONDS, Probing
from copycat_scheduler.adapters.workers import LiveWorkers
from copycat_testkit.simulated import simulated

#: What takes this long is waited for by nothing here.
LONG_LEASE = 3600.0
LEASE = 3.0
WORKER = "worker:8083"


class Asked:
    """A scheduler that leads, and a worker that beat once and whose address is played."""

    def __init__(self, workers: LiveWorkers, lease: float) -> None:
        self.workers = workers
        self.listens = Reach.ACCEPTED
        self.serving = False
        self.asked = 0
        self.probing = Probing(workers, lease, self._reach, self._serves)
        self.workers.beat(WORKER, {}, leaving=False)

    async def until_asked(self, times: int) -> None:
        """Wait until the address was asked so many times more."""
        enough = self.asked + times
        while self.asked < enough:  # noqa: ASYNC110 - the clock is simulated
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.01)  # what was answered is heard

    def there(self) -> bool:
        """Return whether the worker has its lease."""
        return WORKER in self.workers.expire().sessions

    async def _reach(self, address: str, _timeout: float) -> Reach:
        assert address == WORKER
        self.asked += 1
        return self.listens

    async def _serves(self, address: str, _timeout: float) -> bool:
        assert address == WORKER
        return self.serving


@asynccontextmanager
async def asking(lease: float, listens: Reach = Reach.ACCEPTED) -> AsyncIterator[Asked]:
    """Run the questions; the address was asked once."""
    events = event_sourced(MemoryLog())
    await events.start()
    await events.lead()
    it = Asked(LiveWorkers(events, lambda: None, lease_seconds=lease, delay_seconds=0), lease)
    it.listens = listens
    running = asyncio.create_task(it.probing.run())
    try:
        await it.until_asked(1)
        yield it
    finally:
        running.cancel()
        await asyncio.wait([running])
        await events.stop()


@simulated
async def test_a_worker_whose_process_is_gone_is_lost_long_before_its_lease_ends() -> None:
    async with asking(LONG_LEASE) as it:
        it.listens = Reach.REFUSED
        it.probing.stream_ended(WORKER)
        await it.until_asked(1)
        assert not it.there()


@simulated
async def test_a_worker_whose_connection_broke_and_that_listens_still_has_its_lease() -> None:
    async with asking(LONG_LEASE) as it:
        it.probing.stream_ended(WORKER)
        await it.until_asked(len(WAITS_SECONDS))
        assert it.there()
        asked = it.asked
        await asyncio.sleep(LONG_LEASE / 4)
        assert (it.there(), it.asked) == (True, asked)


@simulated
async def test_an_address_nobody_was_ever_seen_at_says_nothing_by_refusing() -> None:
    async with asking(LONG_LEASE, Reach.REFUSED) as it:
        it.probing.stream_ended(WORKER)
        await it.until_asked(3)  # it is asked like anybody who is not known to listen
        assert it.there()


@simulated
async def test_a_silent_worker_that_answers_that_it_serves_keeps_its_work() -> None:
    async with asking(LEASE) as it:
        it.serving = True
        await asyncio.sleep(10 * LEASE)  # it beats no more
        assert it.there()
        it.serving = False
        await asyncio.sleep(2 * LEASE)
        assert not it.there()
