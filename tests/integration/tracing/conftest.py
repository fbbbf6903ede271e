"""A system whose spans and metrics go through a real OpenTelemetry Collector."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from copycat_testkit.otel_collector import OtelCollector
from copycat_testkit.spans import OtlpReceiver
from copycat_testkit.system import CopycatUp

from tests.plain_hosts import on_plain_hosts


@pytest.fixture(scope="package")
def receiver() -> Iterator[OtlpReceiver]:
    with OtlpReceiver() as made:
        yield made


@pytest.fixture(scope="package")
def collector(receiver: OtlpReceiver, tmp_path_factory: pytest.TempPathFactory) -> Iterator[OtelCollector]:
    with OtelCollector(tmp_path_factory.mktemp("collector"), f"127.0.0.1:{receiver.port}") as made:
        yield made


@pytest.fixture(scope="package")
def system(
    kafka: str, collector: OtelCollector, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[CopycatUp]:
    settings = {
        "otel.exporter.otlp.endpoint": collector.endpoint,
        "otel.metric.export.interval.ms": "1000",
        "client.metrics.interval.ms": "1000",
        "services.in.one.process": "false",  # a trace names the process that each span is of
    }
    options = [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]
    folder = tmp_path_factory.mktemp("traced")
    with CopycatUp(folder, kafka, options=options, environment=on_plain_hosts()) as up:
        yield up
