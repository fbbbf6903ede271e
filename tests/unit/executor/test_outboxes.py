"""What the executor keeps of statuses and topics while the status service does not write them."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any

import pytest
from copycat.status.v1 import status_service_pb2 as pb
from copycat.types.v1 import types_pb2
from copycat_connect.cluster import Instance
from copycat_connect.errors import ErrorCode, UnavailableError
from copycat_executor.outbox import status_outbox, topic_outbox
from copycat_rpc.errors import RemoteError
from copycat_testkit.eventually import eventually

GIVEN_UP = RemoteError(ErrorCode("status.given_up", "UNAVAILABLE", 503), "gave up after 5 retries")
TASK = Instance("orders", 0)


class StatusService:
    """Fails as a test says, then accepts all; writes down what it was asked for, and for how long."""

    def __init__(self, *failures: Exception) -> None:
        self.failures = deque(failures)
        self.asked: list[Any] = []
        self.timeouts: list[float] = []

    async def _take(self, request: Any, timeout: float) -> None:
        self.asked.append(request)
        self.timeouts.append(timeout)
        if self.failures:
            raise self.failures.popleft()

    ReportStatuses = ReportTopics = _take


@asynccontextmanager
async def running(outbox: Any) -> AsyncIterator[None]:
    work = asyncio.create_task(outbox.run())
    yield
    work.cancel()
    await asyncio.wait((work,))


def statuses_to(service: StatusService) -> status_outbox.StatusOutbox:
    services: Any = SimpleNamespace(status=service)
    return status_outbox.StatusOutbox("w1", services, lambda _: True)


@pytest.mark.row("KRETRY-12", "KRETRY-19")
async def test_a_status_that_was_given_up_is_kept_until_it_is_written() -> None:
    service = StatusService(GIVEN_UP, UnavailableError("no answer in time"))
    outbox = statuses_to(service)
    async with running(outbox):
        outbox.report(TASK, types_pb2.STATE_FAILED, 1)
        assert await outbox.flushed(60.0)

    assert len(service.asked) == 3
    assert all(asked == service.asked[0] for asked in service.asked)
    assert max(service.timeouts) == status_outbox.HAND_OVER_SECONDS


@pytest.mark.row("KRETRY-13")
async def test_a_newer_status_is_handed_over_instead_of_one_that_is_not_written_yet() -> None:
    service = StatusService(GIVEN_UP)
    outbox = statuses_to(service)
    async with running(outbox):
        outbox.report(TASK, types_pb2.STATE_FAILED, 1)
        await eventually(lambda: len(service.asked) == 1)
        outbox.report(TASK, types_pb2.STATE_RUNNING, 2)
        assert await outbox.flushed(60.0)

    states = [asked.statuses[0].status.state for asked in service.asked]
    assert states == [types_pb2.STATE_FAILED, types_pb2.STATE_RUNNING]


@pytest.mark.row("KRETRY-17")
async def test_a_topic_that_was_given_up_is_reported_again_with_the_next_record() -> None:
    service = StatusService(GIVEN_UP)
    services: Any = SimpleNamespace(status=service)
    outbox = topic_outbox.TopicOutbox(services, lambda _: True, tracking=True)
    seen = topic_outbox.SeenTopics(TASK)
    async with running(outbox):
        outbox.seen(seen, ["lines"])
        await eventually(lambda: not outbox._waiting)
        assert len(service.asked) == 1
        outbox.seen(seen, ["lines"])
        await eventually(lambda: len(service.asked) == 2)

    assert [list(asked.topics) for asked in service.asked] == [["lines"]] * 2
    assert isinstance(service.asked[1], pb.ReportTopicsRequest)
