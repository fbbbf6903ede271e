"""Traces: off unless `OTEL_EXPORTER_OTLP_ENDPOINT` or a service's setting names a collector.

The context itself always travels (W3C `traceparent`), so that a caller's trace is not cut by a service that
exports none.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from opentelemetry import propagate, trace
from opentelemetry.trace import SpanKind

Metadatum = tuple[str, str | bytes]


def configure_tracing(service: str, endpoint: str | None) -> None:
    """Export spans to an OTLP collector; without an endpoint nothing is recorded and nothing is loaded."""
    if not endpoint:
        return
    from copycat_telemetry.otlp import export_spans  # 150 ms, where spans are wanted

    export_spans(service, endpoint)


def outgoing(metadata: Iterable[Metadatum] | None) -> list[Metadatum]:
    """Return call metadata with the current trace context added."""
    carrier: dict[str, str] = {}
    propagate.inject(carrier)
    return [*(metadata or ()), *carrier.items()]


@contextmanager
def incoming(method: str, metadata: Iterable[Metadatum]) -> Iterator[None]:
    """Run a block as the server's side of a call, under the caller's trace context."""
    carrier = {key: value for key, value in metadata if isinstance(value, str)}
    if not (_recording() or carrier.keys() & propagate.get_global_textmap().fields):
        yield  # a span that nobody sees would cost more than many a call
        return
    tracer = trace.get_tracer("copycat")
    with tracer.start_as_current_span(method, context=propagate.extract(carrier), kind=SpanKind.SERVER):
        yield


def _recording() -> bool:
    return not isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider)
