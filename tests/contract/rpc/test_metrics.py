"""Metrics of a process: read by gRPC at any time of its life, and sent to a collector by OTLP."""

from __future__ import annotations

import asyncio
import itertools
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import asynccontextmanager
from math import inf, isnan
from typing import Any

import grpc
import pytest
from copycat.config.v1 import config_service_pb2 as config_pb
from copycat.config.v1 import config_service_pb2_grpc as config_rpc
from copycat.metrics.v1 import metrics_service_pb2 as pb
from copycat.metrics.v1.metrics_service_pb2_grpc import MetricsServiceStub
from copycat_connect.errors import ConfigError
from copycat_rpc.channel import open_channel
from copycat_rpc.metrics import METRICS_SERVICE_NAME, serving_metrics
from copycat_rpc.server import RpcServer
from copycat_telemetry.metrics.definitions import Reading, Source
from copycat_telemetry.metrics.groups import CONNECTOR, SINK_TASK, SOURCE_TASK, TASK_ERROR
from copycat_testkit.eventually import eventually
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc
from opentelemetry.proto.collector.metrics.v1 import metrics_service_pb2 as otlp
from opentelemetry.proto.collector.metrics.v1 import metrics_service_pb2_grpc as otlp_rpc

ACCENTED_TASK = {"connector": "café", "task": "0"}


class Service(config_rpc.ConfigServiceServicer):
    """Answers any name."""

    async def GetConnector(
        self, request: config_pb.GetConnectorRequest, context: object
    ) -> config_pb.GetConnectorResponse:
        return config_pb.GetConnectorResponse(connector=config_pb.Connector(name=request.name))


@asynccontextmanager
async def serving(source: Source) -> AsyncIterator[tuple[RpcServer, str]]:
    server = RpcServer("127.0.0.1:0")
    server.add(config_rpc.add_ConfigServiceServicer_to_server, Service(), "copycat.config.v1.ConfigService")
    async with serving_metrics(server, "config", {}, source):
        address = await server.start()
        yield server, address
        await server.stop(0)


async def read(address: str) -> list[pb.MetricGroup]:
    async with open_channel([address]) as channel:
        reply = await MetricsServiceStub(channel).ReadMetrics(pb.ReadMetricsRequest())
    return list(reply.groups)


async def test_a_metric_arrives_as_what_its_definition_says() -> None:
    readings = [
        Reading(SOURCE_TASK, ACCENTED_TASK, {"source-record-poll-total": 3, "source-record-active-count": 2}),
        Reading(CONNECTOR, {"connector": "café"}, {"status": "running"}),
    ]
    async with serving(lambda: readings) as (_, address):
        found = await read(address)

    totals = [
        pb.Metric(name="source-record-poll-total", total=3),
        pb.Metric(name="source-record-active-count", gauge=2),
    ]
    assert found == [
        pb.MetricGroup(name="source-task-metrics", tags=ACCENTED_TASK, metrics=totals),
        pb.MetricGroup(
            name="connector-metrics",
            tags={"connector": "café"},
            metrics=[pb.Metric(name="status", text="running")],
        ),
    ]


async def test_numbers_without_end_and_what_is_no_number_arrive() -> None:
    values = {"put-batch-max-time-ms": inf, "put-batch-avg-time-ms": float("nan")}
    async with serving(lambda: [Reading(SINK_TASK, ACCENTED_TASK, values)]) as (_, address):
        (group,) = await read(address)

    assert group.metrics[0].gauge == inf
    assert isnan(group.metrics[1].gauge)


async def test_each_call_reads_anew() -> None:
    numbers = iter((1, 2))

    def source() -> Iterator[Reading]:
        yield Reading(SINK_TASK, ACCENTED_TASK, {"partition-count": next(numbers)})

    async with serving(source) as (_, address):
        found = [(await read(address))[0].metrics[0].gauge for _ in range(2)]

    assert found == [1, 2]


async def test_a_process_that_has_nothing_to_tell_answers_all_the_same() -> None:
    async with serving(list) as (_, address):
        assert await read(address) == []


async def test_metrics_are_told_while_other_calls_wait_for_the_service_to_be_ready() -> None:
    async with serving(lambda: [Reading(SINK_TASK, ACCENTED_TASK, {"partition-count": 1})]) as (
        server,
        address,
    ):
        server.hold()
        async with open_channel([address]) as channel:
            stub = config_rpc.ConfigServiceStub(channel)
            held = asyncio.ensure_future(stub.GetConnector(config_pb.GetConnectorRequest(name="orders")))

            assert len(await read(address)) == 1
            assert not held.done()

            await server.set_serving(True)
            assert (await held).connector.name == "orders"


async def test_the_service_can_be_discovered() -> None:
    async with serving(list) as (_, address), open_channel([address]) as channel:
        stub = reflection_pb2_grpc.ServerReflectionStub(channel)
        request = reflection_pb2.ServerReflectionRequest(list_services="")
        async for answer in stub.ServerReflectionInfo(iter([request])):
            names = {service.name for service in answer.list_services_response.service}
            break

    assert METRICS_SERVICE_NAME in names


async def test_a_wrong_interval_is_refused_by_its_name() -> None:
    for wrong in ("0", "-1", "soon"):
        with pytest.raises(ConfigError, match=r"otel\.metric\.export\.interval\.ms") as caught:
            async with serving_metrics(
                RpcServer("127.0.0.1:0"), "config", {"otel.metric.export.interval.ms": wrong}, list
            ):
                raise AssertionError("entered")
        assert caught.value.fields["key"] == "otel.metric.export.interval.ms"


TASK = {"connector": "orders", "task": "0"}
POLLED = "kafka.connect.source-task-metrics.source-record-poll-total"
Points = dict[str, list[tuple[dict[str, str], float]]]


class Collector(otlp_rpc.MetricsServiceServicer):
    """Keeps what it is sent."""

    def __init__(self) -> None:
        self.requests: list[Any] = []
        self.address = ""

    async def Export(self, request: Any, context: Any) -> Any:
        self.requests.append(request)
        return otlp.ExportMetricsServiceResponse()

    def metrics(self) -> dict[str, Any]:
        """Return the newest metrics by name."""
        (resource,) = self.requests[-1].resource_metrics
        return {metric.name: metric for scope in resource.scope_metrics for metric in scope.metrics}

    def points(self) -> Points:
        """Return the newest values by name, with their attributes."""
        found: Points = {}
        for name, metric in self.metrics().items():
            points = getattr(metric, metric.WhichOneof("data")).data_points
            found[name] = [(_attributes(each.attributes), _number(each)) for each in points]
        return found


def _attributes(attributes: Iterable[Any]) -> dict[str, str]:
    return {each.key: each.value.string_value for each in attributes}


def _number(point: Any) -> float:
    return float(getattr(point, point.WhichOneof("value")))


@asynccontextmanager
async def collector() -> AsyncIterator[Collector]:
    """Serve a collector on loopback."""
    made, server = Collector(), grpc.aio.server()
    otlp_rpc.add_MetricsServiceServicer_to_server(made, server)  # type: ignore[no-untyped-call]
    made.address = f"http://127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
    await server.start()
    try:
        yield made
    finally:
        await server.stop(0)


@asynccontextmanager
async def exporting(to: Collector, source: Callable[[], Iterable[Reading]]) -> AsyncIterator[None]:
    """Export what a source reports, every few milliseconds, until the block ends."""
    told = {"otel.exporter.otlp.endpoint": to.address, "otel.metric.export.interval.ms": "20"}
    async with serving_metrics(RpcServer("127.0.0.1:0"), "executor", told, source):
        await eventually(lambda: bool(to.requests), within=60)
        yield


@pytest.fixture
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Loopback is reached without any proxy."""
    monkeypatch.setenv("no_grpc_proxy", "127.0.0.1")


@pytest.mark.usefixtures("_no_proxy")
async def test_a_collector_is_sent_metrics_under_their_groups_and_names() -> None:
    readings = [
        Reading(SOURCE_TASK, TASK, {"source-record-poll-total": 7, "source-record-poll-rate": 0.5}),
        Reading(TASK_ERROR, TASK, {"total-retries": 2}),
    ]
    async with collector() as to, exporting(to, lambda: readings):
        pass

    assert to.points() == {
        POLLED: [(TASK, 7)],
        "kafka.connect.source-task-metrics.source-record-poll-rate": [(TASK, 0.5)],
        "kafka.connect.task-error-metrics.total-retries": [(TASK, 2)],
    }


@pytest.mark.usefixtures("_no_proxy")
async def test_a_total_is_sent_as_a_sum_that_only_rises_and_a_level_as_a_gauge() -> None:
    values = {"source-record-poll-total": 7, "source-record-poll-rate": 0.5}
    async with collector() as to, exporting(to, lambda: [Reading(SOURCE_TASK, TASK, values)]):
        pass

    metrics = to.metrics()
    total = metrics[POLLED]
    assert total.sum.is_monotonic
    assert total.sum.aggregation_temporality == 2  # cumulative
    assert total.description == "Records polled, before transformations."
    assert metrics["kafka.connect.source-task-metrics.source-record-poll-rate"].HasField("gauge")


@pytest.mark.usefixtures("_no_proxy")
async def test_a_word_is_sent_as_an_attribute() -> None:
    reading = Reading(CONNECTOR, {"connector": "orders"}, {"status": "running"})
    async with collector() as to, exporting(to, lambda: [reading]):
        pass

    labels = {"connector": "orders", "status": "running"}
    assert to.points() == {"kafka.connect.connector-metrics.status": [(labels, 1)]}


@pytest.mark.usefixtures("_no_proxy")
async def test_what_is_no_number_is_not_sent() -> None:
    values = {"poll-batch-max-time-ms": float("nan"), "source-record-poll-total": 0}
    async with collector() as to, exporting(to, lambda: [Reading(SOURCE_TASK, TASK, values)]):
        pass

    assert to.points() == {POLLED: [(TASK, 0)]}


@pytest.mark.usefixtures("_no_proxy")
async def test_the_process_is_named_by_its_role() -> None:
    readings = [Reading(SOURCE_TASK, TASK, {"source-record-poll-total": 7})]
    async with collector() as to, exporting(to, lambda: readings):
        pass

    (resource,) = to.requests[-1].resource_metrics
    assert _attributes(resource.resource.attributes)["service.name"] == "copycat-executor"


@pytest.mark.usefixtures("_no_proxy")
async def test_exports_go_on_and_a_task_that_left_is_sent_no_longer() -> None:
    tasks = ["0", "1"]

    def source() -> list[Reading]:
        return [
            Reading(SOURCE_TASK, {**TASK, "task": task}, {"source-record-poll-total": 1}) for task in tasks
        ]

    async with collector() as to, exporting(to, source):
        await eventually(lambda: len(to.points()[POLLED]) == 2, within=60)
        tasks.remove("0")
        await eventually(lambda: len(to.points()[POLLED]) == 1, within=60)

    assert to.points()[POLLED] == [({**TASK, "task": "1"}, 1)]


@pytest.mark.usefixtures("_no_proxy")
async def test_a_source_that_fails_once_does_not_end_the_exports() -> None:
    reads = itertools.count()

    def source() -> list[Reading]:
        if next(reads) == 0:
            raise ValueError("not now")
        return [Reading(SOURCE_TASK, TASK, {"source-record-poll-total": 7})]

    async with collector() as to, exporting(to, source):
        pass

    assert to.points() == {POLLED: [(TASK, 7)]}


@pytest.mark.usefixtures("_no_proxy")
async def test_a_collector_that_is_away_keeps_no_process_from_starting_and_ending() -> None:
    server, tried = RpcServer("127.0.0.1:0"), asyncio.Event()
    async with collector() as gone:
        pass
    told = {"otel.exporter.otlp.endpoint": gone.address, "otel.metric.export.interval.ms": "1"}

    def source() -> list[Reading]:
        tried.set()
        return [Reading(SOURCE_TASK, TASK, {"source-record-poll-total": 7})]

    async with serving_metrics(server, "executor", told, source):
        await tried.wait()
        await server.start()
        await server.stop(0)


@pytest.mark.usefixtures("_no_proxy")
def test_without_a_collector_nothing_is_loaded_for_one() -> None:
    script = """
import asyncio, sys
from copycat_rpc.metrics import serving_metrics
from copycat_rpc.server import RpcServer

async def tell(properties):
    async with serving_metrics(RpcServer("127.0.0.1:0"), "config", properties, list):
        pass

for properties in ({}, {"otel.exporter.otlp.endpoint": ""}):
    asyncio.run(tell(properties))
unwanted = ("opentelemetry.exporter", "opentelemetry.sdk")
print([name for name in sys.modules if name.startswith(unwanted)])
"""
    run = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=100, check=False
    )

    assert (run.returncode, run.stdout.strip()) == (0, "[]"), run.stderr
