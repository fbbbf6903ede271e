"""MetricsService over loopback gRPC: what a process reports, at any time of its life."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from math import inf, isnan

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
from copycat_telemetry.metrics.groups import CONNECTOR, SINK_TASK, SOURCE_TASK
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc

TASK = {"connector": "café", "task": "0"}


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
        Reading(SOURCE_TASK, TASK, {"source-record-poll-total": 3, "source-record-active-count": 2}),
        Reading(CONNECTOR, {"connector": "café"}, {"status": "running"}),
    ]
    async with serving(lambda: readings) as (_, address):
        found = await read(address)

    totals = [
        pb.Metric(name="source-record-poll-total", total=3),
        pb.Metric(name="source-record-active-count", gauge=2),
    ]
    assert found == [
        pb.MetricGroup(name="source-task-metrics", tags=TASK, metrics=totals),
        pb.MetricGroup(
            name="connector-metrics",
            tags={"connector": "café"},
            metrics=[pb.Metric(name="status", text="running")],
        ),
    ]


async def test_numbers_without_end_and_what_is_no_number_arrive() -> None:
    values = {"put-batch-max-time-ms": inf, "put-batch-avg-time-ms": float("nan")}
    async with serving(lambda: [Reading(SINK_TASK, TASK, values)]) as (_, address):
        (group,) = await read(address)

    assert group.metrics[0].gauge == inf
    assert isnan(group.metrics[1].gauge)


async def test_each_call_reads_anew() -> None:
    numbers = iter((1, 2))

    def source() -> Iterator[Reading]:
        yield Reading(SINK_TASK, TASK, {"partition-count": next(numbers)})

    async with serving(source) as (_, address):
        found = [(await read(address))[0].metrics[0].gauge for _ in range(2)]

    assert found == [1, 2]


async def test_a_process_that_has_nothing_to_tell_answers_all_the_same() -> None:
    async with serving(list) as (_, address):
        assert await read(address) == []


async def test_metrics_are_told_while_other_calls_wait_for_the_service_to_be_ready() -> None:
    async with serving(lambda: [Reading(SINK_TASK, TASK, {"partition-count": 1})]) as (server, address):
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
