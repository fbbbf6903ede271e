"""Our metrics beside the list that Kafka Connect 4.3.1 prints of its own."""

from __future__ import annotations

import os
import re
import subprocess
from html import unescape
from typing import Final

import pytest
from copycat_embedded.jars import ensure_jars
from copycat_embedded.java import find_java
from copycat_telemetry.metrics.catalogue import GROUPS

#: A group, its tags in the order of the MBean, a metric.
Name = tuple[str, tuple[str, ...], str]

MAIN: Final = "org.apache.kafka.connect.runtime.ConnectMetrics"
ROW: Final = re.compile(r"<tr>\s*<td>(.*?)</td>\s*<td>.*?</td>\s*<td>(.*?)</td>\s*</tr>", re.DOTALL)
BEAN: Final = re.compile(r'kafka\.connect:type=([^,]+)((?:,[^=,]+="[^"]*")*)')
#: What only Copycat reports: on its event-sourced services, retried writes of statuses and replaced clients.
OURS: Final[set[Name]] = {
    ("event-log-metrics", (), "leads"),
    ("sink-task-metrics", ("connector", "task"), "sink-consumer-replaced-total"),
    ("source-task-metrics", ("connector", "task"), "source-producer-replaced-total"),
    ("status-backing-store-metrics", (), "status-update-retry-total"),
    ("status-backing-store-metrics", (), "status-update-failure-total"),
    ("status-backing-store-metrics", (), "status-update-success-total"),
    ("task-error-metrics", ("connector", "task"), "deadletterqueue-producer-replaced-total"),
}


@pytest.fixture(scope="module")
def kafkas() -> set[Name]:
    """Have Kafka Connect print its metrics; with whatever Java Copycat itself finds."""
    class_path = os.pathsep.join(map(str, ensure_jars(("broker", "connect"))))
    run = subprocess.run(
        [find_java().executable, "-Xmx128m", "-XX:+UseSerialGC", "-cp", class_path, MAIN],
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    rows = ROW.findall(run.stdout)
    assert len(rows) == run.stdout.count("<tr>") - 1, "a row is not understood"
    return {_name(unescape(metric), unescape(bean)) for metric, bean in rows}


def _name(metric: str, bean: str) -> Name:
    found = BEAN.fullmatch(bean)
    assert found is not None, bean
    return found[1], tuple(re.findall(r",([^=,]+)=", found[2])), metric


def _catalogue() -> list[Name]:
    return [(group.name, group.tags, metric.name) for group in GROUPS for metric in group.metrics]


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


def test_no_metric_is_defined_twice() -> None:
    names = _catalogue()

    assert len(names) == len(set(names))
