"""connect_distributed_test of kafkatest: what failed is restarted, what is paused stays paused.

Of its other rows, bounces and rolling restarts are in `test_kafkatest_bounces.py`, transformations in
`tests/compat` and exactly-once sources are not here yet.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest
from copycat_testkit.kafka import create_topic, produce, unique, wait_until

from tests.integration.scenarios.cluster import Cluster
from tests.integration.scenarios.files import LineFile
from tests.integration.scenarios.monitors import Monitor
from tests.integration.scenarios.rest import PATIENCE, Rest

pytestmark = pytest.mark.timeout(300)


def test_restart_failed_connector(rest: Rest, monitor: Monitor) -> None:
    """A connector that fails some time after its start is FAILED, its task is not; a restart mends it."""
    name = unique("connector")
    monitor.order("connector watch raises")
    rest.create(name, monitor.source(name))
    rest.wait(name, "FAILED", "RUNNING")
    monitor.order()
    rest.ok("POST", f"/connectors/{name}/restart")
    rest.runs(name)


def with_failed_task(cluster: Cluster, rest: Rest, monitor: Monitor, kind: str) -> str:
    """Create a source or a sink whose task fails in its work, and take the order to fail back."""
    name = create_topic(cluster.bootstrap)
    produce(cluster.bootstrap, name, [b"x"])
    monitor.order("task 0 poll raises", "task 0 put raises")
    rest.create(name, monitor.source(name) if kind == "source" else monitor.sink(name))
    rest.wait(name, "RUNNING", "FAILED")
    monitor.order()
    return name


@pytest.mark.parametrize("kind", ["source", "sink"])
def test_restart_failed_task(cluster: Cluster, rest: Rest, monitor: Monitor, kind: str) -> None:
    """A task that fails in its work is FAILED, its connector is not; a restart mends it."""
    name = with_failed_task(cluster, rest, monitor, kind)
    rest.ok("POST", f"/connectors/{name}/tasks/0/restart")
    rest.runs(name)


def test_restart_connector_and_tasks_failed_connector(rest: Rest, monitor: Monitor) -> None:
    """A failed connector is restarted by a request for what failed."""
    name = unique("connector")
    monitor.order("connector watch raises")
    rest.create(name, monitor.sink(name))
    rest.wait(name, "FAILED", "RUNNING")
    monitor.order()
    rest.ok("POST", f"/connectors/{name}/restart?onlyFailed=true&includeTasks=false")
    rest.runs(name)
    assert monitor.counts("start") == {"connector": 2, "task 0": 1}


@pytest.mark.parametrize("kind", ["source", "sink"])
def test_restart_connector_and_tasks_failed_task(
    cluster: Cluster, rest: Rest, monitor: Monitor, kind: str
) -> None:
    """A failed task is restarted by a request for connector and tasks."""
    name = with_failed_task(cluster, rest, monitor, kind)
    rest.ok("POST", f"/connectors/{name}/restart?onlyFailed=false&includeTasks=true")
    rest.runs(name)


def has_values(cluster: Cluster, topic: str, *values: str) -> bool:
    return cluster.values(topic) == list(values)


def test_pause_and_resume_source(cluster: Cluster, rest: Rest, tmp_path: Path) -> None:
    """A paused source writes nothing, while another one reads the same file; resumed it goes on."""
    name, other = unique("paused"), unique("other")
    file = LineFile(tmp_path / "lines.txt")
    file.append(["before"])
    for each in (name, other):
        rest.create(each, file.source(each))
        wait_until(partial(has_values, cluster, each, "before"), PATIENCE, "a line")
    rest.ok("PUT", f"/connectors/{name}/pause")
    rest.wait(name, "PAUSED", "PAUSED")
    file.append(["while paused"])
    wait_until(lambda: cluster.values(other) == ["before", "while paused"], PATIENCE, "a line elsewhere")
    assert cluster.values(name) == ["before"]
    rest.ok("PUT", f"/connectors/{name}/resume")
    rest.runs(name)
    wait_until(lambda: cluster.values(name) == ["before", "while paused"], PATIENCE, "the line")


def test_pause_and_resume_sink(cluster: Cluster, rest: Rest, tmp_path: Path) -> None:
    """A paused sink reads nothing, while another one reads the same topic; resumed it goes on."""
    topic = create_topic(cluster.bootstrap)
    paused, other = (LineFile(tmp_path / name) for name in ("paused.txt", "other.txt"))
    names = {unique("sink"): paused, unique("sink"): other}
    produce(cluster.bootstrap, topic, [b"before"])
    for name, file in names.items():
        rest.create(name, file.sink(topic))
        file.holds("before")
    name = next(iter(names))
    rest.ok("PUT", f"/connectors/{name}/pause")
    rest.wait(name, "PAUSED", "PAUSED")
    produce(cluster.bootstrap, topic, [b"while paused"])
    other.holds("before", "while paused")
    assert paused.lines() == ["before"]
    rest.ok("PUT", f"/connectors/{name}/resume")
    rest.runs(name)
    paused.holds("before", "while paused")
