"""Whether a task that delivers exactly once may begin: asked by its host, answered by one FenceDone."""

from __future__ import annotations

import asyncio

import pytest
from copycat.host.v1 import host_service_pb2 as pb
from copycat.scheduler.v1 import scheduler_service_pb2 as scheduler_pb
from copycat_config.domain.errors import FencingFailedError, TasksChangedError, UnknownConnectorError
from copycat_connect.errors import ConfigError, CopycatError, UnavailableError

from tests.contract.executor.fake_hosts import FakeHost
from tests.contract.executor.world import SOURCE, World, world

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
    async with world(connectors=False) as it:
        host, ref = await running_task(it)

        answers = [await ask(it, host, ref, sequence) for sequence in (1, 2)]

        assert answers == [pb.FenceDone(sequence=1), pb.FenceDone(sequence=2)]
        assert it.config.fenced == ["orders", "orders"]


@pytest.mark.parametrize(("worker", "newer"), [("other:1", 0), ("other:1", 1), ("", 1)])
async def test_a_start_that_the_scheduler_has_replaced_is_stale_though_nobody_here_has_heard_of_it(
    worker: str, newer: int
) -> None:
    async with world(connectors=False) as it:
        host, ref = await running_task(it)
        it.scheduler.newest[("orders", 0)] = assignment(worker or it.worker, ref.generation + newer)

        done = await ask(it, host, ref, 1)

        assert (done.stale, done.passes, bool(done.error)) == (True, False, True)
        assert it.config.fenced == []


async def test_a_task_that_is_to_run_nowhere_is_stale() -> None:
    async with world(connectors=False) as it:
        host, ref = await running_task(it)
        del it.scheduler.assignments[("orders", 0)]

        assert (await ask(it, host, ref, 1)).stale


async def test_a_start_goes_on_under_a_newer_generation_of_the_same_hold() -> None:
    async with world(connectors=False) as it:
        host, ref = await running_task(it)
        host.drains = False
        it.scheduler.assign(it.worker, "orders", 0)
        await it.until(lambda: bool(host.stopped), "the new generation is known here")

        assert await ask(it, host, ref, 1) == pb.FenceDone(sequence=1)


async def test_a_start_that_is_over_is_stale() -> None:
    async with world(connectors=False) as it:
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
    async with world(connectors=False) as it:
        host, ref = await running_task(it)
        it.config.fencing = failure

        done = await ask(it, host, ref, 1)

        assert done == pb.FenceDone(sequence=1, error=failure.message, stale=stale, passes=passes)
        it.config.fencing = None
        assert await ask(it, host, ref, 2) == pb.FenceDone(sequence=2)


async def test_a_task_of_a_former_task_set_may_not_begin_and_is_replaced() -> None:
    async with world(connectors=False) as it:
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
    async with world(connectors=False) as it:
        host, _ = await running_task(it)

        it.config.put("orders", SOURCE, TASKS)
        it.config.put("later", SOURCE, TASKS)
        it.scheduler.assign(it.worker, "later", 0)
        await it.status_is("RUNNING", "later", 0)

        assert [each.task.connector for each in host.started].count("orders") == 1
        assert host.stopped == []


async def test_every_question_has_its_own_answer() -> None:
    async with world(connectors=False) as it:
        host, ref = await running_task(it)

        answers = await asyncio.gather(*(ask(it, host, ref, sequence) for sequence in range(1, 21)))

        assert [each.sequence for each in answers] == list(range(1, 21))
        told = [each.fence_done.sequence for each in host.commands if each.HasField("fence_done")]
        assert sorted(told) == list(range(1, 21))
