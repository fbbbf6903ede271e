"""An OTLP receiver for tests: a gRPC server of the protocol's own services, which keeps what it is sent."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from types import TracebackType
from typing import Self

import grpc
from copycat_embedded.ports import LOOPBACK
from opentelemetry.proto.collector.metrics.v1 import metrics_service_pb2 as metrics_pb
from opentelemetry.proto.collector.metrics.v1 import metrics_service_pb2_grpc as metrics_rpc
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2 as trace_pb
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2_grpc as trace_rpc
from opentelemetry.proto.common.v1.common_pb2 import KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span

# Generated without types.
_add_traces: Callable[..., None] = trace_rpc.add_TraceServiceServicer_to_server
_add_metrics: Callable[..., None] = metrics_rpc.add_MetricsServiceServicer_to_server


@dataclass(frozen=True, slots=True)
class ReceivedSpan:
    """One span as it came."""

    service: str
    """Of the process, e.g. copycat-executor."""
    name: str
    """What was done."""
    trace: str
    """Trace id, hex."""
    span: str
    """Span id, hex."""
    parent: str
    """Span id of the parent, hex; empty at the beginning of a trace."""
    attributes: dict[str, str | int]
    """Text and whole numbers."""
    failed: bool
    """Whether it ended with an error."""


class OtlpReceiver:
    """Takes spans and metrics on a port of its own."""

    def __init__(self, port: int = 0) -> None:
        """Nothing starts yet; port 0 picks a free one."""
        self._lock = threading.Lock()
        self._spans: list[ReceivedSpan] = []
        self._metrics: set[str] = set()
        self._server = grpc.server(ThreadPoolExecutor(4))
        _add_traces(_Traces(self._take_spans), self._server)
        _add_metrics(_Metrics(self._take_metrics), self._server)
        self.port = self._server.add_insecure_port(f"{LOOPBACK}:{port}")

    @property
    def endpoint(self) -> str:
        """What `otel.exporter.otlp.endpoint` is to be."""
        return f"http://{LOOPBACK}:{self.port}"

    def spans(self, *, trace: str | None = None, **attributes: str | int) -> Sequence[ReceivedSpan]:
        """Return the spans of a trace, or all, that have these attributes (`connector="x"`)."""
        wanted = {f"copycat.{name}": value for name, value in attributes.items()}.items()
        with self._lock:
            return [
                each
                for each in self._spans
                if trace in {None, each.trace} and wanted <= each.attributes.items()
            ]

    def metrics(self) -> set[str]:
        """Return the names of all metrics that came."""
        with self._lock:
            return set(self._metrics)

    def __enter__(self) -> Self:
        """Listen."""
        self._server.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop."""
        self._server.stop(0).wait()

    def _take_spans(self, request: trace_pb.ExportTraceServiceRequest) -> None:
        found = [
            _received(_texts(resource.resource.attributes)["service.name"], span)
            for resource in request.resource_spans
            for scope in resource.scope_spans
            for span in scope.spans
        ]
        with self._lock:
            self._spans += found

    def _take_metrics(self, request: metrics_pb.ExportMetricsServiceRequest) -> None:
        names = {
            metric.name
            for resource in request.resource_metrics
            for scope in resource.scope_metrics
            for metric in scope.metrics
        }
        with self._lock:
            self._metrics |= names


class _Traces(trace_rpc.TraceServiceServicer):
    def __init__(self, take: Callable[[trace_pb.ExportTraceServiceRequest], None]) -> None:
        self._take = take

    def Export(
        self, request: trace_pb.ExportTraceServiceRequest, context: grpc.ServicerContext
    ) -> trace_pb.ExportTraceServiceResponse:
        del context
        self._take(request)
        return trace_pb.ExportTraceServiceResponse()


class _Metrics(metrics_rpc.MetricsServiceServicer):
    def __init__(self, take: Callable[[metrics_pb.ExportMetricsServiceRequest], None]) -> None:
        self._take = take

    def Export(
        self, request: metrics_pb.ExportMetricsServiceRequest, context: grpc.ServicerContext
    ) -> metrics_pb.ExportMetricsServiceResponse:
        del context
        self._take(request)
        return metrics_pb.ExportMetricsServiceResponse()


def _received(service: str | int, span: Span) -> ReceivedSpan:
    return ReceivedSpan(
        str(service),
        span.name,
        span.trace_id.hex(),
        span.span_id.hex(),
        span.parent_span_id.hex(),
        _texts(span.attributes),
        span.status.code == span.status.STATUS_CODE_ERROR,
    )


def _texts(attributes: Iterable[KeyValue]) -> dict[str, str | int]:
    return {each.key: each.value.string_value or each.value.int_value for each in attributes}
