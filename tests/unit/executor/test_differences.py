"""A look at what changed finds what a look at everything finds, whatever came before it."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from copycat.config.v1 import config_service_pb2 as config_pb
from copycat.scheduler.v1 import scheduler_service_pb2 as scheduler_pb
from copycat_connect.cluster import Instance, TargetState
from copycat_executor import peers
from copycat_executor.background import ChangeSignal
from copycat_executor.domain.desired import AssignedGeneration, Configured, assign, desired
from copycat_executor.domain.reconcile import (
    Action,
    ConnectorToStart,
    ConnectorToStop,
    PublishTasks,
    SetConnectorTarget,
    SetTaskTarget,
    StartTask,
    StopTask,
    connector_of,
    reconcile,
)
from copycat_executor.domain.running import Phase, RunningConnector, RunningTask
from copycat_executor.metrics.worker_meter import WorkerMeter
from copycat_executor.state.differences import Differences
from copycat_executor.state.feed import Feed
from copycat_executor.state.lease import WorkerLease
from copycat_executor.state.runs import Runs
from copycat_rpc.messages import config_to_proto, instance_to_proto, target_state_to_proto
from copycat_telemetry.metrics.sampled import Windows
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

ME, OTHER = "me:8083", "other:8083"
NAMES = st.sampled_from("ab")
EVERYTHING = [Instance(name, task) for name in "ab" for task in (None, 0, 1)]
INSTANCES = st.sampled_from(EVERYTHING)
PHASES = st.sampled_from(Phase)


@st.composite
def connectors(draw: st.DrawFn) -> config_pb.Connector:
    """Any state of a connector as the config service describes it."""
    configs = [config_to_proto({"v": value}) for value in draw(st.lists(st.sampled_from("12"), max_size=2))]
    return config_pb.Connector(
        name=draw(NAMES),
        config=config_to_proto({"v": draw(st.sampled_from("12"))}),
        target_state=target_state_to_proto(draw(st.sampled_from(TargetState))),
        tasks=configs,
        tasks_outdated=draw(st.booleans()),
    )


def _assignment(instance: Instance, worker: str, generation: int) -> scheduler_pb.Assignment:
    return scheduler_pb.Assignment(
        instance=instance_to_proto(instance), worker_id=worker, generation=generation
    )


ASSIGNMENTS = st.builds(_assignment, INSTANCES, st.sampled_from([ME, ME, OTHER]), st.integers(1, 3))


class Changes(RuleBasedStateMachine):
    """A worker of which anything may change, and beside it what a look at everything would be made from."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0
        self.lease = WorkerLease(lambda: self.now)
        self.feed = Feed(ME, ChangeSignal(), self.lease)
        self.runs = Runs(ChangeSignal(), WorkerMeter(Windows(), clock=lambda: 0.0, wall=lambda: 0.0))
        self.differences = Differences(self.feed, self.runs)
        self.configured: dict[str, Configured] = {}
        self.assigned: dict[Instance, AssignedGeneration] = {}

    @initialize()
    def join(self) -> None:
        """Begin where everything runs here."""
        one = config_to_proto({"v": "1"})
        self.all_connectors([config_pb.Connector(name=name, config=one, tasks=[one, one]) for name in "ab"])
        self.come_back([_assignment(instance, ME, 1) for instance in EVERYTHING])
        self.rest()

    @rule(found=st.lists(connectors(), unique_by=lambda each: each.name), often=st.integers(0, 5))
    def all_connectors_anew(self, found: list[config_pb.Connector], often: int) -> None:
        if not often:
            self.all_connectors(found)

    def all_connectors(self, found: list[config_pb.Connector]) -> None:
        self.feed.connectors([config_pb.WatchConnectorsResponse(connector=each) for each in found])
        self.configured = {each.name: peers.configured(each) for each in found}

    @rule(connector=connectors())
    def connector_changes(self, connector: config_pb.Connector) -> None:
        self.feed.connector_changed(config_pb.WatchConnectorsResponse(connector=connector))
        self.configured[connector.name] = peers.configured(connector)

    @rule(name=NAMES)
    def connector_is_removed(self, name: str) -> None:
        self.feed.connector_changed(config_pb.WatchConnectorsResponse(removed=name))
        self.configured.pop(name, None)

    @rule(assignment=ASSIGNMENTS)
    def is_assigned(self, assignment: scheduler_pb.Assignment) -> None:
        self.feed.assignment_changed(scheduler_pb.WatchAssignmentsResponse(assignment=assignment))
        instance = _instance(assignment)
        before = self.assigned.get(instance)
        self.assigned[instance] = assign(before, assignment.worker_id, assignment.generation, ())

    @rule(instance=INSTANCES)
    def is_unassigned(self, instance: Instance) -> None:
        removed = scheduler_pb.WatchAssignmentsResponse(removed=instance_to_proto(instance))
        self.feed.assignment_changed(removed)
        self.assigned.pop(instance, None)

    @rule(found=st.lists(ASSIGNMENTS, unique_by=lambda each: str(each.instance)), often=st.integers(0, 5))
    def lapse(self, found: list[scheduler_pb.Assignment], often: int) -> None:
        """Now and then the scheduler does not answer; what was assigned is not known until it is back."""
        if often:
            return
        self.now += 100.0
        assert not self.lease.holds()
        self.feed.forget_assignments()
        self.assigned = {}
        assert self.differences.due() == ()
        self.come_back(found)

    def come_back(self, found: list[scheduler_pb.Assignment]) -> None:
        self.lease.renewed(self.now, 50.0)
        self.lease.assignments_known(self.lease.lapses)
        self.feed.assignments([scheduler_pb.WatchAssignmentsResponse(assignment=each) for each in found])
        self.assigned = {
            _instance(each): AssignedGeneration(each.worker_id, each.generation, 0) for each in found
        }

    @rule(name=NAMES, phase=PHASES, restart=st.booleans(), publish=st.booleans())
    def connector_runs_otherwise(self, name: str, phase: Phase, restart: bool, publish: bool) -> None:
        self.runs.connector(name).change(phase=phase, restart=restart, publish_due=publish)

    @rule(instance=INSTANCES, phase=PHASES, restart=st.booleans(), moving=st.booleans())
    def task_runs_otherwise(self, instance: Instance, phase: Phase, restart: bool, moving: bool) -> None:
        if instance.task is not None:
            self.runs.task(instance).change(phase=phase, restart=restart, moving=moving)

    @rule(instance=INSTANCES)
    def has_ended(self, instance: Instance) -> None:
        if instance.task is None:
            self.runs.connector(instance.connector).leave()
        else:
            self.runs.task(instance).leave()

    @rule(without=st.sets(NAMES, max_size=1))
    def look(self, without: set[str]) -> None:
        """Compare both looks, then carry out what they say; of some connectors nothing comes of it."""
        due = self.differences.due()
        wanted = desired(self.configured, self.assigned, ME)
        assert Counter(map(repr, due)) == Counter(map(repr, reconcile(wanted, self.runs.running())))
        here = {Instance(name) for name in wanted.connectors} | set(wanted.tasks)
        assert {each for each in EVERYTHING if self.feed.wants(each)} == here
        for action in due:
            if connector_of(action) not in without:
                self._perform(action)

    @rule()
    def rest(self) -> None:
        """Look until nothing is left to be looked at."""
        for _ in range(4):
            self.look(set())

    def _perform(self, action: Action) -> None:
        match action:
            case ConnectorToStart(w):
                runs = RunningConnector(w.config, w.generation, w.target, Phase.SETTLED, publish_due=True)
                self.runs.connector(w.name).enter(runs)
            case SetConnectorTarget(name, target):
                self.runs.connector(name).change(target=target)
            case PublishTasks(name):
                self.runs.connector(name).change(publish_due=False)
            case ConnectorToStop(name):
                self.runs.connector(name).leave()
            case StartTask(t):
                runs_task = RunningTask(
                    t.connector_config, t.task_config, t.partitions, t.generation, t.target
                )
                self.runs.task(t.instance).enter(replace(runs_task, phase=Phase.SETTLED))
            case SetTaskTarget(instance, target):
                self.runs.task(instance).change(target=target)
            case StopTask(instance):
                self.runs.task(instance).leave()


def _instance(assignment: scheduler_pb.Assignment) -> Instance:
    task = assignment.instance.task if assignment.instance.HasField("task") else None
    return Instance(assignment.instance.connector, task)


TestChanges = Changes.TestCase
