"""`/metrics`: what the gateway finds out from services on loopback, some of them away."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

from copycat.metrics.v1 import metrics_service_pb2 as pb
from copycat.metrics.v1.metrics_service_pb2_grpc import (
    MetricsServiceServicer,
    add_MetricsServiceServicer_to_server,
)
from copycat.scheduler.v1.scheduler_service_pb2 import Worker
from copycat.scheduler.v1.scheduler_service_pb2_grpc import SchedulerServiceStub
from copycat_gateway.scrape import Scrape, ServiceMetrics
from copycat_gateway.workers import Workers
from copycat_rpc.channel import open_channel
from copycat_rpc.metrics import METRICS_SERVICE_NAME
from copycat_rpc.server import RpcServer
from prometheus_client.parser import text_string_to_metric_families

from tests.contract.gateway.world import World, world

LEADS = pb.MetricGroup(name="event-log-metrics", metrics=[pb.Metric(name="leads", gauge=1)])


class Metrics(MetricsServiceServicer):
    """Tells one number, and may be held back."""

    def __init__(self) -> None:
        self.asked, self.go_on = asyncio.Event(), asyncio.Event()
        self.go_on.set()

    async def ReadMetrics(self, request: Any, context: Any) -> pb.ReadMetricsResponse:
        self.asked.set()
        await self.go_on.wait()
        return pb.ReadMetricsResponse(groups=[LEADS])


class Cluster:
    """A scheduler with workers that report metrics, and what asks them."""

    def __init__(self, made: World, scrape: Scrape, stack: AsyncExitStack) -> None:
        self.scheduler, self.scrape = made.scheduler, scrape
        self._stack = stack

    async def add_worker(self) -> tuple[str, Metrics]:
        """Start a worker that the scheduler lists."""
        metrics, server = Metrics(), RpcServer("127.0.0.1:0")
        server.add(add_MetricsServiceServicer_to_server, metrics, METRICS_SERVICE_NAME)
        address = await server.start()
        self._stack.push_async_callback(server.stop, 0)
        self.scheduler.workers[address] = Worker(worker_id=address)
        return address, metrics


@asynccontextmanager
async def cluster(patience: float = 30.0, **fixed: str) -> AsyncIterator[Cluster]:
    async with AsyncExitStack() as stack:
        made = World(stack)
        await made.start()
        channel = await stack.enter_async_context(open_channel([made.address]))
        workers = Workers(SchedulerServiceStub(channel))
        scrape = Scrape({role: [address] for role, address in fixed.items()}, workers, patience=patience)
        stack.push_async_callback(scrape.close)
        yield Cluster(made, scrape, stack)


def answered(told: Sequence[ServiceMetrics]) -> dict[str, bool]:
    return {each.address: each.groups is not None for each in told}


async def test_workers_that_were_seen_are_asked_while_no_scheduler_tells_of_them() -> None:
    async with cluster() as it:
        address, _ = await it.add_worker()
        await it.scrape.read()
        it.scheduler.away = True
        told = await it.scrape.read()

    assert answered(told) == {address: True}


async def test_every_live_worker_is_asked() -> None:
    async with cluster() as it:
        workers = [(await it.add_worker())[0] for _ in range(2)]
        told = await it.scrape.read()

    assert answered(told) == dict.fromkeys(workers, True)
    assert [list(each.groups or ()) for each in told] == [[LEADS], [LEADS]]


async def test_a_service_without_an_answer_is_named_beside_those_that_answer() -> None:
    async with cluster(patience=5.0, status="127.0.0.1:1") as it:
        worker, _ = await it.add_worker()
        told = await it.scrape.read()

    assert answered(told) == {"127.0.0.1:1": False, worker: True}


async def test_a_service_that_knows_no_metrics_counts_as_one_that_does_not_answer() -> None:
    async with world() as made:
        page = (await made.rest.get("/metrics")).text

    ups = [
        (each.labels["service"], each.value)
        for family in text_string_to_metric_families(page)
        for each in family.samples
        if each.name == "copycat_service_up"
    ]
    assert sorted(ups) == [("config", 0), ("offset", 0), ("scheduler", 0), ("status", 0)]


async def test_a_worker_that_left_is_asked_no_longer() -> None:
    async with cluster() as it:
        left, _ = await it.add_worker()
        stays, _ = await it.add_worker()
        await it.scrape.read()
        del it.scheduler.workers[left]

        assert answered(await it.scrape.read()) == {stays: True}


async def test_a_reader_gets_its_page_although_another_one_sees_a_worker_leave_meanwhile() -> None:
    async with cluster() as it:
        left, slow = await it.add_worker()
        slow.go_on.clear()
        first = asyncio.create_task(it.scrape.read())
        await slow.asked.wait()
        del it.scheduler.workers[left]

        second = await it.scrape.read()
        slow.go_on.set()

        assert [each.address for each in await first] == [left]
        assert list(second) == []


async def test_readers_who_see_several_workers_leave_at_once_all_get_their_page() -> None:
    async with cluster() as it:
        for _ in range(3):
            await it.add_worker()
        await it.scrape.read()
        it.scheduler.workers.clear()

        assert await asyncio.gather(*(it.scrape.read() for _ in range(3))) == [[], [], []]


async def test_the_page_is_for_everybody_whatever_they_accept() -> None:
    accepts = ("text/plain;version=0.0.4", "application/openmetrics-text", "*/*", "text/html")
    async with world() as made:
        answers = [await made.rest.get("/metrics", headers={"accept": accept}) for accept in accepts]

    assert [answer.status_code for answer in answers] == [200] * len(accepts)
    for answer in answers:
        kind = answer.headers["content-type"]
        assert kind.startswith("text/plain; version=")
        assert kind.count("charset=utf-8") == 1
