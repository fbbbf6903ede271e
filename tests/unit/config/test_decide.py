"""Which records a command leads to, and in which order."""

from functools import reduce

import pytest
from copycat_config.domain.commands import (
    ConfigCommand,
    DeleteConnector,
    PutConnector,
    PutTaskConfigs,
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
)
from copycat_config.domain.evolve import evolve
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
