"""What a worker settles with the scheduler: its own place and lease, and which start may begin."""

from __future__ import annotations

import asyncio
from functools import partial

import pytest
from copycat.host.v1 import host_service_pb2 as pb
from copycat.scheduler.v1 import scheduler_service_pb2 as scheduler_pb
from copycat_config.domain.errors import FencingFailedError, TasksChangedError, UnknownConnectorError
from copycat_connect.cluster import Instance
from copycat_connect.errors import ConfigError, CopycatError, UnavailableError
from copycat_rpc.reach import Reach

from tests.contract.executor import world as worlds
from tests.contract.executor.fake_hosts import FakeHost
from tests.contract.executor.world import SOURCE, World

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


TASKS = [{"index": "0"}]


async def ask(it: World, host: FakeHost, ref: pb.TaskRef, sequence: int) -> pb.FenceDone:
    """Ask as a task does, and return the answer."""
    host.say(fence_wanted=pb.FenceWanted(task=ref, sequence=sequence))
    await it.until(lambda: host.may_begin(sequence) is not None, "an answer")
    done = host.may_begin(sequence)
    assert done is not None
    return done


async def running_task(it: World) -> tuple[FakeHost, pb.TaskRef]:
    await it.run_task()
    host = it.launcher.of("orders-0")
    return host, host.started[-1].task


def assignment(worker: str, generation: int) -> scheduler_pb.Assignment:
    instance = scheduler_pb.Instance(connector="orders", task=0)
    return scheduler_pb.Assignment(instance=instance, worker_id=worker, generation=generation)


async def test_the_newest_start_may_begin_once_all_before_it_are_fenced() -> None:
    async with world() as it:
        host, ref = await running_task(it)

        answers = [await ask(it, host, ref, sequence) for sequence in (1, 2)]

        assert answers == [pb.FenceDone(sequence=1), pb.FenceDone(sequence=2)]
        assert it.config.fenced == ["orders", "orders"]


@pytest.mark.parametrize(("worker", "newer"), [("other:1", 0), ("other:1", 1), ("", 1)])
async def test_a_start_that_the_scheduler_has_replaced_is_stale_though_nobody_here_has_heard_of_it(
    worker: str, newer: int
) -> None:
    async with world() as it:
        host, ref = await running_task(it)
        it.scheduler.newest[("orders", 0)] = assignment(worker or it.worker, ref.generation + newer)

        done = await ask(it, host, ref, 1)

        assert (done.stale, done.passes, bool(done.error)) == (True, False, True)
        assert it.config.fenced == []


async def test_a_task_that_is_to_run_nowhere_is_stale() -> None:
    async with world() as it:
        host, ref = await running_task(it)
        del it.scheduler.assignments[("orders", 0)]

        assert (await ask(it, host, ref, 1)).stale


async def test_a_start_goes_on_under_a_newer_generation_of_the_same_hold() -> None:
    async with world() as it:
        host, ref = await running_task(it)
        host.drains = False
        it.scheduler.assign(it.worker, "orders", 0)
        await it.until(lambda: bool(host.stopped), "the new generation is known here")

        assert await ask(it, host, ref, 1) == pb.FenceDone(sequence=1)


async def test_a_start_that_is_over_is_stale() -> None:
    async with world() as it:
        host, ref = await running_task(it)

        done = await ask(it, host, pb.TaskRef(connector="orders", task=0, generation=9, start=99), 1)

        assert (done.sequence, done.stale) == (1, True)
        assert await ask(it, host, ref, 2) == pb.FenceDone(sequence=2)


@pytest.mark.parametrize(
    ("failure", "stale", "passes"),
    [
        (FencingFailedError("orders", "connect-orders-0", "not allowed", "Allow it"), False, False),
        (ConfigError("admin.override.retries may not be set", key="admin.override.retries"), False, False),
        (TasksChangedError("orders"), False, True),
        (UnavailableError("no broker answered"), False, True),
        (UnknownConnectorError("orders"), True, False),
    ],
)
async def test_a_failure_is_told_with_what_it_means_for_the_task(
    failure: CopycatError, stale: bool, passes: bool
) -> None:
    async with world() as it:
        host, ref = await running_task(it)
        it.config.fencing = failure

        done = await ask(it, host, ref, 1)

        assert done == pb.FenceDone(sequence=1, error=failure.message, stale=stale, passes=passes)
        it.config.fencing = None
        assert await ask(it, host, ref, 2) == pb.FenceDone(sequence=2)


async def test_a_task_of_a_former_task_set_may_not_begin_and_is_replaced() -> None:
    async with world() as it:
        host, ref = await running_task(it)
        assert await ask(it, host, ref, 1) == pb.FenceDone(sequence=1)
        # Its own configuration stays, so nothing else would restart it.
        it.config.connectors["orders"].task_generation += 1

        changed = await ask(it, host, ref, 2)
        it.config.put("orders", SOURCE, TASKS)
        await it.until(lambda: len(host.started) > 1 or len(it.launcher.hosts) > 1, "a new start")

        assert (changed.passes, changed.stale, bool(changed.error)) == (True, False, True)
        newest = it.launcher.of("orders-0")
        assert newest.started[-1].task.start > ref.start


async def test_a_task_that_never_asked_is_not_restarted_by_a_task_set_that_is_the_same() -> None:
    async with world() as it:
        host, _ = await running_task(it)

        it.config.put("orders", SOURCE, TASKS)
        it.config.put("later", SOURCE, TASKS)
        it.scheduler.assign(it.worker, "later", 0)
        await it.status_is("RUNNING", "later", 0)

        assert [each.task.connector for each in host.started].count("orders") == 1
        assert host.stopped == []


async def test_every_question_has_its_own_answer() -> None:
    async with world() as it:
        host, ref = await running_task(it)

        answers = await asyncio.gather(*(ask(it, host, ref, sequence) for sequence in range(1, 21)))

        assert [each.sequence for each in answers] == list(range(1, 21))
        told = [each.fence_done.sequence for each in host.commands if each.HasField("fence_done")]
        assert sorted(told) == list(range(1, 21))
