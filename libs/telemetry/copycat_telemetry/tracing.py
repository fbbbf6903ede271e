"""Traces: spans of what one request or one record leads to; off unless the worker names a collector.

The context itself always travels with calls (W3C `traceparent`), so that a caller's trace is not cut by a
process that exports nothing. Spans carry names of connectors and topics, numbers of tasks, and counts; never
a configuration value and never the text of an error, which may hold one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TypeAlias

from opentelemetry import propagate, trace
from opentelemetry.context import Context
from opentelemetry.trace import SpanKind, Status, StatusCode

Span: TypeAlias = trace.Span
Metadatum = tuple[str, str | bytes]
Attributes: TypeAlias = Mapping[str, str | int]

TRACEPARENT = "traceparent"
"""Header of W3C's trace context: `00-<trace id>-<span id>-<flags>`."""


def configure_tracing(service: str, endpoint: str | None) -> None:
    """Export spans to an OTLP collector; without an endpoint nothing is recorded and nothing is loaded."""
    if not endpoint:
        return
    from copycat_telemetry.otlp import export_spans  # 150 ms, where spans are wanted

    export_spans(service, endpoint)


def end_tracing() -> None:
    """Export what waits, within a second; for a process that may end without Python's own farewell."""
    if tracing():
        from copycat_telemetry.otlp import end_spans

        end_spans()


def flush_tracing() -> None:
    """Export what waits, within a second; for a process that others end where they have no work for it."""
    if tracing():
        from copycat_telemetry.otlp import flush_spans

        flush_spans()


def tracing() -> bool:
    """Return whether this process exports spans."""
    return not isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider)


def tracer() -> trace.Tracer:
    """Return what makes Copycat's spans."""
    return trace.get_tracer("copycat")


def outgoing(metadata: Iterable[Metadatum] | None) -> list[Metadatum]:
    """Return call metadata with the current trace context added."""
    carrier: dict[str, str] = {}
    propagate.inject(carrier)
    return [*(metadata or ()), *carrier.items()]


@contextmanager
def incoming(
    name: str, metadata: Iterable[Metadatum], attributes: Attributes | None = None
) -> Iterator[None]:
    """Run a block as the server's side of a call, as part of the caller's trace if it has one.

    A call without one begins none: beats and acknowledgements come all the time, and lead to nothing.
    """
    carrier = {key: value for key, value in metadata if isinstance(value, str)}
    if not carrier.keys() & propagate.get_global_textmap().fields:
        yield
        return
    with _span(name, propagate.extract(carrier), SpanKind.SERVER, attributes):
        yield


def current_trace_id() -> str:
    """Return the id of the trace under way, 32 hexadecimal digits; empty outside of traces."""
    context = trace.get_current_span().get_span_context()
    return trace.format_trace_id(context.trace_id) if context.is_valid else ""


@contextmanager
def beginning(name: str, headers: Mapping[str, str], *, kind: SpanKind = SpanKind.SERVER) -> Iterator[Span]:
    """Run a block as what a request leads to: part of the caller's trace, or the beginning of one."""
    with _span(name, propagate.extract(dict(headers)), kind, None) as span:
        yield span


def traceparent() -> str:
    """Return the current span for a later `continuing`; empty where none is exported."""
    return carried(trace.get_current_span()) if tracing() else ""


def carried(span: Span) -> str:
    """Return the `traceparent` of what a span leads to; empty when its trace is not sampled."""
    if not span.get_span_context().trace_flags.sampled:
        return ""
    carrier: dict[str, str] = {}
    propagate.inject(carrier, trace.set_span_in_context(span))
    return carrier.get(TRACEPARENT, "")


@contextmanager
def continuing(parent: str, name: str, attributes: Attributes | None = None) -> Iterator[None]:
    """Run a block as what a span elsewhere led to, named by its `traceparent`; empty begins no trace."""
    if not parent:
        yield
        return
    with _span(name, parent_context(parent), SpanKind.INTERNAL, attributes):
        yield


def note_span(parent: str, name: str, began: int, attributes: Attributes) -> None:
    """Note what has ended just now, where `parent` names a trace; `began` is in ns since the epoch."""
    if parent and tracing():
        context = parent_context(parent)
        tracer().start_span(name, context, attributes=dict(attributes), start_time=began).end()


def parent_context(parent: str) -> Context:
    """Return the context that a `traceparent` names; an empty one when it names none."""
    return propagate.extract({TRACEPARENT: parent})


def failed(span: Span, error: BaseException) -> None:
    """Mark a span with the class of an error; its text may hold what nobody else may see."""
    span.set_status(Status(StatusCode.ERROR, type(error).__name__))


@contextmanager
def _span(name: str, context: Context, kind: SpanKind, attributes: Attributes | None) -> Iterator[Span]:
    started = tracer().start_as_current_span(
        name,
        context=context,
        kind=kind,
        attributes=dict(attributes or {}),
        record_exception=False,
        set_status_on_exception=False,
    )
    with started as span:
        try:
            yield span
        except Exception as error:
            failed(span, error)
            raise
