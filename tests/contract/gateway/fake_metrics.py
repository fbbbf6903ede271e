"""The metrics of the services that the fakes stand for."""

from __future__ import annotations

from typing import Any

import grpc
from copycat.metrics.v1 import metrics_service_pb2 as pb
from copycat.metrics.v1 import metrics_service_pb2_grpc


class FakeMetrics(metrics_service_pb2_grpc.MetricsServiceServicer):
    """Tells what it was given; until then it is as if there were none."""

    def __init__(self) -> None:
        self.groups: list[pb.MetricGroup] | None = None
        self.asked = 0

    async def ReadMetrics(self, request: Any, context: Any) -> pb.ReadMetricsResponse:
        self.asked += 1
        if self.groups is None:
            await context.abort(grpc.StatusCode.UNIMPLEMENTED, "no metrics")
        return pb.ReadMetricsResponse(groups=self.groups)
