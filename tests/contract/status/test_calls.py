"""What the status service answers, what it adds to Kafka Connect's statuses, and what watchers see."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import aclosing
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


WORKER = "h:1"


def status(
    state: types_pb2.State.ValueType = types_pb2.STATE_RUNNING, *, trace: str | None = None, since_ms: int = 0
) -> pb.Status:
    return pb.Status(state=state, worker_id=WORKER, generation=7, trace=trace, since_ms=since_ms)


async def report_now(world: Any, *statuses: pb.Status) -> None:
    """Report the connector's status, then those of its tasks."""
    instances = [
        pb.InstanceStatus(connector="orders", task=place - 1 if place else None, status=each)
        for place, each in enumerate(statuses)
    ]
    await world.stub.ReportStatuses(pb.ReportStatusesRequest(statuses=instances))


def hanging(generation: int = 7, task: int = 0) -> pb.Trouble:
    return pb.Trouble(
        connector="orders",
        task=task,
        generation=generation,
        kind=pb.TROUBLE_KIND_HANGS,
        call="put",
        since_ms=int(time.time() * 1000) - 60_000,
        text="in wait (threading.py:355)",
    )


async def tell(world: Any, *troubles: pb.Trouble) -> None:
    await world.stub.ReportTroubles(pb.ReportTroublesRequest(worker_id=WORKER, troubles=troubles))


async def status_of(world: Any) -> pb.ConnectorStatus:
    """Return the connector's status; a listing must say the same."""
    found = (await world.stub.GetConnectorStatus(pb.GetConnectorStatusRequest(connector="orders"))).status
    listed = await world.stub.ListConnectorStatuses(pb.ListConnectorStatusesRequest())
    assert [each.health for each in listed.statuses] == [found.health]
    return found  # type: ignore[no-any-return]


async def test_a_status_says_since_when_its_worker_has_it_so(world: Any) -> None:
    await report_now(world, status(since_ms=1000), status(since_ms=2000))
    await report_now(world, status(since_ms=5000), status(types_pb2.STATE_PAUSED, since_ms=6000))
    found = await status_of(world)
    assert (found.status.since_ms, found.tasks[0].since_ms) == (1000, 6000)
    assert [entry.record.timestamp_ms for entry in world.topic.entries] == [1000, 2000, 6000]


async def test_a_status_begins_now_where_its_worker_does_not_say_or_its_clock_is_ahead(world: Any) -> None:
    before = int(time.time() * 1000)
    await report_now(world, status(), status(since_ms=before + 3_600_000))
    found, after = await status_of(world), int(time.time() * 1000)
    assert before <= found.status.since_ms <= after
    assert before <= found.tasks[0].since_ms <= after


async def test_who_runs_needs_no_reason(world: Any) -> None:
    await report_now(world, status(), status())
    found = await status_of(world)
    assert (found.health, found.health_reason) == (pb.HEALTH_HEALTHY, "")
    assert not found.tasks[0].HasField("reason")


async def test_a_part_that_failed_degrades_and_all_of_it_fails(world: Any) -> None:
    failed = status(types_pb2.STATE_FAILED, trace="x.y.DbError: gone\n\tat here\nCaused by: KeyError: 'k'\n")
    await report_now(world, status(), failed, status(), status())
    found = await status_of(world)
    reason = "DbError: gone; caused by KeyError: 'k'"
    assert found.health == pb.HEALTH_DEGRADED
    assert found.health_reason == f"1 of 3 tasks FAILED: task 0: {reason}"
    assert found.tasks[0].reason == reason

    await report_now(world, status(), failed, failed, failed)
    assert (await status_of(world)).health == pb.HEALTH_FAILED


async def test_a_task_that_hangs_runs_and_is_degraded_until_that_is_over(world: Any) -> None:
    await report_now(world, status(), status(), status())
    await tell(world, hanging(task=1))
    found = await status_of(world)
    assert found.tasks[1].state == types_pb2.STATE_RUNNING
    assert found.tasks[1].reason.startswith("put has not returned for 6")
    assert found.tasks[1].reason.endswith(" s: in wait (threading.py:355)")
    assert found.health == pb.HEALTH_DEGRADED
    assert found.health_reason == f"1 of 2 tasks not moving: task 1: {found.tasks[1].reason}"

    await tell(world)
    assert (await status_of(world)).health == pb.HEALTH_HEALTHY


async def test_trouble_of_an_older_generation_or_of_a_failed_task_is_not_told(world: Any) -> None:
    await report_now(world, status(), status())
    await tell(world, hanging(generation=6))
    assert (await status_of(world)).health == pb.HEALTH_HEALTHY

    await tell(world, hanging())
    await report_now(world, status(), status(types_pb2.STATE_FAILED, trace="KeyError: 'k'"))
    assert (await status_of(world)).tasks[0].reason == "KeyError: 'k'"


def instance(task: int | None = None, status: pb.Status | None = RUNNING) -> pb.InstanceStatus:
    return pb.InstanceStatus(connector="orders", task=task, status=status)


def reports(*statuses: pb.InstanceStatus) -> pb.ReportStatusesRequest:
    return pb.ReportStatusesRequest(statuses=statuses)


async def changes_of(watch: Any, count: int) -> list[pb.WatchStatusesResponse]:
    return [await anext(watch) for _ in range(count)]


def watching(world: Any, after: types_pb2.Revision | None = None) -> Any:
    return aclosing(aiter(world.stub.WatchStatuses(pb.WatchStatusesRequest(after_revision=after))))


async def test_a_snapshot_has_every_status_and_no_topics(world: Any) -> None:
    await world.stub.ReportStatuses(reports(instance(), instance(0)))
    await world.stub.ReportTopics(pb.ReportTopicsRequest(connector="orders", topics=["t"]))

    async with watching(world) as watch:
        connector, task, complete = await changes_of(watch, 3)

    assert (connector.status, task.status) == (instance(), instance(0))
    assert complete.snapshot_complete
    assert dict(complete.revision.next) == {0: 3}


async def test_changes_follow_in_log_order(world: Any) -> None:
    async with watching(world) as watch:
        await changes_of(watch, 1)
        await world.stub.ReportStatuses(reports(instance(), instance(0)))
        await world.stub.ReportTopics(pb.ReportTopicsRequest(connector="orders", topics=["t"]))
        await world.stub.ForgetStatuses(pb.ForgetStatusesRequest(connector="orders"))
        messages = await changes_of(watch, 4)

    assert [message.status for message in messages[:2]] == [instance(), instance(0)]
    assert [message.removed for message in messages[2:]] == [instance(0, None), instance(None, None)]
    assert [dict(message.revision.next)[0] for message in messages] == [1, 2, 4, 5]


async def test_a_late_unassigned_of_another_writer_is_not_shown(world: Any) -> None:
    async with watching(world) as watch:
        await changes_of(watch, 1)
        await world.stub.ReportStatuses(reports(instance(0)))
        world.write(
            "status-task-orders-0",
            '{"state":"UNASSIGNED","trace":null,"worker_id":"h:2","generation":6,"version":null}',
        )
        await world.stub.ReportStatuses(reports(instance(1)))
        messages = await changes_of(watch, 2)

    assert [message.status for message in messages] == [instance(0), instance(1)]


async def test_a_watch_resumes_after_a_revision(world: Any) -> None:
    first = await world.stub.ReportStatuses(reports(instance()))
    await world.stub.ReportStatuses(reports(instance(0)))

    async with watching(world, first.revision) as watch:
        (message,) = await changes_of(watch, 1)

    assert message.status == instance(0)
