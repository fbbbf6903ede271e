"""Trace context travels through a process that records nothing."""

from __future__ import annotations

from copycat_telemetry.tracing import incoming, outgoing
from opentelemetry import trace

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
