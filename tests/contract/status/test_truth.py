"""Since when, why, and how a connector is as a whole: what answers add to Kafka Connect's statuses."""

from __future__ import annotations

import time
from typing import Any

from copycat.status.v1 import status_service_pb2 as pb
from copycat.types.v1 import types_pb2

WORKER = "h:1"


def status(
    state: types_pb2.State.ValueType = types_pb2.STATE_RUNNING, *, trace: str | None = None, since_ms: int = 0
) -> pb.Status:
    return pb.Status(state=state, worker_id=WORKER, generation=7, trace=trace, since_ms=since_ms)


async def report(world: Any, *statuses: pb.Status) -> None:
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


async def read(world: Any) -> pb.ConnectorStatus:
    """Return the connector's status; a listing must say the same."""
    found = (await world.stub.GetConnectorStatus(pb.GetConnectorStatusRequest(connector="orders"))).status
    listed = await world.stub.ListConnectorStatuses(pb.ListConnectorStatusesRequest())
    assert [each.health for each in listed.statuses] == [found.health]
    return found  # type: ignore[no-any-return]


async def test_a_status_says_since_when_its_worker_has_it_so(world: Any) -> None:
    await report(world, status(since_ms=1000), status(since_ms=2000))
    await report(world, status(since_ms=5000), status(types_pb2.STATE_PAUSED, since_ms=6000))
    found = await read(world)
    assert (found.status.since_ms, found.tasks[0].since_ms) == (1000, 6000)
    assert [entry.record.timestamp_ms for entry in world.topic.entries] == [1000, 2000, 6000]


async def test_a_status_begins_now_where_its_worker_does_not_say_or_its_clock_is_ahead(world: Any) -> None:
    before = int(time.time() * 1000)
    await report(world, status(), status(since_ms=before + 3_600_000))
    found, after = await read(world), int(time.time() * 1000)
    assert before <= found.status.since_ms <= after
    assert before <= found.tasks[0].since_ms <= after


async def test_who_runs_needs_no_reason(world: Any) -> None:
    await report(world, status(), status())
    found = await read(world)
    assert (found.health, found.health_reason) == (pb.HEALTH_HEALTHY, "")
    assert not found.tasks[0].HasField("reason")


async def test_a_part_that_failed_degrades_and_all_of_it_fails(world: Any) -> None:
    failed = status(types_pb2.STATE_FAILED, trace="x.y.DbError: gone\n\tat here\nCaused by: KeyError: 'k'\n")
    await report(world, status(), failed, status(), status())
    found = await read(world)
    reason = "DbError: gone; caused by KeyError: 'k'"
    assert found.health == pb.HEALTH_DEGRADED
    assert found.health_reason == f"1 of 3 tasks FAILED: task 0: {reason}"
    assert found.tasks[0].reason == reason

    await report(world, status(), failed, failed, failed)
    assert (await read(world)).health == pb.HEALTH_FAILED


async def test_a_task_that_hangs_runs_and_is_degraded_until_that_is_over(world: Any) -> None:
    await report(world, status(), status(), status())
    await tell(world, hanging(task=1))
    found = await read(world)
    assert found.tasks[1].state == types_pb2.STATE_RUNNING
    assert found.tasks[1].reason.startswith("put has not returned for 6")
    assert found.tasks[1].reason.endswith(" s: in wait (threading.py:355)")
    assert found.health == pb.HEALTH_DEGRADED
    assert found.health_reason == f"1 of 2 tasks not moving: task 1: {found.tasks[1].reason}"

    await tell(world)
    assert (await read(world)).health == pb.HEALTH_HEALTHY


async def test_trouble_of_an_older_generation_or_of_a_failed_task_is_not_told(world: Any) -> None:
    await report(world, status(), status())
    await tell(world, hanging(generation=6))
    assert (await read(world)).health == pb.HEALTH_HEALTHY

    await tell(world, hanging())
    await report(world, status(), status(types_pb2.STATE_FAILED, trace="KeyError: 'k'"))
    assert (await read(world)).tasks[0].reason == "KeyError: 'k'"
