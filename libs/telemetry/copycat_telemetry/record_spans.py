"""Spans of records on their way through one task, for those whose headers say that they belong to a trace.

Records of a batch that carry the same `traceparent` and the same topic share one span, which counts them: a
batch in which each record has a trace of its own costs a span a record, one that began a trace costs one.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Final

from opentelemetry.context import Context
from opentelemetry.trace import SpanKind, get_current_span

from copycat_telemetry.tracing import Span, carried, failed, parent_context, tracer

#: Spans of one batch; what else it holds is counted in none.
MAX_SPANS_PER_BATCH: Final = 100

#: Records of a batch by their `traceparent` and topic.
Origins = Mapping[tuple[bytes, str], int]


@dataclass(frozen=True, slots=True)
class Direction:
    """Which way the records of a task go."""

    verb: str
    """As the conventions for messaging name it."""
    kind: SpanKind
    """Producer or consumer."""


SEND: Final = Direction("send", SpanKind.PRODUCER)
PROCESS: Final = Direction("process", SpanKind.CONSUMER)


class RecordSpans:
    """Makes the spans of one task's records."""

    def __init__(self, connector: str, task: int, direction: Direction) -> None:
        self._direction = direction
        self._attributes: dict[str, str | int] = {
            "messaging.system": "kafka",
            "copycat.connector": connector,
            "copycat.task": task,
        }

    def note(self, origins: Origins, began: int, error: BaseException | None = None) -> None:
        """Note what has become of records since `began` (nanoseconds since the epoch) in their traces.

        Those whose trace is not sampled get no span.
        """
        for (parent, topic), records in islice(origins.items(), MAX_SPANS_PER_BATCH):
            context = parent_context(parent.decode("ascii", "replace"))
            if get_current_span(context).get_span_context().trace_flags.sampled:
                _end(self._start(topic, context, began), records, error)

    def begin(self, records: int) -> BatchTrace:
        """Begin a trace with a batch of so many records."""
        return BatchTrace(self._start("", Context(), time.time_ns()), records)

    def _start(self, topic: str, context: Context, began: int) -> Span:
        verb, attributes = self._direction.verb, dict(self._attributes)
        if topic:
            attributes["messaging.destination.name"] = topic
        return tracer().start_span(
            f"{verb} {topic}".rstrip(), context, self._direction.kind, attributes, start_time=began
        )


class BatchTrace:
    """A trace that a batch has begun."""

    def __init__(self, span: Span, records: int) -> None:
        self._span = span
        self._records = records
        self.header = carried(span).encode()
        """The `traceparent` of its records; empty when the trace is not sampled."""

    def end(self, error: BaseException | None = None) -> None:
        """Note that the batch was handed over, or failed."""
        _end(self._span, self._records, error)


def _end(span: Span, records: int, error: BaseException | None) -> None:
    span.set_attribute("messaging.batch.message_count", records)
    if error is not None:
        failed(span, error)
    span.end()
