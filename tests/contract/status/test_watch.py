"""What watchers of the status service see."""

from contextlib import aclosing
from typing import Any

from copycat.status.v1 import status_service_pb2 as pb
from copycat.types.v1 import types_pb2

RUNNING = pb.Status(state=types_pb2.STATE_RUNNING, worker_id="h:1", generation=7, since_ms=1000)


def instance(task: int | None = None, status: pb.Status | None = RUNNING) -> pb.InstanceStatus:
    return pb.InstanceStatus(connector="orders", task=task, status=status)


def report(*statuses: pb.InstanceStatus) -> pb.ReportStatusesRequest:
    return pb.ReportStatusesRequest(statuses=statuses)


async def read(watch: Any, count: int) -> list[pb.WatchStatusesResponse]:
    return [await anext(watch) for _ in range(count)]


def watching(world: Any, after: types_pb2.Revision | None = None) -> Any:
    return aclosing(aiter(world.stub.WatchStatuses(pb.WatchStatusesRequest(after_revision=after))))


async def test_a_snapshot_has_every_status_and_no_topics(world: Any) -> None:
    await world.stub.ReportStatuses(report(instance(), instance(0)))
    await world.stub.ReportTopics(pb.ReportTopicsRequest(connector="orders", topics=["t"]))

    async with watching(world) as watch:
        connector, task, complete = await read(watch, 3)

    assert (connector.status, task.status) == (instance(), instance(0))
    assert complete.snapshot_complete
    assert dict(complete.revision.next) == {0: 3}


async def test_changes_follow_in_log_order(world: Any) -> None:
    async with watching(world) as watch:
        await read(watch, 1)
        await world.stub.ReportStatuses(report(instance(), instance(0)))
        await world.stub.ReportTopics(pb.ReportTopicsRequest(connector="orders", topics=["t"]))
        await world.stub.ForgetStatuses(pb.ForgetStatusesRequest(connector="orders"))
        messages = await read(watch, 4)

    assert [message.status for message in messages[:2]] == [instance(), instance(0)]
    assert [message.removed for message in messages[2:]] == [instance(0, None), instance(None, None)]
    assert [dict(message.revision.next)[0] for message in messages] == [1, 2, 4, 5]


async def test_a_late_unassigned_of_another_writer_is_not_shown(world: Any) -> None:
    async with watching(world) as watch:
        await read(watch, 1)
        await world.stub.ReportStatuses(report(instance(0)))
        world.write(
            "status-task-orders-0",
            '{"state":"UNASSIGNED","trace":null,"worker_id":"h:2","generation":6,"version":null}',
        )
        await world.stub.ReportStatuses(report(instance(1)))
        messages = await read(watch, 2)

    assert [message.status for message in messages] == [instance(0), instance(1)]


async def test_a_watch_resumes_after_a_revision(world: Any) -> None:
    first = await world.stub.ReportStatuses(report(instance()))
    await world.stub.ReportStatuses(report(instance(0)))

    async with watching(world, first.revision) as watch:
        (message,) = await read(watch, 1)

    assert message.status == instance(0)
