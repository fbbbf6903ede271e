"""Which records a command leads to, in which order, and which former tasks are fenced (KIP-618)."""

from __future__ import annotations

from functools import reduce

import pytest
from copycat_config.domain.commands import (
    ConfigCommand,
    DeleteConnector,
    PutConnector,
    PutTaskConfigs,
    RecordFencing,
    RequestRestart,
    SetLoggerLevel,
    SetTargetState,
)
from copycat_config.domain.decide import decide
from copycat_config.domain.errors import (
    ConfigChangedError,
    ConfigReplacedError,
    ConnectorExistsError,
    ConnectorStoppedError,
    InvalidNameError,
    TasksChangedError,
    UnknownConnectorError,
)
from copycat_config.domain.events import (
    ConfigEvent,
    ConnectorConfigured,
    ConnectorRemoved,
    LoggerLevelSet,
    RestartRequested,
    TargetStateForgotten,
    TargetStateSet,
    TaskConfigured,
    TaskSetCommitted,
    TasksFenced,
)
from copycat_config.domain.evolve import evolve
from copycat_config.domain.fencing import fencing_due
from copycat_config.domain.state import ConfigState
from copycat_connect.cluster import Config, TargetState

CONFIG: Config = {"connector.class": "FileStreamSource", "tasks.max": "2"}
CHANGED: Config = {**CONFIG, "value.converter": "StringConverter"}
TASK: Config = {"task.class": "FileStreamSourceTask"}
CREATED = (ConnectorConfigured("orders", CONFIG),)
WITH_TASK = (*CREATED, TaskConfigured("orders", 0, TASK), TaskSetCommitted("orders", 1))
STOPPED = (*CREATED, TaskSetCommitted("orders", 0), TargetStateSet("orders", TargetState.STOPPED))


def given(*events: ConfigEvent) -> ConfigState:
    return reduce(evolve, events, ConfigState())


def test_creating_writes_the_configuration_only() -> None:
    assert decide(PutConnector("orders", CONFIG), ConfigState()) == CREATED


def test_an_initial_state_precedes_the_configuration() -> None:
    command = PutConnector("orders", CONFIG, initial_state=TargetState.PAUSED)

    assert decide(command, ConfigState()) == (TargetStateSet("orders", TargetState.PAUSED), *CREATED)


def test_a_connector_is_created_once() -> None:
    with pytest.raises(ConnectorExistsError, match="Connector orders already exists"):
        decide(PutConnector("orders", CONFIG, create_only=True), given(*CREATED))


def test_a_connector_that_is_not_there_is_not_replaced() -> None:
    with pytest.raises(UnknownConnectorError):
        decide(PutConnector("orders", CONFIG, replace_only=True), ConfigState())


def test_a_change_of_another_configuration_than_the_expected_is_refused() -> None:
    state = given(*CREATED, ConnectorConfigured("orders", CHANGED))

    with pytest.raises(ConfigReplacedError, match="replaced meanwhile"):
        decide(PutConnector("orders", {"a": "b"}, expected=CONFIG), state)
    with pytest.raises(UnknownConnectorError):
        decide(PutConnector("orders", CHANGED, expected=CONFIG), ConfigState())
    assert decide(PutConnector("orders", CHANGED, expected=CONFIG), state) == ()  # sent again
    changed = (ConnectorConfigured("orders", CHANGED),)
    assert decide(PutConnector("orders", CHANGED, expected=CONFIG), given(*CREATED)) == changed


def test_replacing_leaves_the_target_state_alone() -> None:
    state = given(*CREATED, TargetStateSet("orders", TargetState.PAUSED))

    assert decide(PutConnector("orders", CHANGED), state) == (ConnectorConfigured("orders", CHANGED),)


def test_an_equal_configuration_writes_nothing() -> None:
    reordered = dict(reversed(list(CONFIG.items())))

    assert decide(PutConnector("orders", reordered), given(*CREATED)) == ()


def test_deleting_forgets_the_configuration_then_the_target_state() -> None:
    events = decide(DeleteConnector("orders"), given(*WITH_TASK))

    assert events == (ConnectorRemoved("orders"), TargetStateForgotten("orders"))


def test_pausing_twice_writes_once() -> None:
    command = SetTargetState("orders", TargetState.PAUSED)
    events = decide(command, given(*CREATED))

    assert events == (TargetStateSet("orders", TargetState.PAUSED),)
    assert decide(command, given(*CREATED, *events)) == ()


@pytest.mark.row("K875-35")
def test_stopping_empties_the_task_set_first() -> None:
    events = decide(SetTargetState("orders", TargetState.STOPPED), given(*WITH_TASK))

    assert events == (TaskSetCommitted("orders", 0), TargetStateSet("orders", TargetState.STOPPED))


def test_stopping_what_is_stopped_writes_nothing() -> None:
    assert decide(SetTargetState("orders", TargetState.STOPPED), given(*STOPPED)) == ()


def test_stopping_heals_an_inconsistent_task_set() -> None:
    state = given(*STOPPED, TaskSetCommitted("orders", 2))

    assert decide(SetTargetState("orders", TargetState.STOPPED), state) == (TaskSetCommitted("orders", 0),)


def test_task_configurations_are_closed_by_their_commit() -> None:
    command = PutTaskConfigs("orders", (TASK, CONFIG), CONFIG)

    assert decide(command, given(*CREATED)) == (
        TaskConfigured("orders", 0, TASK),
        TaskConfigured("orders", 1, CONFIG),
        TaskSetCommitted("orders", 2),
    )


def test_the_task_set_in_force_is_not_written_again() -> None:
    assert decide(PutTaskConfigs("orders", (TASK,), CONFIG), given(*WITH_TASK)) == ()


def test_an_equal_task_set_made_from_another_configuration_is_written_again() -> None:
    state = given(*WITH_TASK, ConnectorConfigured("orders", CHANGED))

    assert decide(PutTaskConfigs("orders", (TASK,), CHANGED), state) == WITH_TASK[1:]


def test_a_smaller_task_set_is_written() -> None:
    assert decide(PutTaskConfigs("orders", (), CONFIG), given(*WITH_TASK)) == (TaskSetCommitted("orders", 0),)


def test_tasks_made_from_a_replaced_configuration_are_refused() -> None:
    state = given(*CREATED, ConnectorConfigured("orders", CHANGED))

    with pytest.raises(ConfigChangedError):
        decide(PutTaskConfigs("orders", (TASK,), CONFIG), state)


@pytest.mark.row("K875-38")
def test_a_stopped_connector_gets_no_tasks() -> None:
    text = "Cannot submit non-empty set of task configs for stopped connector orders"
    with pytest.raises(ConnectorStoppedError, match=text):
        decide(PutTaskConfigs("orders", (TASK,), CONFIG), given(*STOPPED))


def test_a_restart_is_logged_each_time() -> None:
    command = RequestRestart("orders", include_tasks=True, only_failed=False)

    assert decide(command, given(*CREATED)) == (RestartRequested("orders", True, False),)


def test_a_log_level_is_logged_each_time() -> None:
    state = given(LoggerLevelSet("org.apache.kafka", "DEBUG"))

    assert decide(SetLoggerLevel("org.apache.kafka", "DEBUG"), state) == (
        LoggerLevelSet("org.apache.kafka", "DEBUG"),
    )


@pytest.mark.parametrize(
    "command",
    [
        DeleteConnector("orders"),
        SetTargetState("orders", TargetState.PAUSED),
        PutTaskConfigs("orders", (), CONFIG),
        RequestRestart("orders", include_tasks=False, only_failed=False),
    ],
    ids=lambda command: type(command).__name__,
)
def test_an_unknown_connector_takes_no_command(command: ConfigCommand) -> None:
    with pytest.raises(UnknownConnectorError, match="Connector orders not found"):
        decide(command, given(TargetStateSet("orders", TargetState.PAUSED)))


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("", "String may not be empty"),
        ("  ", "String may not be empty"),
        ("a\tb", "may not contain control sequences"),
        ("a\0b", "may not contain control sequences"),
        (".", "it leads to another place"),
        ("..", "it leads to another place"),
        ("a" * 1025, "at most 1024 bytes"),
    ],
)
def test_a_name_that_cannot_be_a_key_is_refused(name: str, reason: str) -> None:
    with pytest.raises(InvalidNameError, match=reason):
        decide(PutConnector(name, CONFIG), ConfigState())


@pytest.mark.parametrize("name", ["with space", "a/b", "dash-0", "ünïcødé", "quote'\"", "$weird#{}%2F"])
def test_any_other_name_is_welcome(name: str) -> None:
    assert decide(PutConnector(name, CONFIG), ConfigState()) == (ConnectorConfigured(name, CONFIG),)


PLAIN_CONFIG: Config = {"connector.class": "FileStreamSource"}
CONFIGURED = ConnectorConfigured("orders", PLAIN_CONFIG)


def after(*events: ConfigEvent) -> ConfigState:
    return reduce(evolve, events, ConfigState())


def task_set(size: int) -> tuple[ConfigEvent, ...]:
    tasks = (TaskConfigured("orders", index, {}) for index in range(size))
    return (*tasks, TaskSetCommitted("orders", size))


@pytest.mark.parametrize(
    ("recorded", "size", "former"),
    [(None, 3, 0), (1, 1, 0), (1, 2, 1), (3, 5, 3), (5, 1, 5), (3, 3, 3), (3, 0, 3), (0, 3, 0)],
)
def test_as_many_tasks_are_fenced_as_are_on_record(recorded: int | None, size: int, former: int) -> None:
    fenced = () if recorded is None else (TasksFenced("orders", recorded),)
    due = fencing_due(after(CONFIGURED, *fenced, *task_set(size)), "orders")

    assert due is not None
    assert (due.former, due.record.count, due.config) == (former, size, PLAIN_CONFIG)


def test_nothing_is_fenced_twice_for_the_same_task_set() -> None:
    state = after(CONFIGURED, *task_set(3), TasksFenced("orders", 3))

    assert fencing_due(state, "orders") is None


def test_nothing_is_fenced_of_a_connector_that_never_had_tasks_or_is_not_there() -> None:
    assert fencing_due(after(CONFIGURED), "orders") is None
    with pytest.raises(UnknownConnectorError):
        fencing_due(after(CONFIGURED, *task_set(1), ConnectorRemoved("orders")), "orders")


def test_a_connector_made_anew_fences_the_tasks_of_its_namesake() -> None:
    life = (CONFIGURED, *task_set(3), TasksFenced("orders", 3), ConnectorRemoved("orders"))
    due = fencing_due(after(*life, CONFIGURED, *task_set(1)), "orders")

    assert due is not None
    assert (due.former, due.record.count) == (3, 1)


def test_a_round_is_noted_once() -> None:
    state = after(CONFIGURED, *task_set(3))
    due = fencing_due(state, "orders")
    assert due is not None

    events = decide(due.record, state)

    assert events == (TasksFenced("orders", 3),)
    assert decide(due.record, reduce(evolve, events, state)) == ()


@pytest.mark.parametrize("size", [3, 4, 0])
def test_a_round_is_not_noted_of_a_task_set_that_came_meanwhile(size: int) -> None:
    state = after(CONFIGURED, *task_set(3))
    due = fencing_due(state, "orders")
    assert due is not None

    with pytest.raises(TasksChangedError, match="Fencing failed because new task configurations were"):
        decide(due.record, reduce(evolve, task_set(size), state))


def test_a_round_is_not_noted_of_a_set_that_was_emptied_without_ever_having_had_tasks() -> None:
    state = after(CONFIGURED, TaskSetCommitted("orders", 0))

    with pytest.raises(TasksChangedError):
        decide(RecordFencing("orders", 2, None), state)
    with pytest.raises(UnknownConnectorError):
        decide(RecordFencing("orders", 0, None), after(CONFIGURED, ConnectorRemoved("orders")))


def test_every_new_task_set_is_to_be_fenced_even_one_like_the_former() -> None:
    state = after(CONFIGURED, *task_set(2), TasksFenced("orders", 2), TaskSetCommitted("orders", 0))
    again = decide(PutTaskConfigs("orders", ({}, {}), PLAIN_CONFIG), state)

    due = fencing_due(reduce(evolve, again, state), "orders")

    assert due is not None
    assert (due.former, due.record.count) == (2, 2)
