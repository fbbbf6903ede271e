"""Export of spans over OTLP; imported only where a collector is named, since the SDK costs start-up time.

A collector that is away costs nothing but spans: as many as `MAX_WAITING_SPANS` wait for it, further ones are
dropped and counted, and the end of the process, or of a piece of its work, waits for it `LAST_EXPORT_SECONDS`
at most.
"""

from __future__ import annotations

import atexit
import threading
from collections.abc import Callable, Sequence
from typing import Final

from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult

from copycat_telemetry.losses import Losses

#: Spans kept while the collector does not take them, some two kilobytes each.
MAX_WAITING_SPANS: Final = 4096
MAX_BATCH_SPANS: Final = 512
EXPORT_INTERVAL_MS: Final = 1000
#: For one batch, with all its attempts; what is not taken by then is dropped.
EXPORT_TIMEOUT_SECONDS: Final = 5
LAST_EXPORT_SECONDS: Final = 1.0


class CountingExporter(SpanExporter):
    """Counts what the collector does not take."""

    def __init__(self, exporter: SpanExporter, losses: Losses) -> None:
        self._exporter = exporter
        self._losses = losses
        self.taken = 0
        """Spans that are no longer waiting."""
        self.answers = True
        """Whether the collector did answer when it was last asked."""

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Send spans; blocks the exporting thread only."""
        result = self._exporter.export(spans)
        self.taken += len(spans)
        self.answers = result is SpanExportResult.SUCCESS
        if result is not SpanExportResult.SUCCESS:
            self._losses.note(len(spans))
        return result

    def shutdown(self) -> None:
        """Let go of the connection; an export under way fails at once."""
        self._exporter.shutdown()


class BoundedProcessor(BatchSpanProcessor):
    """Keeps a bounded number of spans, and counts those it drops."""

    def __init__(self, exporter: CountingExporter, losses: Losses) -> None:
        super().__init__(
            exporter,
            max_queue_size=2 * MAX_WAITING_SPANS,  # its own bound drops without counting
            schedule_delay_millis=EXPORT_INTERVAL_MS,
            max_export_batch_size=MAX_BATCH_SPANS,
        )
        self._exporter = exporter
        self._losses = losses
        self._given = 0

    def on_end(self, span: ReadableSpan) -> None:
        """Queue a span that has ended; never blocks."""
        if not (span.context and span.context.trace_flags.sampled):
            return
        if self._given - self._exporter.taken >= MAX_WAITING_SPANS:
            self._losses.note(1)
            return
        self._given += 1
        super().on_end(span)

    def force_flush(self, timeout_millis: int | None = None) -> bool:
        """Send what waits, and wait for that within `LAST_EXPORT_SECONDS`; returns whether it was sent.

        A collector that did not answer is sent spans in the background only, until it does again.
        """
        del timeout_millis
        if self._given == self._exporter.taken:
            return True
        if self._exporter.answers and not _within(LAST_EXPORT_SECONDS, super().force_flush):
            self._exporter.answers = False
        return self._exporter.answers


def export_spans(service: str, endpoint: str) -> None:
    """Send the spans of this process to a collector, in batches, in the background, until it ends."""
    losses = Losses("spans", endpoint)
    sender = OTLPSpanExporter(endpoint=endpoint, timeout=EXPORT_TIMEOUT_SECONDS)
    exporter = CountingExporter(sender, losses)
    provider = TracerProvider(
        resource=Resource.create({"service.name": f"copycat-{service}"}), shutdown_on_exit=False
    )
    provider.add_span_processor(BoundedProcessor(exporter, losses))
    trace.set_tracer_provider(provider)
    atexit.register(end_spans)


def end_spans() -> None:
    """Send what waits, within `LAST_EXPORT_SECONDS`, and export nothing any more."""
    provider = trace.get_tracer_provider()
    if not isinstance(provider, TracerProvider):
        return
    _within(LAST_EXPORT_SECONDS, provider.shutdown)


def flush_spans() -> None:
    """Send what waits, within `LAST_EXPORT_SECONDS`."""
    provider = trace.get_tracer_provider()
    if isinstance(provider, TracerProvider):
        provider.force_flush()


def _within(seconds: float, send: Callable[[], object]) -> bool:
    """Return whether spans were sent in time; what takes longer goes on in the background."""
    sending = threading.Thread(target=send, name="last spans", daemon=True)
    sending.start()
    sending.join(seconds)
    return not sending.is_alive()
