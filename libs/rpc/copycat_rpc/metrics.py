"""MetricsService: the current metrics of a process, for whoever shows them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

from copycat.metrics.v1 import metrics_service_pb2 as pb
from copycat.metrics.v1 import metrics_service_pb2_grpc
from copycat_telemetry.metrics.definitions import Metric, MetricKind, MetricsRegistry, Reading, Source, Value
from copycat_telemetry.metrics.export import exporting

from copycat_rpc.server import RpcServer

METRICS_SERVICE_NAME = "copycat.metrics.v1.MetricsService"


class MetricsServicer(metrics_service_pb2_grpc.MetricsServiceServicer):
    """Reads a registry for each call."""

    def __init__(self, registry: MetricsRegistry) -> None:
        self._registry = registry

    async def ReadMetrics(self, request: pb.ReadMetricsRequest, context: object) -> pb.ReadMetricsResponse:
        """Read the metrics as they are now."""
        del request, context
        return pb.ReadMetricsResponse(groups=[_group(reading) for reading in self._registry.read()])


@asynccontextmanager
async def serving_metrics(
    server: RpcServer, role: str, properties: Mapping[str, str], source: Source
) -> AsyncIterator[None]:
    """Serve a role's metrics, and export them where a collector is named; enter before the server starts.

    Raises:
        ConfigError: A setting of the export is wrong.
    """
    registry = MetricsRegistry()
    server.add(
        metrics_service_pb2_grpc.add_MetricsServiceServicer_to_server,
        MetricsServicer(registry),
        METRICS_SERVICE_NAME,
    )
    with registry.reading_from(source):
        async with exporting(role, properties, registry):
            yield


def _group(reading: Reading) -> pb.MetricGroup:
    by_name = reading.group.by_name
    return pb.MetricGroup(
        name=reading.group.name,
        tags=reading.tags,
        metrics=[_metric(by_name[name], value) for name, value in reading.values.items()],
    )


def _metric(metric: Metric, value: Value) -> pb.Metric:
    match metric.kind:
        case MetricKind.TEXT:
            return pb.Metric(name=metric.name, text=str(value))
        case MetricKind.TOTAL:
            return pb.Metric(name=metric.name, total=float(value))
        case MetricKind.GAUGE:
            return pb.Metric(name=metric.name, gauge=float(value))
