"""Records that belong to a trace: their spans, and the header of those that begin one.

Failures as text.
"""

from __future__ import annotations

import pytest
from copycat_connect.errors import ConnectError, DataError
from copycat_executor.pipeline.records.sender import KafkaHeaders, OutgoingRecord, PlacedRecords
from copycat_executor.pipeline.records.trace import class_name, trace_text
from copycat_executor.pipeline.sink.sink_runtime import SinkTraces, failing_traces
from copycat_executor.pipeline.source.source_tracing import SourceTraces, TracedWriter
from copycat_telemetry import record_spans
from copycat_telemetry.record_spans import MAX_SPANS_PER_BATCH, PROCESS, SEND, RecordSpans
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from tests.unit.pipeline.fakes import FakeMessage, FakeSender

SPAN = "b7ad6b7169203331"
OTHERS = [("before", b"1"), ("after", None)]


def parent(number: int, flags: str = "01") -> bytes:
    """Return the `traceparent` of a caller's trace."""
    return f"00-{number:032x}-{SPAN}-{flags}".encode()


@pytest.fixture
def ended(monkeypatch: pytest.MonkeyPatch) -> InMemorySpanExporter:
    exporter = InMemorySpanExporter()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(record_spans, "tracer", lambda: provider.get_tracer("test"))
    return exporter


def source(ratio: float = 0.0) -> tuple[SourceTraces, FakeSender, TracedWriter]:
    traces = SourceTraces(RecordSpans("orders", 3, SEND), lambda: 5, lambda: 0.5, ratio)
    sender = FakeSender()
    return traces, sender, TracedWriter(sender, traces)


def told(span: ReadableSpan) -> tuple[str, int, object]:
    """Return name, trace number and count of a span."""
    context = span.get_span_context()
    assert context is not None
    return span.name, context.trace_id, (span.attributes or {})["messaging.batch.message_count"]


def test_records_of_a_batch_share_a_span_by_trace_and_topic(ended: InMemorySpanExporter) -> None:
    traces, sender, writer = source()
    rows: list[KafkaHeaders] = [
        [("traceparent", parent(1))],
        [*OTHERS, ("traceparent", parent(2))],
        [("traceparent", parent(1))],
        (),
    ]
    with traces.batch(4):
        writer.send_placed(PlacedRecords("a", [b"1", b"2", b"3", b"4"], None, rows, None, None), {})
        writer.send(OutgoingRecord("b", b"5", headers=[("traceparent", parent(1))]))

    spans = ended.get_finished_spans()
    assert [told(span) for span in spans] == [("send a", 1, 2), ("send a", 2, 1), ("send b", 1, 1)]
    assert {span.attributes and span.attributes["copycat.connector"] for span in spans} == {"orders"}
    assert {span.attributes and span.attributes["copycat.task"] for span in spans} == {3}
    assert [list(record.headers) for record in sender.records[:4]] == [list(row) for row in rows]


def test_a_trace_that_is_not_sampled_or_none_gets_no_span(ended: InMemorySpanExporter) -> None:
    traces, _, writer = source()
    with traces.batch(3):
        for value in (parent(1, "00"), b"nonsense", b"\xff" * 40, b"0" * 10_000):
            writer.send(OutgoingRecord("a", b"1", headers=[("traceparent", value)]))

    assert ended.get_finished_spans() == ()


def test_a_batch_has_a_bounded_number_of_spans(ended: InMemorySpanExporter) -> None:
    traces, _, writer = source()
    with traces.batch(1):
        for number in range(1, 3 * MAX_SPANS_PER_BATCH):
            writer.send(OutgoingRecord("a", b"1", headers=[("traceparent", parent(number))]))

    assert len(ended.get_finished_spans()) == MAX_SPANS_PER_BATCH


def test_a_batch_that_begins_a_trace_gives_its_records_a_header(ended: InMemorySpanExporter) -> None:
    traces, sender, writer = source(ratio=0.6)
    with traces.batch(3):
        writer.send_values("a", [b"1", b"2"], None)
        writer.send(OutgoingRecord("a", b"3", headers=[("traceparent", parent(9)), *OTHERS]))

    begun, continued = sorted(ended.get_finished_spans(), key=lambda span: span.name)
    context = begun.get_span_context()
    assert context is not None
    header = sender.records[0].headers[0]
    assert (header[1] or b"")[:52] == f"00-{context.trace_id:032x}-{context.span_id:016x}".encode()
    assert [list(record.headers) for record in sender.records] == [
        [header],
        [header],
        [("traceparent", parent(9)), *OTHERS],
    ]
    assert (told(begun)[0], told(begun)[2], begun.parent) == ("send", 3, None)
    assert told(continued) == ("send a", 9, 1)


def test_a_batch_that_begins_none_is_handed_on_as_it_is(ended: InMemorySpanExporter) -> None:
    traces, sender, writer = source(ratio=0.4)
    values: list[bytes | None] = [b"1", b"2"]
    with traces.batch(2):
        writer.send_values("a", values, None)

    assert (sender.columns, sender.values) == (1, values)
    assert [record.headers for record in sender.records] == [(), ()]
    assert ended.get_finished_spans() == ()


def test_a_failure_leaves_its_class_and_not_its_text(ended: InMemorySpanExporter) -> None:
    traces, _, writer = source(ratio=1.0)
    with pytest.raises(ValueError, match="secret"), traces.batch(1):
        writer.send(OutgoingRecord("a", b"1", headers=[("traceparent", parent(1))]))
        raise ValueError("secret")

    spans = ended.get_finished_spans()
    assert [span.status.description for span in spans] == ["ValueError", "ValueError"]
    assert [span.events for span in spans] == [(), ()]


def test_what_a_sink_takes_is_noted_once_from_its_reading_on(ended: InMemorySpanExporter) -> None:
    times = iter((7, 8))
    traces = SinkTraces(RecordSpans("files", 0, PROCESS), lambda: next(times))
    message = FakeMessage(0, b"1", topic_="a", headers_=[("traceparent", parent(4))])
    traces.read([message, FakeMessage(1, b"2", topic_="a"), message])
    traces.put()
    traces.put()
    traces.read([FakeMessage(2, b"3", topic_="a")])
    traces.put()

    [span] = ended.get_finished_spans()
    assert (told(span), span.start_time) == (("process a", 4, 2), 7)


def test_a_block_that_fails_has_its_error_in_the_traces_of_what_was_read(ended: InMemorySpanExporter) -> None:
    traces = SinkTraces(RecordSpans("lake", 0, PROCESS), lambda: 7)
    message = FakeMessage(0, b"1", topic_="a", headers_=[("traceparent", parent(4))])
    with pytest.raises(ValueError, match="secret"), failing_traces(traces):
        traces.read([message])
        raise ValueError("secret")
    with pytest.raises(ValueError, match="secret"), failing_traces(None):
        raise ValueError("secret")

    assert [span.status.description for span in ended.get_finished_spans()] == ["ValueError"]


def raised(error: Exception, cause: Exception | None = None) -> Exception:
    try:
        raise error from cause
    except type(error) as caught:
        return caught


def test_the_first_line_is_connects_class_and_the_message() -> None:
    lines = trace_text(raised(DataError("no number"))).splitlines()

    assert lines[0] == "org.apache.kafka.connect.errors.DataException: no number"
    assert lines[1].startswith("\tat raised(")


def test_causes_follow() -> None:
    text = trace_text(raised(ConnectError("outer"), raised(ValueError("inner"))))

    assert text.startswith("org.apache.kafka.connect.errors.ConnectException: outer\n\tat ")
    assert "\nCaused by: ValueError: inner\n\tat " in text


def test_an_error_without_message_is_its_class() -> None:
    assert trace_text(KeyError()) == "KeyError\n"


def test_author_classes_keep_their_names() -> None:
    class OwnError(ConnectError):
        pass

    assert class_name(OwnError("x")).endswith("OwnError")
