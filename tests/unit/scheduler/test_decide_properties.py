"""The plan under anything that may happen to a cluster, in any order and at any pace."""

from copycat_connect.cluster import Instance, TopicPartition
from copycat_scheduler.domain.commands import Desired
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
        self.cluster.desired[name] = Desired(tasks)

    @rule(name=NAMES, tasks=TASKS, topics=st.none() | TOPICS)
    def configure_a_sink(self, name: str, tasks: int, topics: dict[str, int] | None) -> None:
        known = None
        if topics is not None:
            known = tuple(TopicPartition(t, p) for t in sorted(topics) for p in range(topics[t]))
        self.cluster.desired[name] = Desired(tasks, known)

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
