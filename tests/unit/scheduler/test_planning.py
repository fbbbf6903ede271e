"""Plans: under anything that may happen to a cluster, and beside the streams of the workers."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any, cast

from copycat_connect.cluster import Instance, TopicPartition
from copycat_eventlog.memory import MemoryLog
from copycat_rpc.pace import LONGEST_PAUSE_SECONDS, LoopPace
from copycat_scheduler.adapters.event_sourced import event_sourced
from copycat_scheduler.adapters.inputs import Inputs
from copycat_scheduler.adapters.planning import Planning, Wakeups
from copycat_scheduler.adapters.workers import LiveWorkers
from copycat_scheduler.domain.commands import DesiredConnector, Reschedule
from copycat_scheduler.domain.leases import Leases
from copycat_scheduler.domain.state import SchedulerState
from copycat_testkit.simulated import let_pass, simulated
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule

from tests.unit.scheduler.cluster import Cluster, Worker

NAMES = st.sampled_from(["a", "b", "c", "d", "e"])
WORKERS = st.sampled_from(["w0", "w1", "w2", "w3"])
TASKS = st.integers(0, 5)
TOPICS = st.dictionaries(st.sampled_from("stu"), st.integers(1, 5))


class Life(RuleBasedStateMachine):
    """Every plan is checked by the cluster: nothing is given to a second worker or read twice."""

    def __init__(self) -> None:
        super().__init__()
        self.cluster = Cluster()

    @rule(name=NAMES, tasks=TASKS)
    def configure_a_source(self, name: str, tasks: int) -> None:
        self.cluster.desired[name] = DesiredConnector(tasks)

    @rule(name=NAMES, tasks=TASKS, topics=st.none() | TOPICS)
    def configure_a_sink(self, name: str, tasks: int, topics: dict[str, int] | None) -> None:
        known = None
        if topics is not None:
            known = tuple(TopicPartition(t, p) for t in sorted(topics) for p in range(topics[t]))
        self.cluster.desired[name] = DesiredConnector(tasks, known)

    @rule(name=NAMES)
    def delete(self, name: str) -> None:
        self.cluster.desired.pop(name, None)

    @rule(name=WORKERS)
    def join(self, name: str) -> None:
        self.cluster.absent.discard(name)
        self.cluster.workers.setdefault(name, Worker())

    @precondition(lambda self: self.cluster.workers)
    @rule(data=st.data(), absent=st.booleans(), leaving=st.booleans())
    def lose_a_worker(self, data: st.DataObject, absent: bool, leaving: bool) -> None:
        name = data.draw(st.sampled_from(sorted(self.cluster.workers)))
        if leaving:
            self.cluster.workers[name].leaving = True
            return
        self.cluster.kill(name)
        if absent:
            self.cluster.absent.add(name)

    @rule()
    def give_up_waiting(self) -> None:
        self.cluster.absent.clear()

    @rule()
    def plan(self) -> None:
        self.cluster.plan()

    @precondition(lambda self: self.cluster.workers)
    @rule(data=st.data())
    def follow(self, data: st.DataObject) -> None:
        self.cluster.follow(data.draw(st.sampled_from(sorted(self.cluster.workers))))

    @rule()
    def settle(self) -> None:
        self.cluster.settle()
        assert self.cluster.plan() == ()
        self._balanced()
        self._complete()

    def _balanced(self) -> None:
        # Tasks that wait for their partitions have places kept for them.
        known = all(each.partitions is not None for each in self.cluster.desired.values())
        for tasks in (False, True) if known else (False,):
            loads = self.cluster.loads(tasks=tasks)
            assert max(loads, default=0) - min(loads, default=0) < 2

    def _complete(self) -> None:
        cluster = self.cluster
        taking = [name for name, worker in cluster.workers.items() if not worker.leaving]
        wanted = {Instance(name) for name in cluster.desired}
        wanted |= {
            Instance(name, task)
            for name, each in cluster.desired.items()
            for task in range(each.tasks)
            if each.partitions is not None or Instance(name, task) in cluster.state.assignments
        }
        places = {each.worker_id for each in cluster.state.assignments.values()}
        assert places <= {*taking, *cluster.absent}
        if taking:
            assert set(cluster.state.assignments) == wanted
            self._all_is_read()

    def _all_is_read(self) -> None:
        for name, each in self.cluster.desired.items():
            if each.tasks and each.partitions is not None:
                tasks = [self.cluster.state.assignments[Instance(name, task)] for task in range(each.tasks)]
                assert sorted(p for task in tasks for p in task.partitions) == sorted(each.partitions)
                sizes = [len(task.partitions) for task in tasks]
                assert max(sizes) - min(sizes) < 2


TestLife = Life.TestCase
TestLife.settings = settings(stateful_step_count=40)


PLAN_SECONDS = 0.05
PLANS = 5


class SlowInputs:
    """What a plan of a large cluster is made from: it takes a while to look at, and changes all the time."""

    def __init__(self, wakeups: Wakeups) -> None:
        self.statuses = SimpleNamespace(highest=0, running={})
        self.connectors = SimpleNamespace(spans=SimpleNamespace(of=lambda _: ""))
        self.looked: list[float] = []
        self.enough = asyncio.Event()
        self._wakeups = wakeups

    def want_topics(self) -> None:
        """Want nothing."""

    def suffice(self, *_: Any) -> bool:
        """Suffice always."""
        return True

    def world(self, *_: Any) -> Reschedule:
        """Look at everything."""
        self.looked.append(asyncio.get_running_loop().time())
        let_pass(PLAN_SECONDS)
        self._wakeups.plan.set()
        if len(self.looked) == PLANS:
            self.enough.set()
        return Reschedule({}, frozenset())


@simulated
async def test_plans_that_take_long_leave_most_of_the_time_to_others() -> None:
    wakeups = Wakeups()
    inputs = SlowInputs(wakeups)
    events = event_sourced(MemoryLog())
    await events.start()
    workers = LiveWorkers(events, wakeups.plan.set, lease_seconds=10, delay_seconds=0)
    rebalances = cast(Any, SimpleNamespace(planned=lambda *_, **__: None))
    planning = Planning(
        events, workers, cast(Inputs, inputs), wakeups, rebalances, acts=cast(Any, SimpleNamespace())
    )
    running = asyncio.create_task(planning.run())
    async with asyncio.timeout(60):
        await inputs.enough.wait()
    running.cancel()
    await asyncio.wait([running])
    pauses = [later - before for before, later in zip(inputs.looked, inputs.looked[1:], strict=False)]
    assert min(pauses) >= 5 * PLAN_SECONDS * 0.99


@simulated
async def test_nothing_waits_long_after_a_plan_that_took_long() -> None:
    pace = LoopPace(0.02)
    pace.begin()
    let_pass(3 * PLAN_SECONDS)  # it blocks the loop, as a plan does
    await asyncio.sleep(0)
    assert 11 * PLAN_SECONDS < pace.pause() <= LONGEST_PAUSE_SECONDS
    pace.begin()
    let_pass(20 * PLAN_SECONDS)
    await asyncio.sleep(0)
    assert pace.pause() <= LONGEST_PAUSE_SECONDS


WORKER = "worker:8083"


class InputsOfALargeCluster:
    """Looking at everything lasts until what the lost worker ran has ended."""

    def __init__(self) -> None:
        self.statuses = SimpleNamespace(highest=0, running={Instance("orders"): WORKER})
        self.connectors = SimpleNamespace(spans=SimpleNamespace(of=lambda _: ""))
        self.planned_without = asyncio.Event()

    def want_topics(self) -> None:
        """Want nothing."""

    def suffice(self, *_: Any) -> bool:
        """Suffice always."""
        return True

    def world(self, _state: SchedulerState, leases: Leases, _generation: int, now: float) -> Reschedule:
        """Look at everything."""
        if WORKER not in leases.sessions and not leases.expected(WORKER, now):
            self.planned_without.set()
        while leases.expected(WORKER, asyncio.get_running_loop().time()):
            let_pass(0.1)
        return Reschedule({}, frozenset())


@simulated
async def test_what_ends_while_a_plan_is_made_is_planned_for_right_after_it() -> None:
    wakeups, inputs = Wakeups(), InputsOfALargeCluster()
    events = event_sourced(MemoryLog())
    await events.start()
    workers = LiveWorkers(events, wakeups.plan.set, lease_seconds=3600, delay_seconds=0)
    await events.lead()
    workers.beat(WORKER, {}, leaving=False)
    planning = Planning(
        events,
        workers,
        cast(Inputs, inputs),
        wakeups,
        cast(Any, SimpleNamespace(planned=lambda *_, **__: None)),
        acts=cast(Any, SimpleNamespace()),
    )
    workers.died(WORKER, asyncio.get_running_loop().time())
    wakeups.plan.clear()  # time alone is to wake it
    running = asyncio.create_task(planning.run())
    async with asyncio.timeout(60):
        await inputs.planned_without.wait()
    running.cancel()
    await asyncio.wait([running])
