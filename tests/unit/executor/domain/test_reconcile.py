from __future__ import annotations

from dataclasses import replace

import pytest
from copycat_connect.cluster import Instance, TargetState, TopicPartition
from copycat_executor.domain.desired import NOTHING, Desired, WantedConnector, WantedTask
from copycat_executor.domain.reconcile import (
    PublishTasks,
    SetConnectorTarget,
    SetTaskTarget,
    StartConnector,
    StartTask,
    StopConnector,
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
    return reconcile(Desired({"orders": connector}, {}), Running(present, {}))


def of_task(task: WantedTask, running: RunningTask | None) -> tuple[object, ...]:
    present = {} if running is None else {TASK: running}
    return reconcile(Desired({}, {TASK: task}), Running({}, present))


def test_what_is_wanted_and_absent_is_started() -> None:
    assert of_connector(wanted(), None) == (StartConnector(wanted()),)
    assert of_task(wanted_task(), None) == (StartTask(wanted_task()),)


def test_what_is_as_wanted_is_left_alone() -> None:
    assert of_connector(wanted(), runs()) == ()
    assert of_task(wanted_task(), runs_task()) == ()


def test_what_is_no_longer_wanted_is_stopped_once() -> None:
    running = Running({"orders": runs()}, {TASK: runs_task()})
    assert reconcile(NOTHING, running) == (StopConnector("orders"), StopTask(TASK))
    stopping = Running({"orders": runs(Phase.STOPPING)}, {TASK: runs_task(Phase.STOPPING)})
    assert reconcile(NOTHING, stopping) == ()


@pytest.mark.parametrize(
    "changed",
    [replace(runs(), config={"name": "x"}), replace(runs(), generation=0), replace(runs(), restart=True)],
)
@pytest.mark.parametrize("phase", [Phase.STARTING, Phase.SETTLED, Phase.FAILED])
def test_a_connector_that_changed_is_stopped_in_any_phase(changed: RunningConnector, phase: Phase) -> None:
    assert of_connector(wanted(), replace(changed, phase=phase)) == (StopConnector("orders"),)


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
