"""ExampleConnectIntegrationTest: validate, create, and two thousand records pass."""

from __future__ import annotations

import pytest
from copycat_testkit.kafka import create_topic, produce, unique, wait_until

from tests.integration.scenarios.cluster import Cluster
from tests.integration.scenarios.monitors import Monitor
from tests.integration.scenarios.rest import PATIENCE, Rest

pytestmark = pytest.mark.timeout(300)

RECORDS = 2000
TASKS = 3


def check_validation(rest: Rest, name: str, config: dict[str, str]) -> None:
    """See that the name is all a configuration lacks."""
    path = f"/connector-plugins/{config['connector.class']}/config/validate"
    assert rest.ok("PUT", path, config)["error_count"] == 1
    assert rest.ok("PUT", path, {**config, "name": name})["error_count"] == 0


def test_sink_connector(cluster: Cluster, rest: Rest, monitor: Monitor) -> None:
    """testSinkConnector: every record is put and its offset committed."""
    name = create_topic(cluster.bootstrap, partitions=3)
    config = monitor.sink(name, tasks_max=str(TASKS))
    check_validation(rest, name, config)
    rest.create(name, config)
    rest.runs(name, TASKS)
    values = [f"value-{number}" for number in range(RECORDS)]
    produce(cluster.bootstrap, name, [value.encode() for value in values])
    wait_until(lambda: sorted(monitor.values()) == sorted(values), PATIENCE, "every record")

    def committed() -> bool:
        offsets = rest.get(f"/connectors/{name}/offsets")["offsets"]
        total: int = sum(entry["offset"]["kafka_offset"] for entry in offsets)
        return total == RECORDS

    wait_until(committed, PATIENCE, "the end of every partition")


def test_source_connector(cluster: Cluster, rest: Rest, monitor: Monitor) -> None:
    """testSourceConnector: every record is written and its offset committed."""
    name = unique("example")
    config = monitor.source(name, max_messages=str(RECORDS), messages_per_poll="200")
    check_validation(rest, name, config)
    rest.create(name, config)
    rest.runs(name)
    expected = [f"value-{name}-0-{number}" for number in range(1, RECORDS + 1)]
    wait_until(lambda: cluster.values(name) == expected, PATIENCE, "every record")
    wait_until(
        lambda: [entry["saved"] for entry in monitor.entries("commit", "task 0")][-1:] == [RECORDS],
        PATIENCE,
        "the last offset committed",
    )
