"""Export of spans over OTLP; imported only where a collector is named, since the SDK costs start-up time."""

from __future__ import annotations

from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor


def export_spans(service: str, endpoint: str) -> None:
    """Send the spans of this process to a collector, in batches, in the background."""
    provider = TracerProvider(resource=Resource.create({"service.name": f"copycat-{service}"}))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(endpoint=endpoint)))
    trace.set_tracer_provider(provider)
