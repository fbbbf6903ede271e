"""Spans and metrics of a system in a real OpenTelemetry Collector: of requests, and of records."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import httpx2
import pytest
from copycat_testkit.kafka import consume_all, headers_in, idempotent_producer, unique, wait_until
from copycat_testkit.otel_collector import OtelCollector
from copycat_testkit.spans import OtlpReceiver, ReceivedSpan
from copycat_testkit.system import CopycatUp

from tests.plain_hosts import on_plain_hosts

pytestmark = [pytest.mark.timeout(1200), pytest.mark.long]


@pytest.fixture(scope="module")
def receiver() -> Iterator[OtlpReceiver]:
    with OtlpReceiver() as made:
        yield made


@pytest.fixture(scope="module")
def collector(receiver: OtlpReceiver, tmp_path_factory: pytest.TempPathFactory) -> Iterator[OtelCollector]:
    with OtelCollector(tmp_path_factory.mktemp("collector"), f"127.0.0.1:{receiver.port}") as made:
        yield made


@pytest.fixture(scope="module")
def system(
    kafka: str, collector: OtelCollector, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[CopycatUp]:
    settings = {
        "otel.exporter.otlp.endpoint": collector.endpoint,
        "otel.metric.export.interval.ms": "1000",
        "client.metrics.interval.ms": "1000",
        "services.in.one.process": "false",  # a trace names the process that each span is of
    }
    folder = tmp_path_factory.mktemp("traced")
    with CopycatUp(folder, kafka, settings=settings, environment=on_plain_hosts()) as up:
        yield up


STRING = "org.apache.kafka.connect.storage.StringConverter"


def create(
    system: CopycatUp, name: str, config: dict[str, str], headers: dict[str, str] | None = None
) -> None:
    """Create a connector with converters of strings."""
    strings = {f"{each}.converter": STRING for each in ("key", "value")}
    url = f"{system.url}/connectors/{name}/config"
    reply = httpx2.put(url, json={**strings, **config}, headers=headers, timeout=90)
    assert reply.status_code == 201, reply.text


def file_source(path: object, topic: str) -> dict[str, str]:
    """Return the configuration of a source that reads a file."""
    return {"connector.class": "FileStreamSource", "file": str(path), "topic": topic}


def file_sink(path: object, topic: str) -> dict[str, str]:
    """Return the configuration of a sink that writes a file."""
    return {"connector.class": "FileStreamSink", "file": str(path), "topics": topic}


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


REQUEST_TRACE, REQUEST_CALLER = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
EXPECTED = {
    ("copycat-gateway", "PUT /connectors/{name}/config"),
    ("copycat-executor", "copycat.executor.v1.ExecutorService/ValidateConnector"),
    ("copycat-config", "copycat.config.v1.ConfigService/PutConnector"),
    ("copycat-scheduler", "assign"),
    ("copycat-executor", "start connector"),
    ("copycat-executor", "publish tasks"),
    ("copycat-config", "copycat.config.v1.ConfigService/PutTaskConfigs"),
    ("copycat-executor", "start task"),
    ("copycat-host", "assemble task"),
    ("copycat-host", "start task in its host"),
}


def by_part(spans: Sequence[ReceivedSpan]) -> dict[tuple[str, str], ReceivedSpan]:
    """Return spans by their service and name."""
    return {(each.service, each.name): each for each in spans}


def test_a_request_is_followed_through_the_services_to_the_host_of_its_task(
    system: CopycatUp, receiver: OtlpReceiver, tmp_path: Path
) -> None:
    name = unique("followed")
    (tmp_path / "in.txt").write_text("one\n")
    caller = {"traceparent": f"00-{REQUEST_TRACE}-{REQUEST_CALLER}-01"}
    create(system, name, file_source(tmp_path / "in.txt", name), caller)

    wait_until(
        lambda: by_part(receiver.spans(trace=REQUEST_TRACE)).keys() >= EXPECTED, 90, "a span of every part"
    )
    spans = receiver.spans(trace=REQUEST_TRACE)
    first = by_part(spans)["copycat-gateway", "PUT /connectors/{name}/config"]
    assert first.parent == REQUEST_CALLER
    assert first.attributes["http.response.status_code"] == 201
    assert first.attributes["copycat.connector"] == name
    assert {each.parent for each in spans} <= {each.span for each in spans} | {REQUEST_CALLER}
    assert [each for each in spans if each.failed] == []


def test_a_request_of_a_caller_without_a_trace_begins_one_and_questions_about_health_do_not(
    system: CopycatUp, receiver: OtlpReceiver, tmp_path: Path
) -> None:
    name = unique("fresh")
    for path in ("/health", "/metrics", "/"):
        httpx2.get(f"{system.url}{path}", timeout=90).raise_for_status()
    create(system, name, file_source(tmp_path / "in.txt", name))

    def about() -> list[ReceivedSpan]:
        return [each for each in receiver.spans(connector=name) if each.service == "copycat-host"]

    wait_until(about, 90, "a span of the task's host")
    [trace] = {each.trace for each in receiver.spans(connector=name)}

    def beginning() -> list[ReceivedSpan]:
        return [each for each in receiver.spans(trace=trace) if not each.parent]

    [first] = wait_until(beginning, 90, "the span of the request")
    assert (first.service, first.name) == ("copycat-gateway", "PUT /connectors/{name}/config")
    beginnings = {each.name for each in receiver.spans() if not each.parent}
    assert not beginnings & {"GET /health", "GET /metrics", "GET /"}


def test_no_value_of_a_configuration_is_in_a_span(
    system: CopycatUp, receiver: OtlpReceiver, tmp_path: Path
) -> None:
    name, secret = unique("secretive"), unique("hidden")
    config = {**file_source(tmp_path / "in.txt", name), "producer.override.sasl.jaas.config": secret}
    reply = httpx2.put(f"{system.url}/connectors/{name}/config?note={secret}", json=config, timeout=90)
    assert reply.status_code in {201, 400}

    wait_until(lambda: receiver.spans(connector=name), 90, "the request's span")
    texts = [text for each in receiver.spans() for text in (each.name, *map(str, each.attributes.values()))]
    assert [text for text in texts if secret in text or str(tmp_path) in text] == []


def states(system: CopycatUp, name: str) -> list[str]:
    """Return the states of a connector's tasks."""
    reply = httpx2.get(f"{system.url}/connectors/{name}/status", timeout=90)
    return [each["state"] for each in reply.json().get("tasks", ())]


def test_metrics_of_tasks_and_of_their_kafka_clients_come_through_a_collector(
    system: CopycatUp, receiver: OtlpReceiver, tmp_path: Path
) -> None:
    (tmp_path / "in.txt").write_text("one\n")
    name = unique("metered")
    create(system, name, file_source(tmp_path / "in.txt", name))

    expected = {
        "kafka.connect.source-task-metrics.source-record-write-total",
        "kafka.connect.connector-task-metrics.status",
        "kafka.connect.event-log-metrics.leads",
        "kafka.producer.producer-metrics.record-send-total",
    }
    wait_until(lambda: expected <= receiver.metrics(), 90, "metrics of every kind")


def test_a_collector_that_is_away_holds_up_nothing_and_is_sent_spans_once_it_is_back(
    system: CopycatUp, collector: OtelCollector, receiver: OtlpReceiver, tmp_path: Path
) -> None:
    (tmp_path / "in.txt").write_text("one\n")
    without, after = unique("without"), unique("after")
    collector.kill()
    try:
        create(system, without, file_source(tmp_path / "in.txt", without))
        wait_until(lambda: states(system, without) == ["RUNNING"], 90, "the task runs")
        log = system.folder / "logs" / "gateway.log"
        wait_until(lambda: "does not take the spans" in log.read_text(), 90, "a line about the collector")
    finally:
        collector.start()
    create(system, after, file_source(tmp_path / "in.txt", after))
    wait_until(lambda: receiver.spans(connector=after), 90, "spans of what came later")
