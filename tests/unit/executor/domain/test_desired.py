from __future__ import annotations

from copycat_connect.cluster import Instance, TargetState, TopicPartition
from copycat_executor.domain.desired import Assigned, Configured, assign, desired, generation_for

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
    assert second == Assigned(ME, 7, since=3, partitions=(TopicPartition("t", 0),))
    assert generation_for(3, second, ME) == 7


def test_progress_made_before_another_worker_held_the_task_keeps_its_old_generation() -> None:
    back = assign(assign(assign(None, ME, 3, ()), OTHER, 5, ()), ME, 7, ())
    assert generation_for(3, back, ME) == 3


def test_progress_of_a_task_no_longer_assigned_here_keeps_its_generation() -> None:
    assert generation_for(3, None, ME) == 3
    assert generation_for(3, assign(None, OTHER, 5, ()), ME) == 3
