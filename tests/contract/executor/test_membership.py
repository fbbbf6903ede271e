"""The worker's place in the cluster: kept with whichever scheduler answers."""

from __future__ import annotations

import asyncio
from functools import partial

from copycat_connect.cluster import Instance
from copycat_rpc.reach import Reach

from tests.contract.executor import world as worlds
from tests.contract.executor.fake_hosts import FakeHost

world = partial(worlds.world, connectors=False)

#: As the scheduler that is played here answers.
LEASE_SECONDS = 5.0


async def no_answer(address: str, timeout: float) -> Reach:
    """Find nobody, as where the way to the scheduler is cut."""
    del address, timeout
    return Reach.SILENT


def newest_lease(host: FakeHost) -> int:
    """Return the number of the heartbeat that was answered last."""
    return max((each.lease.number for each in host.commands if each.HasField("lease")), default=-1)


async def placed_without_a_lease(it: worlds.World) -> FakeHost:
    """Give a task its place in a host that was there before the worker joined, and does not beat."""
    await it.until(lambda: bool(it.launcher.hosts))
    host = it.launcher.hosts[0]
    host.beats = False
    await it.until(it.executor.lease.holds)
    it.config.put("orders", worlds.SOURCE, [{"index": "0"}])
    it.scheduler.assign(it.worker, "orders", 0)
    await it.until(lambda: it.executor.hosts.has_host(Instance("orders", 0)))
    return host


async def test_a_worker_joins_anew_when_the_scheduler_does_not_answer() -> None:
    async with world() as it:
        await it.until(lambda: it.scheduler.beats > 0)
        it.scheduler.hangs = True
        await it.until(lambda: it.scheduler.joins > 1)
        it.scheduler.hangs = False
        beats = it.scheduler.beats
        await it.until(lambda: it.scheduler.beats > beats)


async def test_hosts_may_go_on_for_less_than_the_lease() -> None:
    async with world() as it:
        await it.run_task()
        host = it.launcher.of("orders-0")
        await it.until(lambda: newest_lease(host) > 1)
        kinds = [each.WhichOneof("command") for each in host.commands]
        assert kinds.index("lease") < kinds.index("start_task"), "no task runs in a host without a lease"
        leases = [each.lease.remaining_ms for each in host.commands if each.HasField("lease")]
        assert 0 < min(leases) <= max(leases) < 1000 * LEASE_SECONDS


async def test_a_task_waits_for_the_first_lease_of_a_host_that_was_there_before_the_worker_joined() -> None:
    async with world(spares=1) as it:
        host = await placed_without_a_lease(it)
        assert (newest_lease(host), host.started) == (-1, [])
        host.beats = True
        await it.until(lambda: bool(host.started))
        kinds = [each.WhichOneof("command") for each in host.commands]
        assert kinds.index("lease") < kinds.index("start_task")


async def test_a_host_that_ends_before_its_first_lease_makes_room_for_another() -> None:
    async with world(spares=1) as it:
        host = await placed_without_a_lease(it)
        host.die()
        await it.until(lambda: any("orders-0" in each.refs() for each in it.launcher.hosts))
        assert host.started == []


async def test_a_worker_goes_on_while_a_scheduler_listens_that_does_not_answer() -> None:
    async with world() as it:
        await it.run_task()
        host = it.launcher.of("orders-0")
        it.scheduler.hangs = True
        await asyncio.sleep(LEASE_SECONDS)
        number = newest_lease(host)
        await it.until(lambda: newest_lease(host) > number)


async def test_a_worker_that_cannot_reach_the_scheduler_for_a_lease_leaves_its_tasks_until_it_can() -> None:
    async with world(reach=no_answer) as it:
        await it.run_task()
        host = it.launcher.of("orders-0")
        it.scheduler.hangs = True
        await it.until(lambda: not it.executor.lease.holds())
        number = newest_lease(host)
        host.die("its lease has ended")
        await it.until(lambda: it.executor.runs.empty)
        await asyncio.sleep(0.5)  # all that could come of it would have come by now
        assert it.launcher.hosts == [host]
        assert newest_lease(host) == number
        it.scheduler.remove("orders", 0)
        it.scheduler.hangs = False
        await it.until(it.executor.lease.holds)
        await asyncio.sleep(0.5)
        assert it.launcher.hosts == [host]
        it.scheduler.assign(it.worker, "orders", 0)
        await it.until(lambda: len(it.launcher.hosts) == 2)


async def test_a_worker_joins_once_a_host_is_warm() -> None:
    async with world(spares=1, attaches=False) as it:
        await it.until(lambda: len(it.launcher.hosts) == 2)
        assert it.scheduler.joins == 0
        it.launcher.attaches = True
        await it.until(lambda: it.scheduler.joins == 1)
