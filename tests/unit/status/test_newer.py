"""What a newer command leaves of one that waits."""

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
from copycat_status.domain.newer import left_of
from copycat_status.domain.status import State, Status


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
