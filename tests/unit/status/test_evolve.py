"""Kafka's reader rules for the status topic, and what is shown."""

from functools import reduce

import pytest
from copycat_connect.cluster import Instance
from copycat_status.domain.errors import UnknownStatusError
from copycat_status.domain.events import (
    StatusEvent,
    StatusForgotten,
    StatusSet,
    TopicActive,
    TopicForgotten,
)
from copycat_status.domain.evolve import evolve
from copycat_status.domain.state import StatusState
from copycat_status.domain.status import State, Status
from copycat_status.domain.views import (
    get_connector_status,
    list_instances,
    list_topics,
    view_of,
)

ORDERS = Instance("orders")
TASK = Instance("orders", 0)
RUNNING = Status(State.RUNNING, "w1", 5)


def fold(*events: StatusEvent) -> StatusState:
    return reduce(evolve, events, StatusState())


def unassigned(generation: int, worker_id: str) -> StatusSet:
    return StatusSet(TASK, Status(State.UNASSIGNED, worker_id, generation))


def test_the_last_status_wins() -> None:
    failed = Status(State.FAILED, "w1", 5, trace="why")

    assert fold(StatusSet(TASK, RUNNING), StatusSet(TASK, failed)).status(TASK) == failed


@pytest.mark.parametrize("late", [unassigned(4, "w1"), unassigned(4, "w2"), unassigned(5, "w2")])
def test_a_late_unassigned_does_not_replace_a_running_task(late: StatusSet) -> None:
    assert fold(StatusSet(TASK, RUNNING), late).status(TASK) == RUNNING


@pytest.mark.parametrize("timely", [unassigned(6, "w2"), unassigned(5, "w1")])
def test_a_timely_unassigned_replaces_a_running_task(timely: StatusSet) -> None:
    assert fold(StatusSet(TASK, RUNNING), timely).status(TASK) == timely.status


def test_a_late_unassigned_replaces_anything_else() -> None:
    failed = StatusSet(TASK, Status(State.FAILED, "w1", 5))

    assert fold(failed, unassigned(4, "w2")).status(TASK) == unassigned(4, "w2").status


def test_a_connectors_unassigned_always_counts() -> None:
    event = StatusSet(ORDERS, Status(State.UNASSIGNED, "w2", 4))

    assert fold(StatusSet(ORDERS, RUNNING), event).status(ORDERS) == event.status


def test_a_connectors_tombstone_hides_its_tasks() -> None:
    state = fold(StatusSet(ORDERS, RUNNING), StatusSet(TASK, RUNNING), StatusForgotten(ORDERS))

    with pytest.raises(UnknownStatusError, match="No status found for connector orders"):
        get_connector_status(state, "orders")
    assert view_of("orders", state.facts("orders")) is None
    assert list(list_instances(state)) == [(TASK, RUNNING)]


def test_a_tasks_tombstone_forgets_the_task() -> None:
    state = fold(StatusSet(ORDERS, RUNNING), StatusSet(TASK, RUNNING), StatusForgotten(TASK))

    assert get_connector_status(state, "orders").tasks == {}


def test_partitions_may_be_read_in_any_order() -> None:
    connector: list[StatusEvent] = [
        StatusSet(ORDERS, RUNNING),
        StatusForgotten(ORDERS),
        StatusSet(ORDERS, RUNNING),
    ]
    task: list[StatusEvent] = [StatusSet(TASK, RUNNING), StatusForgotten(TASK), StatusSet(TASK, RUNNING)]

    assert fold(*task, *connector) == fold(*connector, *task)


def test_topics_are_in_the_set_until_they_are_forgotten() -> None:
    state = fold(
        TopicActive("b", "orders", 0, 1),
        TopicActive("a", "orders", 0, 1),
        TopicActive("a", "orders", 1, 2),
        TopicForgotten("b", "orders"),
    )

    assert list_topics(state, "orders") == ("a",)
    assert list_topics(state, "unknown") == ()


def test_what_was_forgotten_leaves_no_trace() -> None:
    state = fold(
        StatusSet(ORDERS, RUNNING),
        StatusSet(TASK, RUNNING),
        TopicActive("a", "orders", 0, 1),
        TopicForgotten("a", "orders"),
        StatusForgotten(TASK),
        StatusForgotten(ORDERS),
        StatusForgotten(ORDERS),
    )

    assert state == StatusState()
