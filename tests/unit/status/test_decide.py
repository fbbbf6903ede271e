"""Which records a command leads to, and what a newer command leaves of one that waits."""

from __future__ import annotations

from functools import reduce

import pytest
from copycat_connect.cluster import Instance
from copycat_status.domain.commands import (
    ForgetStatuses,
    Report,
    ReportStatuses,
    ReportTopics,
    ResetTopics,
    StatusCommand,
)
from copycat_status.domain.decide import decide
from copycat_status.domain.errors import InvalidReportError
from copycat_status.domain.events import (
    StatusEvent,
    StatusForgotten,
    StatusSet,
    TopicActive,
    TopicForgotten,
)
from copycat_status.domain.evolve import evolve
from copycat_status.domain.newer import left_of
from copycat_status.domain.state import StatusState
from copycat_status.domain.status import State, Status

ORDERS = Instance("orders")
TASK = Instance("orders", 0)


def given(*events: StatusEvent) -> StatusState:
    return reduce(evolve, events, StatusState())


def status(state: State = State.RUNNING, generation: int = 5, worker_id: str = "w1") -> Status:
    return Status(state, worker_id, generation)


def report(instance: Instance, *statuses: Status) -> ReportStatuses:
    return ReportStatuses(tuple(Report(instance, status) for status in statuses))


def test_a_first_status_is_written() -> None:
    assert decide(report(TASK, status()), given()) == (StatusSet(TASK, status()),)


def test_the_same_status_twice_is_written_once() -> None:
    assert decide(report(TASK, status()), given(StatusSet(TASK, status()))) == ()


@pytest.mark.parametrize("state", State)
def test_a_report_of_an_older_generation_is_refused_silently(state: State) -> None:
    known = given(StatusSet(TASK, status(generation=6)))

    assert decide(report(TASK, status(state, generation=5)), known) == ()


def test_a_report_of_a_newer_generation_is_written() -> None:
    newer = status(generation=6, worker_id="w2")

    assert decide(report(TASK, newer), given(StatusSet(TASK, status()))) == (StatusSet(TASK, newer),)


@pytest.mark.parametrize("state", [State.UNASSIGNED, State.FAILED, State.PAUSED, State.RESTARTING])
def test_the_worker_itself_changes_its_status_within_a_generation(state: State) -> None:
    known = given(StatusSet(TASK, status()))

    assert decide(report(TASK, status(state)), known) == (StatusSet(TASK, status(state)),)


def test_an_unassigned_of_another_worker_does_not_replace_running_in_the_same_generation() -> None:
    late = status(State.UNASSIGNED, worker_id="w2")

    assert decide(report(TASK, late), given(StatusSet(TASK, status()))) == ()


def test_the_last_status_of_an_instance_in_one_report_counts() -> None:
    events = decide(report(TASK, status(State.RESTARTING), status()), given())

    assert events == (StatusSet(TASK, status()),)


def test_a_batch_that_ends_where_it_began_writes_nothing() -> None:
    known = given(StatusSet(TASK, status()))

    assert decide(report(TASK, status(State.PAUSED), status()), known) == ()


def test_topics_known_already_are_not_written_again() -> None:
    known = given(TopicActive("a", "orders", 0, 1))

    events = decide(ReportTopics("orders", 1, ("a", "b", "b"), 2), known)

    assert events == (TopicActive("b", "orders", 1, 2),)


def test_a_connector_is_forgotten_after_its_tasks_and_before_its_topics() -> None:
    known = given(
        StatusSet(ORDERS, status()),
        StatusSet(Instance("orders", 1), status()),
        StatusSet(TASK, status()),
        TopicActive("a", "orders", 0, 1),
        StatusSet(Instance("other"), status()),
    )

    assert decide(ForgetStatuses("orders"), known) == (
        StatusForgotten(TASK),
        StatusForgotten(Instance("orders", 1)),
        StatusForgotten(ORDERS),
        TopicForgotten("a", "orders"),
    )


def test_single_tasks_are_forgotten() -> None:
    known = given(StatusSet(ORDERS, status()), StatusSet(TASK, status()), TopicActive("a", "orders", 0, 1))

    assert decide(ForgetStatuses("orders", (0, 7)), known) == (StatusForgotten(TASK),)


def test_forgetting_what_is_unknown_writes_nothing() -> None:
    assert decide(ForgetStatuses("orders"), given()) == ()


def test_a_reset_forgets_the_topics_only() -> None:
    known = given(
        StatusSet(ORDERS, status()), TopicActive("b", "orders", 0, 1), TopicActive("a", "orders", 0, 1)
    )

    assert decide(ResetTopics("orders"), known) == (
        TopicForgotten("a", "orders"),
        TopicForgotten("b", "orders"),
    )


@pytest.mark.parametrize(
    "command",
    [
        report(Instance(""), status()),
        report(Instance("orders", -1), status()),
        ReportTopics("", 0, ("a",), 1),
        ReportTopics("orders", -1, ("a",), 1),
        ReportTopics("orders", 0, ("",), 1),
        ReportTopics("orders", 0, ("a:b",), 1),
    ],
)
def test_what_cannot_be_a_key_is_refused(command: ReportStatuses | ReportTopics) -> None:
    with pytest.raises(InvalidReportError):
        decide(command, given())


def says(state: State, task: int | None = 0, generation: int = 5, connector: str = "orders") -> Report:
    return Report(Instance(connector, task), Status(state, "w1", generation))


def reports(*those: Report) -> ReportStatuses:
    return ReportStatuses(those)


TOPIC = ReportTopics("orders", 0, ("t",), 1)
RUNNING, OTHER = says(State.RUNNING), says(State.RUNNING, task=1)


@pytest.mark.row("KRETRY-13")
@pytest.mark.parametrize(
    ("older", "newer", "left"),
    [
        pytest.param(reports(RUNNING, OTHER), reports(says(State.FAILED)), reports(OTHER), id="status"),
        pytest.param(reports(RUNNING), reports(says(State.FAILED)), None, id="the only status"),
        pytest.param(
            reports(RUNNING),
            reports(says(State.FAILED, generation=4)),
            reports(RUNNING),
            id="older generation",
        ),
        pytest.param(
            reports(RUNNING, OTHER), ForgetStatuses("orders", (1,)), reports(RUNNING), id="tombstone"
        ),
        pytest.param(reports(RUNNING), ForgetStatuses("orders"), None, id="all tombstones"),
        pytest.param(reports(RUNNING), ForgetStatuses("others"), reports(RUNNING), id="another connector"),
        pytest.param(reports(RUNNING), TOPIC, reports(RUNNING), id="topics are no statuses"),
        pytest.param(TOPIC, ForgetStatuses("orders"), None, id="forgotten topics"),
        pytest.param(TOPIC, ForgetStatuses("orders", (0,)), TOPIC, id="topics outlive tasks"),
        pytest.param(TOPIC, ResetTopics("orders"), None, id="reset topics"),
        pytest.param(ResetTopics("orders"), TOPIC, ResetTopics("orders", frozenset({"t"})), id="seen again"),
        pytest.param(
            ForgetStatuses("orders"),
            reports(RUNNING),
            ForgetStatuses("orders", spared=frozenset({RUNNING.instance})),
            id="status after tombstones",
        ),
        pytest.param(
            ForgetStatuses("orders"),
            TOPIC,
            ForgetStatuses("orders", spared_topics=frozenset({"t"})),
            id="topic after tombstones",
        ),
    ],
)
def test_what_is_left_undoes_nothing_newer(
    older: StatusCommand, newer: StatusCommand, left: StatusCommand | None
) -> None:
    assert left_of(older, newer) == left
