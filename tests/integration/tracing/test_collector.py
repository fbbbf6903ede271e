"""What a real OpenTelemetry Collector is sent, and what it means that it is away."""

from __future__ import annotations

from pathlib import Path

import httpx2
import pytest
from copycat_testkit.kafka import unique, wait_until
from copycat_testkit.otel_collector import OtelCollector
from copycat_testkit.spans import OtlpReceiver
from copycat_testkit.system import CopycatUp

from tests.integration.tracing.creating import create, file_source

pytestmark = [pytest.mark.timeout(1200), pytest.mark.long]


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
