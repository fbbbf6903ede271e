"""Whatever is wanted and whatever runs: carrying out the actions ends where it should, and then rests."""

from __future__ import annotations

from dataclasses import replace

from copycat_connect.cluster import Instance, TargetState
from copycat_executor.domain.desired import Desired, WantedConnector, WantedTask
from copycat_executor.domain.reconcile import (
    Action,
    PublishTasks,
    SetConnectorTarget,
    SetTaskTarget,
    StartConnector,
    StartTask,
    StopConnector,
    StopTask,
    reconcile,
)
from copycat_executor.domain.running import Phase, Running, RunningConnector, RunningTask
from hypothesis import given
from hypothesis import strategies as st

NAMES = st.sampled_from(["a", "b"])
CONFIGS = st.sampled_from([{"v": "1"}, {"v": "2"}])
TARGETS = st.sampled_from(TargetState)
TASK_TARGETS = st.sampled_from([TargetState.STARTED, TargetState.PAUSED])
GENERATIONS = st.integers(1, 3)
PHASES = st.sampled_from(Phase)
INSTANCES = st.builds(Instance, NAMES, st.integers(0, 2))


@st.composite
def desires(draw: st.DrawFn) -> Desired:
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
    return Desired(connectors, tasks)


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


def perform(desired: Desired, running: Running, action: Action) -> tuple[Desired, Running]:
    """Carry out an action as an ideal world would, at once."""
    connectors, tasks, wanted = dict(running.connectors), dict(running.tasks), dict(desired.connectors)
    match action:
        case StartConnector(w):
            due = w.target is TargetState.STARTED
            connectors[w.name] = RunningConnector(
                w.config, w.generation, w.target, Phase.SETTLED, publish_due=due
            )
        case SetConnectorTarget(name, target):
            connectors[name] = replace(connectors[name], target=target, phase=Phase.SETTLED)
        case StopConnector(name):
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
    return Desired(wanted, desired.tasks), Running(connectors, tasks)


def settle(desired: Desired, running: Running) -> tuple[Desired, Running]:
    for _ in range(10):
        actions = reconcile(desired, running)
        if not actions:
            return desired, running
        for action in actions:
            desired, running = perform(desired, running, action)
    raise AssertionError("never rests")


@given(desires(), runnings())
def test_it_comes_to_rest_with_what_is_wanted(desired: Desired, running: Running) -> None:
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
    desired: Desired, running: Running
) -> None:
    _, settled = settle(desired, running)
    for instance, wanted in desired.tasks.items():
        runs = settled.tasks[instance]
        assert runs.phase is Phase.STOPPING or runs.generation == wanted.generation
    for instance, runs in settled.tasks.items():
        assert instance in desired.tasks or runs.phase is Phase.STOPPING


@given(desires(), runnings())
def test_one_instance_gets_one_action_at_a_time(desired: Desired, running: Running) -> None:
    seen: list[object] = []
    for action in reconcile(desired, running):
        match action:
            case StartConnector(w):
                seen.append(w.name)
            case SetConnectorTarget(name) | StopConnector(name) | PublishTasks(name):
                seen.append(name)
            case StartTask(t):
                seen.append(t.instance)
            case SetTaskTarget(instance) | StopTask(instance):
                seen.append(instance)
    assert len(seen) == len(set(seen))
