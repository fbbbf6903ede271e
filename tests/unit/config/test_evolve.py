"""Kafka's reader rules for the config topic."""

from functools import reduce

from copycat_config.domain.events import (
    ConfigEvent,
    ConnectorConfigured,
    ConnectorRemoved,
    LoggerLevelSet,
    RestartRequested,
    SessionKeySet,
    TargetStateForgotten,
    TargetStateSet,
    TaskConfigured,
    TaskSetCommitted,
    TasksFenced,
)
from copycat_config.domain.evolve import evolve
from copycat_config.domain.state import ConfigState
from copycat_config.domain.views import ConnectorView, find_connector, get_connector, list_connectors
from copycat_connect.cluster import Config, TargetState

CONFIG: Config = {"connector.class": "FileStreamSource"}
CHANGED: Config = {"connector.class": "FileStreamSource", "batch.size": "5"}
TASK: Config = {"task.class": "FileStreamSourceTask"}
OTHER_TASK: Config = {"task.class": "FileStreamSourceTask", "batch.size": "5"}
CREATED = ConnectorConfigured("orders", CONFIG)


def fold(*events: ConfigEvent) -> ConfigState:
    return reduce(evolve, events, ConfigState())


def view(*events: ConfigEvent) -> ConnectorView:
    return get_connector(fold(*events), "orders")


def task(index: int, config: Config = TASK) -> TaskConfigured:
    return TaskConfigured("orders", index, config)


def commit(count: int) -> TaskSetCommitted:
    return TaskSetCommitted("orders", count)


def target(state: TargetState) -> TargetStateSet:
    return TargetStateSet("orders", state)


def test_a_connector_of_which_nothing_else_was_said_is_started() -> None:
    assert view(CREATED).target is TargetState.STARTED


def test_a_target_state_may_precede_its_connector() -> None:
    assert view(target(TargetState.PAUSED), CREATED).target is TargetState.PAUSED


def test_a_forgotten_target_state_means_started() -> None:
    events = (CREATED, target(TargetState.PAUSED), TargetStateForgotten("orders"))

    assert view(*events).target is TargetState.STARTED


def test_a_removed_connector_leaves_its_target_state_to_its_own_tombstone() -> None:
    events = (CREATED, target(TargetState.PAUSED), ConnectorRemoved("orders"), CREATED)

    assert view(*events).target is TargetState.PAUSED


def test_task_configurations_wait_for_their_commit() -> None:
    assert view(CREATED, task(0)).tasks == ()
    assert view(CREATED, task(0), commit(1)).tasks == (TASK,)


def test_task_configurations_written_after_a_commit_wait_for_the_next() -> None:
    events = (CREATED, task(0), commit(1), task(0, OTHER_TASK))

    assert view(*events).tasks == (TASK,)
    assert view(*events, commit(1)).tasks == (OTHER_TASK,)


def test_an_incomplete_set_makes_the_connector_inconsistent_and_without_tasks() -> None:
    found = view(CREATED, task(0), commit(1), task(1), commit(2))

    assert found.inconsistent
    assert found.tasks == ()


def test_an_inconsistent_connector_heals_with_a_whole_set_only() -> None:
    broken = (CREATED, task(1), commit(2))

    assert view(*broken, task(0), commit(2)).inconsistent
    assert view(*broken, task(0), task(1), commit(2)).tasks == (TASK, TASK)


def test_more_tasks_than_the_commit_counts_are_welcome_but_not_visible() -> None:
    found = view(CREATED, task(0), task(7), commit(1))

    assert not found.inconsistent
    assert found.tasks == (TASK,)


def test_an_empty_set_is_complete() -> None:
    found = view(CREATED, task(0), commit(1), commit(0))

    assert (found.tasks, found.inconsistent) == ((), False)


def test_a_commit_without_its_connector_is_dropped_with_the_tasks_before_it() -> None:
    found = view(task(0), commit(1), CREATED)

    assert (found.tasks, found.inconsistent) == ((), False)
    assert view(task(0), commit(1), CREATED, commit(1)).inconsistent


def test_a_set_orphaned_by_compaction_has_to_be_made_again() -> None:
    orphaned = (task(0), commit(1), CREATED)

    assert view(*orphaned).tasks_outdated
    assert not view(*orphaned, task(0), commit(1)).tasks_outdated


def test_old_tasks_do_not_come_back_with_a_recreated_connector() -> None:
    assert view(CREATED, task(0), commit(1), ConnectorRemoved("orders"), CREATED).tasks == ()


def test_tasks_waiting_when_the_connector_is_removed_are_dropped() -> None:
    found = view(CREATED, task(0), ConnectorRemoved("orders"), CREATED, commit(1))

    assert found.inconsistent


def test_removal_does_not_heal_an_inconsistent_connector() -> None:
    assert view(CREATED, commit(1), ConnectorRemoved("orders"), CREATED).inconsistent


def test_the_generation_counts_whole_sets_from_0_and_survives_removal() -> None:
    once = (CREATED, task(0), commit(1))

    assert view(*once).task_generation == 0
    assert view(*once, task(0), commit(1)).task_generation == 1
    assert view(*once, ConnectorRemoved("orders"), *once).task_generation == 1


def test_the_generation_does_not_count_an_empty_set_before_any_task() -> None:
    facts = fold(CREATED, commit(0)).facts("orders")

    assert facts.task_generation is None
    assert facts.task_count == 0


def test_tasks_are_outdated_while_another_configuration_is_in_force() -> None:
    changed = ConnectorConfigured("orders", CHANGED)

    assert not view(CREATED).tasks_outdated
    assert not view(CREATED, task(0), commit(1)).tasks_outdated
    assert view(CREATED, task(0), commit(1), changed).tasks_outdated
    assert not view(CREATED, task(0), commit(1), changed, CREATED).tasks_outdated
    assert not view(CREATED, task(0), commit(1), changed, task(0), commit(1)).tasks_outdated


def test_fencing_is_remembered_until_a_new_set_needs_it_again() -> None:
    fenced = (CREATED, task(0), commit(1), TasksFenced("orders", 1))

    assert not fold(*fenced).facts("orders").pending_fencing
    assert fold(*fenced, task(0), commit(1)).facts("orders").pending_fencing
    assert fold(*fenced, ConnectorRemoved("orders")).facts("orders").fenced == 1


def test_news_and_session_keys_leave_no_trace() -> None:
    state = fold(CREATED)

    for event in (
        RestartRequested("orders", True, False),
        LoggerLevelSet("root", "DEBUG"),
        SessionKeySet("c2VjcmV0", "HmacSHA256", 1),
    ):
        assert evolve(state, event) is state


def test_a_forgotten_connector_leaves_no_trace() -> None:
    events = (CREATED, target(TargetState.PAUSED), ConnectorRemoved("orders"), TargetStateForgotten("orders"))

    assert fold(*events) == ConfigState()


def test_connectors_are_listed_by_name_and_only_with_a_configuration() -> None:
    state = fold(
        ConnectorConfigured("b", CONFIG),
        ConnectorConfigured("a", CONFIG),
        TargetStateSet("c", TargetState.PAUSED),
    )

    assert [found.name for found in list_connectors(state)] == ["a", "b"]
    assert find_connector(state, "c") is None
