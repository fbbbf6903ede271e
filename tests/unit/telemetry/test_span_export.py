"""A collector that is away costs spans, and nothing else.

Trace context travels through a process that records nothing.
"""

from __future__ import annotations

import logging
import subprocess
import sys
import threading
import time
from collections.abc import Sequence

import pytest
from copycat_telemetry.losses import LOG_INTERVAL_SECONDS, Losses
from copycat_telemetry.otlp import LAST_EXPORT_SECONDS, MAX_WAITING_SPANS, BoundedProcessor, CountingExporter
from copycat_telemetry.tracing import incoming, outgoing
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

FURTHER = 100


class Held(SpanExporter):
    """Keeps whoever exports waiting until it is let go, then refuses everything."""

    def __init__(self) -> None:
        self.entered, self.released = threading.Event(), threading.Event()

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        del spans
        self.entered.set()
        assert self.released.wait(60)
        return SpanExportResult.FAILURE


def test_a_bounded_number_of_spans_waits_and_the_others_are_counted() -> None:
    losses, held = Losses("spans", "http://away"), Held()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(BoundedProcessor(CountingExporter(held, losses), losses))
    tracer = provider.get_tracer("test")
    for _ in range(MAX_WAITING_SPANS + FURTHER):
        tracer.start_span("x").end()

    assert held.entered.wait(60)
    assert losses.dropped == FURTHER
    held.released.set()
    provider.shutdown()
    assert losses.dropped == MAX_WAITING_SPANS + FURTHER


def test_a_flush_sends_what_waits_and_does_not_wait_twice_for_a_collector_that_is_away() -> None:
    taken, held = InMemorySpanExporter(), Held()
    for exporter, answers in ((taken, True), (held, False)):
        losses = Losses("spans", "http://away")
        counting = CountingExporter(exporter, losses)
        provider = TracerProvider(shutdown_on_exit=False)
        provider.add_span_processor(BoundedProcessor(counting, losses))
        for _ in range(30):
            provider.get_tracer("test").start_span("x").end()
            began = time.monotonic()
            assert provider.force_flush() is answers
            waited = time.monotonic() - began
        assert counting.taken == (30 if answers else 0)
    assert waited < LAST_EXPORT_SECONDS
    held.released.set()
    provider.shutdown()


def test_a_collector_that_stays_away_is_logged_once_in_a_while(caplog: pytest.LogCaptureFixture) -> None:
    now = 0.0
    losses = Losses("spans", "http://away", lambda: now)
    with caplog.at_level(logging.WARNING):
        for _ in range(1000):
            losses.note(2)
        assert len(caplog.messages) == 1
        now = LOG_INTERVAL_SECONDS
        losses.note(1)

    assert "2001 dropped so far" in caplog.messages[1]
    assert len(caplog.messages) == 2


def test_a_process_ends_soon_though_its_collector_does_not_answer() -> None:
    script = """
import socket, time
from copycat_telemetry.tracing import configure_tracing, end_tracing, tracer

with socket.socket() as silent:
    silent.bind(("127.0.0.1", 0))
    silent.listen()
    configure_tracing("test", f"http://127.0.0.1:{silent.getsockname()[1]}")
    for _ in range(3000):
        tracer().start_span("x").end()
    began = time.monotonic()
    end_tracing()
    print(time.monotonic() - began)
"""
    run = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=100, check=False
    )

    assert run.returncode == 0, run.stderr
    assert float(run.stdout) < 10, "the exporter itself would wait for 30 s"


TRACE, SPAN = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
PARENT = ("traceparent", f"00-{TRACE}-{SPAN}-01")


def test_a_callers_trace_goes_on_to_the_next_service() -> None:
    with incoming("/copycat.Service/Call", [PARENT, ("user-agent", "grpc")]):
        carried = dict(outgoing([("key", "value")]))

    assert carried == {"key": "value", "traceparent": PARENT[1]}


def test_a_call_without_a_trace_begins_none() -> None:
    with incoming("/copycat.Service/Call", [("user-agent", "grpc")]):
        assert trace.get_current_span() is trace.INVALID_SPAN
        assert outgoing(None) == []
