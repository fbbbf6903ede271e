"""Hosts of tasks: they die, hang, are full or spare, and what is no host of ours."""

from __future__ import annotations

import asyncio
import time
from functools import partial

import pytest
from copycat.executor.v1.executor_service_pb2 import ListPluginsRequest
from copycat.executor.v1.executor_service_pb2_grpc import ExecutorServiceStub
from copycat.host.v1 import host_service_pb2 as host_pb
from copycat.status.v1.status_service_pb2 import TROUBLE_KIND_HANGS, TROUBLE_KIND_WAITS, Trouble
from copycat.types.v1 import types_pb2
from copycat_executor.domain import deaths
from copycat_executor.domain.deaths import MAX_QUICK_REPEATS
from copycat_executor.tasks import task_events
from copycat_rpc.channel import open_channel
from copycat_rpc.errors import RemoteError
from copycat_rpc.secret import credentials
from grpc.aio import AioRpcError

from tests.contract.executor import world as worlds
from tests.contract.executor.fake_hosts import FakeHost
from tests.contract.executor.world import CLUSTER_SECRET, HOST_TOKEN, SOURCE, raw_host_stub

world = partial(worlds.world, connectors=False)

PAUSED, STARTED = types_pb2.TARGET_STATE_PAUSED, types_pb2.TARGET_STATE_STARTED
FAILED = types_pb2.STATE_FAILED


async def test_a_task_whose_host_is_killed_starts_again_in_another_host() -> None:
    async with world() as it:
        await it.run_task()
        first = it.launcher.of("orders-0")
        first.die()
        await it.until(lambda: it.launcher.of("orders-0") is not first)
        await it.until(partial(has_run, it, 2))
        assert "FAILED" not in it.status.states("orders", 0)


async def test_a_task_that_waits_for_a_place_on_spark_is_unassigned_and_says_so() -> None:
    async with world() as it:
        await it.run_task()
        it.launcher.launches = False
        for host in it.launcher.hosts:
            host.die()
        await it.status_is("UNASSIGNED", "orders", 0)
        await it.until(lambda: bool(it.status.troubles))
        (told,) = it.status.troubles
        assert (told.connector, told.task, told.kind) == ("orders", 0, TROUBLE_KIND_WAITS)
        assert told.generation == it.status.last("orders", 0).generation
        assert told.text.startswith("a place on Spark (")

        it.launcher.launch_waiting()
        await it.status_is("RUNNING", "orders", 0)
        await it.until(lambda: not it.status.troubles)


async def test_what_a_host_says_keeps_its_task_from_moving_is_told_until_it_is_over() -> None:
    async with world() as it:
        await it.run_task()
        host = it.launcher.of("orders-0")
        ref = host.started[-1].task
        trouble = Trouble(kind=TROUBLE_KIND_HANGS, call="put", since_ms=5, text="at here")
        host.say(trouble=host_pb.TaskTrouble(task=ref, trouble=trouble))
        await it.until(lambda: bool(it.status.troubles))
        (told,) = it.status.troubles
        generation = it.status.last("orders", 0).generation
        named = Trouble(connector="orders", task=0, generation=generation)
        named.MergeFrom(trouble)
        assert told == named

        host.say(trouble=host_pb.TaskTrouble(task=ref))
        await it.until(lambda: not it.status.troubles)
        host.say(trouble=host_pb.TaskTrouble(task=ref, trouble=trouble))
        await it.until(lambda: bool(it.status.troubles))
        host.die()
        await it.until(lambda: not it.status.troubles)


def has_run(it: worlds.World, times: int) -> bool:
    return it.status.states("orders", 0).count("RUNNING") == times


def only_host_has_the_task(it: worlds.World, place: int) -> bool:
    """Say whether the host started after `place` others is the last one and was given the task."""
    return [host.refs() for host in it.launcher.hosts[place:]] == [["orders-0"]]


async def test_a_task_whose_hosts_die_again_and_again_is_failed_with_the_reason() -> None:
    async with world() as it:
        await it.run_task()
        for death in range(MAX_QUICK_REPEATS + 1):
            await it.until(partial(has_run, it, death + 1))
            it.launcher.of("orders-0").die("out of memory")
        await it.status_is("FAILED", "orders", 0)
        assert "out of memory" in it.status.trace("orders", 0)
        assert len(it.launcher.hosts) == MAX_QUICK_REPEATS + 1


async def test_a_task_whose_hosts_die_again_and_again_is_left_to_the_healing_policy() -> None:
    async with world() as it:
        await it.run_task(config={**SOURCE, "errors.restart.backoff.ms": "100"})
        for death in range(MAX_QUICK_REPEATS + 1):
            await it.until(partial(has_run, it, death + 1))
            it.launcher.of("orders-0").die("out of memory")
        await it.until(lambda: it.status.states("orders", 0)[-2:] == ["FAILED", "RUNNING"])


async def test_a_silent_host_is_ended_within_a_lease() -> None:
    async with world() as it:
        await it.run_task()
        silent = it.launcher.of("orders-0")
        silent.beats = False
        await it.until(lambda: it.launcher.of("orders-0") is not silent)
        assert it.launcher.killed == [silent.spec.host_id]


async def test_tasks_of_a_process_that_is_gone_go_on_before_whoever_ran_it_knows() -> None:
    async with world(slots=2) as it:
        it.launcher.gone_at_once = True
        await it.run_task("beside")
        await it.run_task("apart")
        await it.run_task()
        crashed = it.launcher.of("orders-0")
        there = {each.task.connector for each in crashed.started}
        assert len(there) == 2
        crashed.life.cancel()  # its stream ends
        for connector in there:
            await it.until(lambda: it.launcher.of(f"{connector}-0") is not crashed)  # noqa: B023
            await it.until(lambda: it.status.states(connector, 0).count("RUNNING") == 2)  # noqa: B023


async def test_hosts_that_are_dead_before_they_take_a_task_are_not_its_doing() -> None:
    async with world() as it:
        await it.run_task()
        it.launcher.takes = False
        for death in range(2 * MAX_QUICK_REPEATS):
            await it.until(partial(only_host_has_the_task, it, death))
            it.launcher.takes = death == 2 * MAX_QUICK_REPEATS - 1
            it.launcher.hosts[death].die()
        await it.until(lambda: it.status.states("orders", 0) == ["RUNNING", "RUNNING"])


async def test_a_task_that_no_host_ever_takes_is_failed() -> None:
    async with world(attaches=False) as it:
        it.config.put("orders", SOURCE, [{"index": "0"}])
        it.scheduler.assign(it.worker, "orders", 0)
        await it.status_is("FAILED", "orders", 0)
        assert "no interpreter" in it.status.trace("orders", 0)


async def test_a_task_that_hangs_in_its_drain_is_ended_with_its_host_after_the_neighbours_left() -> None:
    async with world(slots=1, drain=0.2) as it:
        await it.run_task()
        it.config.put("quiet", SOURCE, [{"index": "0"}])
        it.scheduler.assign(it.worker, "quiet", 0)
        await it.status_is("RUNNING", "quiet", 0)
        shared = it.launcher.of("orders-0")
        assert it.launcher.of("quiet-0") is shared
        shared.drains = False
        it.scheduler.remove("orders", 0)
        await it.until(lambda: len(shared.stopped) == 2, "the neighbour is moved")
        shared.state(shared.started[1].task, types_pb2.STATE_UNASSIGNED)
        await it.until(lambda: it.launcher.killed == [shared.spec.host_id])
        await it.until(lambda: it.launcher.of("quiet-0") is not shared)
        await it.until(lambda: list(it.scheduler.held) == [("quiet", 0)])


def hang(host: FakeHost) -> None:
    """Have a host say that a call of the connector `hangs` was given up."""
    ref = next(each.task for each in reversed(host.started) if each.task.connector == "hangs")
    failure = {"trace": "hung", "stage": "POLL", "failure_kind": "transient", "hangs": True}
    host.state(ref, FAILED, **failure)


async def test_a_host_in_which_a_call_hangs_is_ended_once_the_neighbours_have_moved() -> None:
    async with world(slots=3) as it:
        for name in ("a", "b", "c"):
            await it.run_task(name)
        await it.run_task("hangs", {**SOURCE, "errors.restart.backoff.ms": "100"})
        shared = it.launcher.of("hangs-0")
        (neighbour,) = [name for name in ("a-0", "b-0", "c-0") if it.launcher.of(name) is shared]
        shared.drains = False
        hang(shared)
        await it.status_is("FAILED", "hangs", 0)
        await it.until(lambda: len(shared.stopped) == 1, "the neighbour is moved")
        assert it.launcher.killed == []
        shared.state(shared.stopped[0].task, types_pb2.STATE_UNASSIGNED)
        await it.until(lambda: it.launcher.killed == [shared.spec.host_id])
        await it.until(lambda: it.launcher.of(neighbour) is not shared)
        await it.status_is("RUNNING", "hangs", 0)
        hang(it.launcher.of("hangs-0"))
        await it.until(lambda: it.status.states("hangs", 0).count("RUNNING") == 3)
        assert it.launcher.of("hangs-0").refs() == ["hangs-0"], "the second time it has a host for itself"


async def test_a_task_that_finds_no_slot_of_its_own_makes_shared_ones_move() -> None:
    async with world(slots=2) as it:
        for name in ("a", "b"):
            await it.run_task(name)
        it.config.put("alone", {**SOURCE, "isolation": "task"}, [{"index": "0"}])
        it.scheduler.assign(it.worker, "alone", 0)
        await it.status_is("RUNNING", "alone", 0)
        await it.until(lambda: it.launcher.of("a-0") is it.launcher.of("b-0"))
        assert it.launcher.of("alone-0").refs() == ["alone-0"]


async def test_tasks_whose_shared_hosts_died_all_find_a_place_again() -> None:
    async with world(slots=2) as it:
        for name in ("a", "b", "c", "d"):
            await it.run_task(name)
        for host in {it.launcher.of(f"{name}-0") for name in ("a", "b", "c", "d")}:
            host.die()
        for name in ("a", "b", "c", "d"):
            await it.until(lambda: it.status.states(name, 0).count("RUNNING") == 2, f"{name} again")  # noqa: B023
            assert "FAILED" not in it.status.states(name, 0)


async def test_a_spare_host_takes_the_next_task_and_is_replaced() -> None:
    async with world(spares=1) as it:
        await it.until(lambda: len(it.launcher.hosts) == 1)
        spare = it.launcher.hosts[0]
        await it.run_task()
        assert it.launcher.of("orders-0") is spare
        assert len(it.launcher.hosts) == 2


@pytest.mark.parametrize(
    ("secret", "refusal"),
    [("", "without a secret"), ("guess", "another secret"), (CLUSTER_SECRET, "another secret")],
)
async def test_a_process_without_the_token_is_no_host(secret: str, refusal: str) -> None:
    async with world() as it:
        channel, stub = raw_host_stub(it.worker)
        async with channel:
            with pytest.raises(AioRpcError, match=refusal):
                await anext(aiter(stub.Attach(None, metadata=credentials(secret))))


async def test_a_process_with_the_token_that_nobody_waits_for_is_no_host() -> None:
    async with world() as it:
        channel, stub = raw_host_stub(it.worker)
        async with channel:
            call = stub.Attach(None, metadata=credentials(HOST_TOKEN))
            await call.write(host_pb.AttachRequest(hello=host_pb.Hello(host_id="stranger")))
            with pytest.raises(AioRpcError, match="no host this executor waits for"):
                await anext(aiter(call))


async def test_the_token_of_hosts_opens_nothing_else() -> None:
    async with world(spares=1) as it, open_channel([it.worker], secret=HOST_TOKEN) as channel:
        with pytest.raises(RemoteError, match="another secret"):
            await ExecutorServiceStub(channel).ListPlugins(ListPluginsRequest())


async def test_hosts_that_never_attach_are_not_launched_in_a_tight_loop() -> None:
    began = time.monotonic()
    async with world(spares=1, attaches=False) as it:
        await it.until(lambda: len(it.launcher.hosts) == 3)
        assert time.monotonic() - began > 0.4
        it.launcher.attaches = True
        await it.run_task()


def host_of(it: worlds.World, name: str) -> FakeHost | None:
    """The host that runs a connector's task now."""
    for host in it.launcher.hosts:
        stopped = [each.task.connector for each in host.stopped]
        if not host.life.done() and host.refs().count(f"{name}-0") > stopped.count(name):
            return host
    return None


def runs_now(it: worlds.World, name: str) -> bool:
    """Say whether the last start of a connector's task was reported."""
    starts = sum(host.refs().count(f"{name}-0") for host in it.launcher.hosts)
    return host_of(it, name) is not None and it.status.states(name, 0).count("RUNNING") == starts


async def crashes(it: worlds.World, culprit: str, names: list[str], deaths: int) -> None:
    """Have the host of a task die whenever all of them run, so many times, or until the task fails."""

    def failed() -> bool:
        return it.status.states(culprit, 0)[-1] == "FAILED"

    for _ in range(deaths):
        await it.until(lambda: failed() or all(runs_now(it, name) for name in names), "all run")
        host = host_of(it, culprit)
        if failed() or host is None:
            return
        host.die("exit code 7")
        await it.until(host.life.done, "it is dead")


@pytest.mark.parametrize("slots", [2, 3])
async def test_of_tasks_that_share_a_host_only_the_one_that_dies_alone_is_failed(slots: int) -> None:
    names = ["a", "b", "c", "d"]
    async with world(slots=slots) as it:
        for name in names:
            await it.run_task(name, {**SOURCE, "errors.restart": "off", "isolation": "shared"})
        assert it.launcher.of("a-0") is it.launcher.of("d-0")
        await crashes(it, "a", names, 1)
        await it.until(lambda: all(runs_now(it, name) for name in names), "all run again")
        # Whoever is not kept apart at first is the culprit.
        hosts = [host_of(it, name) for name in names]
        culprit = next(name for name, host in zip(names, hosts, strict=True) if hosts.count(host) > 1)
        await crashes(it, culprit, names, 8 * MAX_QUICK_REPEATS)
        await it.status_is("FAILED", culprit, 0)
        assert f"The host of task {culprit}-0 died again and again" in it.status.trace(culprit, 0)
        for name in set(names) - {culprit}:
            assert "FAILED" not in it.status.states(name, 0)
            await it.status_is("RUNNING", name, 0)


async def test_tasks_that_can_only_share_are_never_failed_for_their_neighbour() -> None:
    names = ["a", "b"]
    async with world(slots=1) as it:
        for name in names:
            await it.run_task(name, {**SOURCE, "errors.restart": "off"})
        await crashes(it, "a", names, MAX_QUICK_REPEATS + 2)
        for name in names:
            await it.status_is("RUNNING", name, 0)
            assert "FAILED" not in it.status.states(name, 0)


async def test_tasks_whose_host_died_long_ago_share_hosts_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deaths, "MEMORY_SECONDS", 2.0)
    monkeypatch.setattr(task_events, "FORGOTTEN_AFTER_SECONDS", 2.1)
    config = {**SOURCE, "isolation": "shared"}
    names = ["a", "b", "c"]
    async with world(slots=4) as it:
        for name in names:
            await it.run_task(name, config)
        await crashes(it, "a", names, 1)
        await it.until(lambda: all(runs_now(it, name) for name in names), "all run again")

        def shares(name: str) -> bool:
            host = host_of(it, name)
            return host is not None and len(host.refs()) > 1

        others, until = 0, asyncio.get_running_loop().time() + worlds.DEADLINE
        while not all(shares(name) for name in names):
            assert asyncio.get_running_loop().time() < until, "they stay apart for ever"
            await it.run_task(f"other{others}", config)
            others += 1
            await asyncio.sleep(0.1)
