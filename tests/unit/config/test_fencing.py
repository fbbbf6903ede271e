"""Which former tasks are fenced, and when that is noted: the rules of Kafka Connect's leader (KIP-618)."""

from __future__ import annotations

from functools import reduce

import pytest
from copycat_config.domain.commands import PutTaskConfigs, RecordFencing
from copycat_config.domain.decide import decide
from copycat_config.domain.errors import TasksChangedError, UnknownConnectorError
from copycat_config.domain.events import (
    ConfigEvent,
    ConnectorConfigured,
    ConnectorRemoved,
    TaskConfigured,
    TaskSetCommitted,
    TasksFenced,
)
from copycat_config.domain.evolve import evolve
from copycat_config.domain.fencing import fencing_due
from copycat_config.domain.state import ConfigState
from copycat_connect.cluster import Config

CONFIG: Config = {"connector.class": "FileStreamSource"}
CONFIGURED = ConnectorConfigured("orders", CONFIG)


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
    assert (due.former, due.record.count, due.config) == (former, size, CONFIG)


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
    again = decide(PutTaskConfigs("orders", ({}, {}), CONFIG), state)

    due = fencing_due(reduce(evolve, again, state), "orders")

    assert due is not None
    assert (due.former, due.record.count) == (2, 2)
