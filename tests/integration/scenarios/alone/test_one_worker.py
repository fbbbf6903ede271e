"""Author code that never comes back delays neither REST nor other connectors, and what only one worker shows.

BlockingConnectorTest, and the cases of ConnectorClientPolicy- and ConnectorValidationIntegrationTest whose
worker lets connectors change all client settings, and has a group of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
from copycat_testkit.kafka import create_topic, unique, wait_until

from tests.integration.scenarios.cluster import Cluster
from tests.integration.scenarios.monitors import SINK_CONFIG, LineFile, Monitor, errors, is_created
from tests.integration.scenarios.rest import PATIENCE, Rest

pytestmark = [pytest.mark.timeout(300), pytest.mark.long]


@pytest.fixture(scope="module")
def lone(kafka: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Run one worker whose requests end soon; its group is named as that of a sink would be."""
    settings = {
        "group.id": unique("connect-lone"),
        "rest.request.timeout.ms": "6000",
        "task.shutdown.graceful.timeout.ms": "1000",
        "connector.client.config.override.policy": "All",
    }
    with Cluster(kafka, tmp_path_factory.mktemp("lone"), 1, settings).running() as running:
        yield running


def test_create_with_allowed_overrides_for_all_policy(lone: Cluster, tmp_path: Path) -> None:
    is_created(lone.rest, tmp_path, producer_override_client_id="mine")


def test_sink_connector_default_group_id_conflicts_with_worker_group_id(lone: Cluster) -> None:
    name = lone.group.removeprefix("connect-")

    assert errors(lone, {**SINK_CONFIG, "name": name}) == 1


def test_sink_connector_overridden_group_id_conflicts_with_worker_group_id(lone: Cluster) -> None:
    assert errors(lone, {**SINK_CONFIG, "consumer.override.group.id": lone.group}) == 1


TOPIC = "blocked"
WHEN_MADE = {"connector.class": "awkward.HangsWhenMadeConnector"}
IN_INITIALIZE = {"connector.class": "awkward.HangsInInitializeConnector"}


class Neighbour:
    """A normal connector on the same worker."""

    def __init__(self, cluster: Cluster, folder: Path) -> None:
        self._cluster = cluster
        self._file = LineFile(folder / "lines.txt")
        self._topic = create_topic(cluster.bootstrap, unique("neighbour"))
        self._lines = 0
        cluster.rest.create(self._topic, self._file.source(self._topic))
        self.works()

    def works(self) -> None:
        """See that it runs and that one more line arrives."""
        self._lines += 1
        self._file.append([f"line {self._lines}"])
        wait_until(self._has_all, PATIENCE, f"{self._lines} lines in {self._topic}")
        self._cluster.rest.runs(self._topic)

    def _has_all(self) -> bool:
        return self._cluster.values(self._topic) == self._file.lines()


@pytest.fixture(scope="module")
def neighbour(lone: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Neighbour]:
    """Run a normal connector all the while."""
    yield Neighbour(lone, tmp_path_factory.mktemp("neighbour"))
    lone.rest.clean()


@pytest.fixture
def rest(lone: Cluster, neighbour: Neighbour, monitor: Monitor) -> Iterator[Rest]:
    """Drive connectors that hang; afterwards a new one can be created, and the normal one still works."""
    yield lone.rest
    neighbour.works()
    monitor.order()
    name = unique("after")
    lone.rest.create(name, monitor.source(name))
    lone.rest.runs(name)
    lone.rest.delete(name)


def timed_out(reply: httpx2.Response, stage: str) -> None:
    """See that a request ended at its deadline and says what hangs."""
    assert reply.status_code == 500, reply.text
    said = reply.json()["message"]
    assert said.startswith(f"Request timed out. The worker is currently {stage}, which began at "), said


def try_to_create(rest: Rest, config: dict[str, str]) -> httpx2.Response:
    """Ask for a connector that will not come to be."""
    return rest.call("POST", "/connectors", {"name": unique("blocked"), "config": config})


def create(rest: Rest, config: dict[str, str]) -> str:
    """Create a connector; returns its name."""
    name = unique("blocked")
    rest.create(name, config)
    return name


def blocks(monitor: Monitor, what: str) -> None:
    """Wait until the author's code hangs there."""
    wait_until(lambda: monitor.entries(f"{what} blocked"), PATIENCE, f"{what} blocks")


def delete(rest: Rest, name: str) -> None:
    """Delete a connector that cannot be stopped."""
    rest.ok("DELETE", f"/connectors/{name}")
    assert rest.call("GET", f"/connectors/{name}").status_code == 404


def test_blocking_connector_block_in_connector_validate(rest: Rest, monitor: Monitor) -> None:
    monitor.order("connector validate blocks")

    timed_out(
        try_to_create(rest, monitor.source(TOPIC)), "performing multi-property validation for the connector"
    )


def test_blocking_connector_block_in_connector_config(rest: Rest) -> None:
    timed_out(try_to_create(rest, WHEN_MADE), "retrieving the configuration definition from the connector")


def test_blocking_connector_block_in_connector_initialize(rest: Rest) -> None:
    name = create(rest, IN_INITIALIZE)

    timed_out(rest.call("POST", f"/connectors/{name}/restart"), "starting the connector")
    delete(rest, name)


def test_blocking_connector_block_in_connector_start(rest: Rest, monitor: Monitor) -> None:
    monitor.order("connector start blocks")
    name = create(rest, monitor.source(TOPIC))
    blocks(monitor, "start")

    timed_out(rest.call("POST", f"/connectors/{name}/restart"), "starting the connector")
    delete(rest, name)


def test_blocking_connector_block_in_task_configs(rest: Rest, monitor: Monitor) -> None:
    monitor.order("connector task configs blocks")
    name = create(rest, monitor.source(TOPIC))
    blocks(monitor, "task configs")

    assert rest.get(f"/connectors/{name}")["tasks"] == []
    delete(rest, name)


def test_blocking_connector_block_in_connector_stop(rest: Rest, monitor: Monitor) -> None:
    monitor.order("connector stop blocks")
    name = create(rest, monitor.source(TOPIC))
    rest.runs(name)

    delete(rest, name)
    blocks(monitor, "stop")


def test_blocking_connector_block_in_source_task_start(rest: Rest, monitor: Monitor) -> None:
    begins_and_is_deleted(rest, monitor, monitor.source(TOPIC))


def test_blocking_connector_block_in_sink_task_start(lone: Cluster, rest: Rest, monitor: Monitor) -> None:
    begins_and_is_deleted(rest, monitor, monitor.sink(create_topic(lone.bootstrap)))


def test_blocking_connector_block_in_source_task_stop(rest: Rest, monitor: Monitor) -> None:
    runs_and_is_deleted(rest, monitor, monitor.source(TOPIC))


def test_blocking_connector_block_in_sink_task_stop(lone: Cluster, rest: Rest, monitor: Monitor) -> None:
    runs_and_is_deleted(rest, monitor, monitor.sink(create_topic(lone.bootstrap)))


def test_blocking_connector_worker_restart_with_block_in_connector_start(
    lone: Cluster, rest: Rest, monitor: Monitor
) -> None:
    monitor.order("connector start blocks")
    name = create(rest, monitor.source(TOPIC))
    blocks(monitor, "start")

    lone.restart("executor")

    delete(rest, name)


def test_blocking_connector_worker_restart_with_block_in_connector_stop(
    lone: Cluster, rest: Rest, monitor: Monitor
) -> None:
    monitor.order("connector stop blocks")
    name = create(rest, monitor.source(TOPIC))
    rest.runs(name)

    lone.restart("executor")

    blocks(monitor, "stop")
    delete(rest, name)


def begins_and_is_deleted(rest: Rest, monitor: Monitor, config: dict[str, str]) -> None:
    """Have a task hang in its start, and delete its connector."""
    monitor.order("task 0 start blocks")
    name = create(rest, config)
    blocks(monitor, "start")

    delete(rest, name)


def runs_and_is_deleted(rest: Rest, monitor: Monitor, config: dict[str, str]) -> None:
    """Delete a connector whose task will hang in its stop."""
    monitor.order("task 0 stop blocks")
    name = create(rest, config)
    rest.runs(name)

    delete(rest, name)
    blocks(monitor, "stop")
