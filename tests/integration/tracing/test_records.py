"""One record, followed by its `traceparent` header from source to sink across a topic."""

from __future__ import annotations

from pathlib import Path

import pytest
from copycat_testkit.kafka import consume_all, headers_in, idempotent_producer, unique, wait_until
from copycat_testkit.spans import OtlpReceiver, ReceivedSpan
from copycat_testkit.system import CopycatUp

from tests.integration.tracing.creating import create, file_sink, file_source

pytestmark = [pytest.mark.timeout(1200), pytest.mark.long]

TRACE, CALLER = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"


def named(receiver: OtlpReceiver, name: str, **about: str) -> list[ReceivedSpan]:
    """Return the spans of a name."""
    return [each for each in receiver.spans(**about) if each.name == name]


def test_a_record_is_followed_from_its_source_through_a_topic_to_its_sink(
    system: CopycatUp, receiver: OtlpReceiver, kafka: str, tmp_path: Path
) -> None:
    topic = unique("hop")
    (tmp_path / "in.txt").write_text("one\ntwo\n")
    start = {"trace.records": "start", "trace.records.ratio": "1"}
    create(system, f"{topic}-in", {**file_source(tmp_path / "in.txt", topic), **start})
    create(system, f"{topic}-out", {**file_sink(tmp_path / "out.txt", topic), "trace.records": "continue"})

    wait_until(lambda: named(receiver, f"process {topic}"), 90, "a span of the sink")
    [put] = named(receiver, f"process {topic}", connector=f"{topic}-out")
    [sent] = named(receiver, "send", connector=f"{topic}-in")
    assert (put.trace, put.parent) == (sent.trace, sent.span)
    assert (sent.service, put.service) == ("copycat-host", "copycat-host")
    assert sent.attributes["messaging.batch.message_count"] == 2
    assert put.attributes["messaging.batch.message_count"] == 2
    assert sent.parent == ""
    carried = [headers_in(message) for message in consume_all(kafka, topic)]
    assert [[name for name, _ in each] for each in carried] == [["traceparent"], ["traceparent"]]
    assert {(each[0][1] or b"").decode()[:52] for each in carried} == {f"00-{sent.trace}-{sent.span}"}
    assert (tmp_path / "out.txt").read_text() == "one\ntwo\n"


def test_a_record_of_another_producer_is_followed_and_one_without_a_sampled_trace_is_not(
    system: CopycatUp, receiver: OtlpReceiver, kafka: str, tmp_path: Path
) -> None:
    topic = unique("foreign")
    producer = idempotent_producer(kafka)
    for value, trace, flags in (("seen", TRACE, "01"), ("unsampled", TRACE[::-1], "00")):
        header = f"00-{trace}-{CALLER}-{flags}"
        producer.produce(topic, value, headers=[("traceparent", header), ("other", b"stays")])
    producer.produce(topic, "plain")
    assert producer.flush(60) == 0
    create(system, topic, {**file_sink(tmp_path / "out.txt", topic), "trace.records": "continue"})

    wait_until(lambda: named(receiver, f"process {topic}"), 90, "a span of the sink")
    [put] = [each for each in receiver.spans(connector=topic) if "messaging.system" in each.attributes]
    assert (put.trace, put.parent) == (TRACE, CALLER)
    assert put.attributes["messaging.batch.message_count"] == 1
    assert sorted((tmp_path / "out.txt").read_text().split()) == ["plain", "seen", "unsampled"]


def test_records_of_a_connector_that_does_not_ask_for_traces_stay_as_they_are(
    system: CopycatUp, receiver: OtlpReceiver, kafka: str, tmp_path: Path
) -> None:
    topic = unique("untouched")
    (tmp_path / "in.txt").write_text("one\n")
    create(system, topic, file_source(tmp_path / "in.txt", topic))
    create(system, f"{topic}-out", file_sink(tmp_path / "out.txt", topic))

    wait_until(lambda: (tmp_path / "out.txt").exists() and (tmp_path / "out.txt").read_text(), 90, "a line")
    assert [message.headers() for message in consume_all(kafka, topic)] == [None]
    assert [each for each in receiver.spans(connector=topic) if "messaging.system" in each.attributes] == []
