"""Our metrics beside the list that Kafka Connect 4.4.0 prints of its own."""

from __future__ import annotations

import os
import re
import subprocess
from html import unescape
from typing import Final

import pytest
from copycat_embedded.jars import ensure_jars
from copycat_embedded.jvm import find_java
from copycat_telemetry.metrics.groups import GROUPS

#: A group, its tags in the order of the MBean, a metric.
Name = tuple[str, tuple[str, ...], str]

MAIN: Final = "org.apache.kafka.connect.runtime.ConnectMetrics"
ROW: Final = re.compile(r"<tr>\s*<td>(.*?)</td>\s*<td>.*?</td>\s*<td>(.*?)</td>\s*</tr>", re.DOTALL)
BEAN: Final = re.compile(r'kafka\.connect:type=([^,]+)((?:,[^=,]+="[^"]*")*)')
#: What only Copycat reports: on its event-sourced services, retried writes of statuses and replaced clients.
OURS: Final[set[Name]] = {
    ("event-log-metrics", (), "leads"),
    ("event-log-metrics", (), "lost"),
    ("event-log-metrics", (), "lost-because"),
    ("event-log-metrics", (), "unreadable-records-total"),
    ("event-log-metrics", (), "last-unreadable-record"),
    ("sink-task-metrics", ("connector", "task"), "sink-consumer-replaced-total"),
    ("source-task-metrics", ("connector", "task"), "source-producer-replaced-total"),
    ("status-backing-store-metrics", (), "status-update-retry-total"),
    ("status-backing-store-metrics", (), "status-update-failure-total"),
    ("status-backing-store-metrics", (), "status-update-success-total"),
    ("task-error-metrics", ("connector", "task"), "deadletterqueue-producer-replaced-total"),
}


#: What every client of Kafka has by its `Selector`, which prints no list.
NETWORK: Final = {
    *(f"{what}-{form}" for what in ("incoming-byte", "outgoing-byte", "request", "response")
      for form in ("rate", "total")),
    "connection-count",
}  # fmt: skip
#: What a producer has by its `RecordAccumulator`, which prints none either.
BUFFER: Final = {"buffer-total-bytes", "buffer-available-bytes"}


@pytest.fixture(scope="module")
def kafkas() -> set[Name]:
    """Have Kafka Connect print its metrics."""
    printed = _printed(MAIN)
    rows = ROW.findall(printed)
    assert len(rows) == printed.count("<tr>") - 1, "a row is not understood"
    return {_name(unescape(metric), unescape(bean)) for metric, bean in rows}


def _name(metric: str, bean: str) -> Name:
    found = BEAN.fullmatch(bean)
    assert found is not None, bean
    return found[1], tuple(re.findall(r",([^=,]+)=", found[2])), metric


def _catalogue(domain: str = "kafka.connect") -> list[Name]:
    groups = [group for group in GROUPS if group.domain == domain]
    return [(group.name, group.tags, metric.name) for group in groups for metric in group.metrics]


def _printed(main: str) -> str:
    """Return what a class of Kafka prints; with whatever Java Copycat itself finds."""
    class_path = os.pathsep.join(map(str, ensure_jars(("broker", "connect"))))
    run = subprocess.run(
        [find_java().executable, "-Xmx128m", "-XX:+UseSerialGC", "-cp", class_path, main],
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    return run.stdout


@pytest.mark.long
def test_kafka_connect_lists_every_group_it_has(kafkas: set[Name]) -> None:
    assert {group for group, _, _ in kafkas} == {
        "connect-worker-metrics", "connect-worker-rebalance-metrics", "connector-metrics",
        "connector-task-metrics", "connector-transform-metrics", "connector-predicate-metrics",
        "source-task-metrics", "sink-task-metrics", "task-error-metrics",
    }  # fmt: skip


def test_every_metric_of_kafka_connect_is_one_of_ours(kafkas: set[Name]) -> None:
    assert kafkas - set(_catalogue()) == set()


def test_beyond_those_of_kafka_connect_there_are_our_own_only(kafkas: set[Name]) -> None:
    assert set(_catalogue()) - kafkas == OURS


@pytest.mark.long
@pytest.mark.parametrize("client", ["producer", "consumer"])
def test_metrics_of_clients_have_the_names_of_javas_clients(client: str) -> None:
    main = f"org.apache.kafka.clients.{client}.internals.{client.capitalize()}Metrics"
    printed = re.findall(r"<td>([a-z-]+)</td>", _printed(main))
    ours = {metric for _, _, metric in _catalogue(f"kafka.{client}")}

    assert ours - set(printed) == {*NETWORK, *(BUFFER if client == "producer" else ())}


def test_no_metric_is_defined_twice() -> None:
    names = [name for domain in {group.domain for group in GROUPS} for name in _catalogue(domain)]

    assert len(names) == len(set(names))
