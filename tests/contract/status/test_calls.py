"""What the status service answers."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from copycat.status.v1 import status_service_pb2 as pb
from copycat.types.v1 import types_pb2
from copycat_connect.errors import OutcomeUnknownError
from copycat_rpc.errors import RemoteError
from copycat_status.domain.tracking import Tracking
from copycat_testkit.eventually import eventually

from tests.contract.reading import answer_after, beyond

FAILED = pb.Status(
    state=types_pb2.STATE_FAILED,
    trace="no\n\tat all",
    worker_id="h:1",
    generation=7,
    version="1.0",
    since_ms=2000,
)
RUNNING = pb.Status(state=types_pb2.STATE_RUNNING, worker_id="h:1", generation=7, since_ms=1000)


def report(status: pb.Status = RUNNING, task: int | None = None) -> pb.ReportStatusesRequest:
    return pb.ReportStatusesRequest(
        statuses=[pb.InstanceStatus(connector="orders", task=task, status=status)]
    )


def get() -> pb.GetConnectorStatusRequest:
    return pb.GetConnectorStatusRequest(connector="orders")


def topics(*names: str, task: int = 0) -> pb.ReportTopicsRequest:
    return pb.ReportTopicsRequest(connector="orders", task=task, topics=names, discover_timestamp_ms=1)


async def test_reported_statuses_are_read_back(world: Any) -> None:
    await world.stub.ReportStatuses(report())
    reported = await world.stub.ReportStatuses(report(FAILED, task=3))

    found = await world.stub.GetConnectorStatus(
        pb.GetConnectorStatusRequest(connector="orders", min_revision=reported.revision)
    )

    assert found.status.connector == "orders"
    assert found.status.status == RUNNING
    assert found.status.tasks[3].reason == "no"
    found.status.tasks[3].ClearField("reason")
    assert dict(found.status.tasks) == {3: FAILED}
    assert dict(reported.revision.next) == {0: 2}


async def test_an_older_generation_is_refused_silently(world: Any) -> None:
    reported = await world.stub.ReportStatuses(report())
    older = pb.Status(state=types_pb2.STATE_FAILED, worker_id="h:2", generation=6)

    again = await world.stub.ReportStatuses(report(older))

    assert (await world.stub.GetConnectorStatus(get())).status.status == RUNNING
    assert again.revision == reported.revision


async def test_every_connector_is_listed(world: Any) -> None:
    for name in ("b", "a"):
        instance = pb.InstanceStatus(connector=name, status=RUNNING)
        await world.stub.ReportStatuses(pb.ReportStatusesRequest(statuses=[instance]))

    listed = await world.stub.ListConnectorStatuses(pb.ListConnectorStatusesRequest())

    assert [found.connector for found in listed.statuses] == ["a", "b"]


async def test_a_forgotten_connector_has_no_status_and_no_topics(world: Any) -> None:
    await world.stub.ReportStatuses(report())
    await world.stub.ReportStatuses(report(task=0))
    await world.stub.ReportTopics(topics("t"))

    await world.stub.ForgetStatuses(pb.ForgetStatusesRequest(connector="orders"))

    assert world.keys()[3:] == [
        "status-task-orders-0!",
        "status-connector-orders!",
        "status-topic-t:connector-orders!",
    ]
    with pytest.raises(RemoteError) as refusal:
        await world.stub.GetConnectorStatus(get())
    assert refusal.value.remote_code.name == "status.unknown"
    assert refusal.value.message == "No status found for connector orders"


async def test_single_tasks_are_forgotten(world: Any) -> None:
    await world.stub.ReportStatuses(report())
    await world.stub.ReportStatuses(report(task=0))
    await world.stub.ReportStatuses(report(task=1))

    await world.stub.ForgetStatuses(pb.ForgetStatusesRequest(connector="orders", tasks=[1, 2]))

    assert list((await world.stub.GetConnectorStatus(get())).status.tasks) == [0]


async def test_a_topic_is_recorded_once(world: Any) -> None:
    await world.stub.ReportTopics(topics("t", "u"))
    await world.stub.ReportTopics(topics("t", task=1))

    listed = await world.stub.ListTopics(pb.ListTopicsRequest(connector="orders"))

    assert list(listed.topics) == ["t", "u"]
    assert len(world.keys()) == 2


async def test_an_unknown_connector_has_no_topics(world: Any) -> None:
    assert not (await world.stub.ListTopics(pb.ListTopicsRequest(connector="nobody"))).topics


async def test_reset_topics_come_back_when_they_are_seen_again(world: Any) -> None:
    await world.stub.ReportTopics(topics("t", "u"))
    await world.stub.ResetTopics(pb.ResetTopicsRequest(connector="orders"))
    await world.stub.ReportTopics(topics("t"))

    assert list((await world.stub.ListTopics(pb.ListTopicsRequest(connector="orders"))).topics) == ["t"]


async def test_without_tracking_nothing_is_recorded_nor_shown(running: Any) -> None:
    async with running(Tracking(enabled=False)) as world:
        await world.stub.ReportTopics(topics("t"))

        for call, request in (
            (world.stub.ListTopics, pb.ListTopicsRequest(connector="orders")),
            (world.stub.ResetTopics, pb.ResetTopicsRequest(connector="orders")),
        ):
            with pytest.raises(RemoteError, match=r"^Topic tracking is disabled\.$") as refusal:
                await call(request)
            assert (refusal.value.remote_code.name, refusal.value.remote_code.http) == (
                "topic.tracking_disabled",
                403,
            )
        assert world.keys() == []


async def test_where_reset_is_disabled_deletion_still_resets(running: Any) -> None:
    async with running(Tracking(resettable=False)) as world:
        await world.stub.ReportTopics(topics("t"))

        with pytest.raises(RemoteError, match=r"^Topic tracking reset is disabled\.$") as refusal:
            await world.stub.ResetTopics(pb.ResetTopicsRequest(connector="orders"))
        await world.stub.ForgetStatuses(pb.ForgetStatusesRequest(connector="orders"))

        assert (refusal.value.remote_code.name, refusal.value.remote_code.http) == (
            "topic.reset_disabled",
            403,
        )
        assert not (await world.stub.ListTopics(pb.ListTopicsRequest(connector="orders"))).topics


Call = Callable[..., Awaitable[Any]]


@pytest.mark.parametrize(
    "call",
    [
        lambda stub: stub.ReportStatuses(report(pb.Status(worker_id="w"))),
        lambda stub: stub.ReportStatuses(report(task=-1)),
        lambda stub: stub.ReportTopics(topics("a:b")),
        lambda stub: stub.ReportTopics(pb.ReportTopicsRequest(connector="", topics=["t"])),
    ],
)
async def test_an_invalid_report_is_refused_and_writes_nothing(world: Any, call: Call) -> None:
    with pytest.raises(RemoteError) as refusal:
        await call(world.stub)

    assert refusal.value.remote_code.name == "status.invalid"
    assert world.keys() == []


async def test_a_report_is_answered_when_the_log_is_back(world: Any) -> None:
    world.log.hold()
    call = asyncio.ensure_future(world.stub.ReportStatuses(report()))
    await eventually(lambda: world.log.waiting == 1)

    world.log.fail_all(OutcomeUnknownError("the broker is away"))
    await eventually(lambda: world.log.waiting == 0)
    world.log.pass_all()

    assert dict((await call).revision.next) == {0: 1}
    assert world.keys() == ["status-connector-orders"]


@pytest.mark.parametrize(
    "read",
    [
        lambda stub, asked: stub.GetConnectorStatus(
            pb.GetConnectorStatusRequest(connector="orders", min_revision=asked)
        ),
        lambda stub, asked: stub.ListConnectorStatuses(pb.ListConnectorStatusesRequest(min_revision=asked)),
        lambda stub, asked: stub.ListTopics(pb.ListTopicsRequest(connector="orders", min_revision=asked)),
    ],
)
async def test_a_read_waits_for_the_revision_it_asks_for(world: Any, read: Call) -> None:
    asked = beyond((await world.stub.ReportStatuses(report())).revision)

    answer = await answer_after(
        lambda revision: read(world.stub, revision), asked, lambda: world.stub.ReportTopics(topics("t"))
    )

    assert answer.revision == asked
