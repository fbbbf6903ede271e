"""What is wanted, and the actions that lead there from whatever runs, until nothing is left to do."""

from __future__ import annotations

from dataclasses import replace

import pytest
from copycat_connect.cluster import Instance, TargetState, TopicPartition
from copycat_executor.domain.desired import (
    NOTHING,
    AssignedGeneration,
    Configured,
    DesiredWork,
    WantedConnector,
    WantedTask,
    assign,
    desired,
    generation_for,
)
from copycat_executor.domain.reconcile import (
    Action,
    ConnectorToStart,
    ConnectorToStop,
    PublishTasks,
    SetConnectorTarget,
    SetTaskTarget,
    StartTask,
    StopTask,
    reconcile,
)
from copycat_executor.domain.running import (
    Phase,
    Running,
    RunningConnector,
    RunningTask,
    instances_to_restart,
)
from hypothesis import given
from hypothesis import strategies as st

ME = "127.0.0.1:9105"
OTHER = "127.0.0.1:9205"


def configured(target: TargetState = TargetState.STARTED, tasks: int = 1) -> dict[str, Configured]:
    config = {"name": "orders"}
    return {"orders": Configured("orders", config, target, tuple({"task": str(i)} for i in range(tasks)))}


def test_an_assignment_without_a_configuration_is_not_wanted() -> None:
    assigned = {Instance("orders"): assign(None, ME, 3, ())}
    assert desired({}, assigned, ME).connectors == {}


def test_an_assignment_of_another_worker_is_not_wanted() -> None:
    assigned = {
        Instance("orders"): assign(None, OTHER, 3, ()),
        Instance("orders", 0): assign(None, OTHER, 4, ()),
    }
    found = desired(configured(), assigned, ME)
    assert (found.connectors, found.tasks) == ({}, {})


def test_a_task_beyond_the_committed_set_is_not_wanted() -> None:
    assigned = {Instance("orders", 1): assign(None, ME, 3, ())}
    assert desired(configured(tasks=1), assigned, ME).tasks == {}


def test_a_stopped_connector_is_wanted_but_its_tasks_are_not() -> None:
    assigned = {Instance("orders"): assign(None, ME, 3, ()), Instance("orders", 0): assign(None, ME, 4, ())}
    found = desired(configured(TargetState.STOPPED), assigned, ME)
    assert list(found.connectors) == ["orders"]
    assert found.tasks == {}


def test_a_new_generation_on_the_same_worker_continues_its_hold() -> None:
    second = assign(assign(None, ME, 3, ()), ME, 7, (TopicPartition("t", 0),))
    assert second == AssignedGeneration(ME, 7, since=3, partitions=(TopicPartition("t", 0),))
    assert generation_for(3, second, ME) == 7


def test_progress_made_before_another_worker_held_the_task_keeps_its_old_generation() -> None:
    back = assign(assign(assign(None, ME, 3, ()), OTHER, 5, ()), ME, 7, ())
    assert generation_for(3, back, ME) == 3


def test_progress_of_a_task_no_longer_assigned_here_keeps_its_generation() -> None:
    assert generation_for(3, None, ME) == 3
    assert generation_for(3, assign(None, OTHER, 5, ()), ME) == 3


CONFIG = {"name": "orders", "tasks.max": "1"}
TASK = Instance("orders", 0)


def wanted(
    target: TargetState = TargetState.STARTED, *, publish: bool = False, generation: int = 1
) -> WantedConnector:
    return WantedConnector("orders", CONFIG, target, generation, publish)


def wanted_task(target: TargetState = TargetState.STARTED, **changes: object) -> WantedTask:
    task = WantedTask(TASK, CONFIG, {"task": "0"}, 1, target, 2, (), settled=True)
    return replace(task, **changes)  # type: ignore[arg-type]


def runs(phase: Phase = Phase.SETTLED, target: TargetState = TargetState.STARTED) -> RunningConnector:
    return RunningConnector(CONFIG, 1, target, phase)


def runs_task(phase: Phase = Phase.SETTLED, target: TargetState = TargetState.STARTED) -> RunningTask:
    return RunningTask(CONFIG, {"task": "0"}, (), 2, target, phase)


def of_connector(connector: WantedConnector, running: RunningConnector | None) -> tuple[object, ...]:
    present = {} if running is None else {"orders": running}
    return reconcile(DesiredWork({"orders": connector}, {}), Running(present, {}))


def of_task(task: WantedTask, running: RunningTask | None) -> tuple[object, ...]:
    present = {} if running is None else {TASK: running}
    return reconcile(DesiredWork({}, {TASK: task}), Running({}, present))


def test_what_is_wanted_and_absent_is_started() -> None:
    assert of_connector(wanted(), None) == (ConnectorToStart(wanted()),)
    assert of_task(wanted_task(), None) == (StartTask(wanted_task()),)


def test_what_is_as_wanted_is_left_alone() -> None:
    assert of_connector(wanted(), runs()) == ()
    assert of_task(wanted_task(), runs_task()) == ()


def test_what_is_no_longer_wanted_is_stopped_once() -> None:
    running = Running({"orders": runs()}, {TASK: runs_task()})
    assert reconcile(NOTHING, running) == (ConnectorToStop("orders"), StopTask(TASK))
    stopping = Running({"orders": runs(Phase.STOPPING)}, {TASK: runs_task(Phase.STOPPING)})
    assert reconcile(NOTHING, stopping) == ()


@pytest.mark.parametrize(
    "changed",
    [replace(runs(), config={"name": "x"}), replace(runs(), generation=0), replace(runs(), restart=True)],
)
@pytest.mark.parametrize("phase", [Phase.STARTING, Phase.SETTLED, Phase.FAILED])
def test_a_connector_that_changed_is_stopped_in_any_phase(changed: RunningConnector, phase: Phase) -> None:
    assert of_connector(wanted(), replace(changed, phase=phase)) == (ConnectorToStop("orders"),)


def test_a_connector_follows_its_target_state() -> None:
    assert of_connector(wanted(TargetState.PAUSED), runs()) == (
        SetConnectorTarget("orders", TargetState.PAUSED),
    )


def test_a_connector_that_starts_or_changes_is_let_finish_first() -> None:
    assert of_connector(wanted(TargetState.PAUSED), runs(Phase.STARTING)) == ()
    assert of_connector(wanted(TargetState.PAUSED), replace(runs(), changing=True)) == ()


def test_a_failed_connector_can_only_be_stopped() -> None:
    assert of_connector(wanted(TargetState.PAUSED), runs(Phase.FAILED)) == ()
    assert of_connector(wanted(TargetState.STOPPED), runs(Phase.FAILED)) == (
        SetConnectorTarget("orders", TargetState.STOPPED),
    )


def test_tasks_are_published_when_due_or_when_the_set_in_force_is_not_whole() -> None:
    assert of_connector(wanted(), replace(runs(), publish_due=True)) == (PublishTasks("orders"),)
    assert of_connector(wanted(publish=True), runs()) == (PublishTasks("orders"),)


def test_tasks_are_not_published_twice_at_a_time_nor_by_a_connector_that_does_not_run() -> None:
    assert of_connector(wanted(publish=True), replace(runs(), publishing=True)) == ()
    assert of_connector(wanted(TargetState.PAUSED, publish=True), runs(target=TargetState.PAUSED)) == ()
    assert of_connector(wanted(publish=True), runs(Phase.FAILED)) == ()


def test_a_task_is_paused_even_while_it_starts() -> None:
    for phase in (Phase.STARTING, Phase.SETTLED):
        assert of_task(wanted_task(TargetState.PAUSED), runs_task(phase)) == (
            SetTaskTarget(TASK, TargetState.PAUSED),
        )


def test_a_failed_task_is_never_started_again_by_itself() -> None:
    assert of_task(wanted_task(), runs_task(Phase.FAILED)) == ()
    assert of_task(wanted_task(TargetState.PAUSED), runs_task(Phase.FAILED)) == ()


def test_a_failed_task_starts_again_with_a_new_configuration() -> None:
    assert of_task(wanted_task(task_config={"task": "1"}), runs_task(Phase.FAILED)) == (StopTask(TASK),)


def test_a_running_task_keeps_its_configuration_until_the_new_task_set_is_published() -> None:
    changed = {"name": "orders", "transforms": "a"}
    assert of_task(wanted_task(connector_config=changed, settled=False), runs_task()) == ()
    assert of_task(wanted_task(connector_config=changed), runs_task()) == (StopTask(TASK),)


def test_a_sink_task_with_other_partitions_is_restarted() -> None:
    assert of_task(wanted_task(partitions=(TopicPartition("t", 0),)), runs_task()) == (StopTask(TASK),)


def test_a_task_that_fenced_is_restarted_with_every_task_set_as_the_newest_fences_it() -> None:
    fenced = replace(runs_task(), fenced_set=3)

    assert of_task(wanted_task(task_generation=3), fenced) == ()
    assert of_task(wanted_task(task_generation=4), fenced) == (StopTask(TASK),)
    assert of_task(wanted_task(task_generation=4, settled=False), fenced) == ()
    assert of_task(wanted_task(task_generation=4), runs_task()) == ()


def test_a_task_leaves_a_retiring_host() -> None:
    assert of_task(wanted_task(), replace(runs_task(), moving=True)) == (StopTask(TASK),)


def test_a_flagged_restart_means_failed_instances_or_all() -> None:
    other = Instance("orders", 1)
    running = Running({"orders": runs()}, {other: runs_task(Phase.FAILED), TASK: runs_task()})
    everything = instances_to_restart(running, "orders", include_tasks=True, only_failed=False)
    assert everything == (Instance("orders"), TASK, other)
    assert instances_to_restart(running, "orders", include_tasks=True, only_failed=True) == (other,)
    assert instances_to_restart(running, "orders", include_tasks=False, only_failed=True) == ()
    assert instances_to_restart(running, "unknown", include_tasks=True, only_failed=False) == ()


NAMES = st.sampled_from(["a", "b"])
CONFIGS = st.sampled_from([{"v": "1"}, {"v": "2"}])
TARGETS = st.sampled_from(TargetState)
TASK_TARGETS = st.sampled_from([TargetState.STARTED, TargetState.PAUSED])
GENERATIONS = st.integers(1, 3)
PHASES = st.sampled_from(Phase)
INSTANCES = st.builds(Instance, NAMES, st.integers(0, 2))


@st.composite
def desires(draw: st.DrawFn) -> DesiredWork:
    connectors = {
        name: WantedConnector(name, draw(CONFIGS), draw(TARGETS), draw(GENERATIONS), draw(st.booleans()))
        for name in draw(st.sets(NAMES))
    }
    tasks = {
        instance: WantedTask(
            instance,
            draw(CONFIGS),
            draw(CONFIGS),
            3,
            draw(TASK_TARGETS),
            draw(GENERATIONS),
            (),
            draw(st.booleans()),
        )
        for instance in draw(st.sets(INSTANCES))
    }
    return DesiredWork(connectors, tasks)


@st.composite
def runnings(draw: st.DrawFn) -> Running:
    connectors = {
        name: RunningConnector(
            draw(CONFIGS), draw(GENERATIONS), draw(TARGETS), draw(PHASES), publish_due=draw(st.booleans())
        )
        for name in draw(st.sets(NAMES))
    }
    tasks = {
        instance: RunningTask(
            draw(CONFIGS),
            draw(CONFIGS),
            (),
            draw(GENERATIONS),
            draw(TASK_TARGETS),
            draw(PHASES),
            draw(st.booleans()),
            draw(st.booleans()),
        )
        for instance in draw(st.sets(INSTANCES))
    }
    return Running(connectors, tasks)


def perform(desired: DesiredWork, running: Running, action: Action) -> tuple[DesiredWork, Running]:
    """Carry out an action as an ideal world would, at once."""
    connectors, tasks, wanted = dict(running.connectors), dict(running.tasks), dict(desired.connectors)
    match action:
        case ConnectorToStart(w):
            due = w.target is TargetState.STARTED
            connectors[w.name] = RunningConnector(
                w.config, w.generation, w.target, Phase.SETTLED, publish_due=due
            )
        case SetConnectorTarget(name, target):
            connectors[name] = replace(connectors[name], target=target, phase=Phase.SETTLED)
        case ConnectorToStop(name):
            del connectors[name]
        case PublishTasks(name):
            connectors[name] = replace(connectors[name], publish_due=False)
            wanted[name] = replace(wanted[name], publish=False)
        case StartTask(t):
            tasks[t.instance] = RunningTask(
                t.connector_config, t.task_config, t.partitions, t.generation, t.target, Phase.SETTLED
            )
        case SetTaskTarget(instance, target):
            tasks[instance] = replace(tasks[instance], target=target)
        case StopTask(instance):
            del tasks[instance]
    return DesiredWork(wanted, desired.tasks), Running(connectors, tasks)


def settle(desired: DesiredWork, running: Running) -> tuple[DesiredWork, Running]:
    for _ in range(10):
        actions = reconcile(desired, running)
        if not actions:
            return desired, running
        for action in actions:
            desired, running = perform(desired, running, action)
    raise AssertionError("never rests")


@given(desires(), runnings())
def test_it_comes_to_rest_with_what_is_wanted(desired: DesiredWork, running: Running) -> None:
    before = running
    desired, running = settle(desired, running)
    drained = {name for name, runs in before.connectors.items() if runs.phase is Phase.STOPPING}
    assert set(running.connectors) - drained == set(desired.connectors) - drained
    for name in set(desired.connectors) - drained:
        wanted, runs = desired.connectors[name], running.connectors[name]
        assert (runs.config, runs.generation) == (wanted.config, wanted.generation)
        assert runs.target is wanted.target or runs.phase in (Phase.FAILED, Phase.STARTING)


@given(desires(), runnings())
def test_every_wanted_task_runs_under_its_generation_or_stays_failed_or_drains(
    desired: DesiredWork, running: Running
) -> None:
    _, settled = settle(desired, running)
    for instance, wanted in desired.tasks.items():
        runs = settled.tasks[instance]
        assert runs.phase is Phase.STOPPING or runs.generation == wanted.generation
    for instance, runs in settled.tasks.items():
        assert instance in desired.tasks or runs.phase is Phase.STOPPING


@given(desires(), runnings())
def test_one_instance_gets_one_action_at_a_time(desired: DesiredWork, running: Running) -> None:
    seen: list[object] = []
    for action in reconcile(desired, running):
        match action:
            case ConnectorToStart(w):
                seen.append(w.name)
            case SetConnectorTarget(name) | ConnectorToStop(name) | PublishTasks(name):
                seen.append(name)
            case StartTask(t):
                seen.append(t.instance)
            case SetTaskTarget(instance) | StopTask(instance):
                seen.append(instance)
    assert len(seen) == len(set(seen))
