"""Existing clients of Kafka Connect's REST interface manage connectors of Copycat, unmodified."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from copycat_testkit.kafka import unique, wait_until
from kafka_connect_api.errors import GenericConflict
from kafka_connect_api.kafka_connect_api import Api, Cluster

from tests.compat.clients.driver import Config, Driver
from tests.compat.clients.kafka_connect_api_client import KafkaConnectApi
from tests.compat.clients.kafka_connect_py_client import KafkaConnectPyClass, KafkaConnectPyCommand
from tests.compat.clients.kafkaconnect_client import KafkaconnectClass, KafkaconnectCommand

pytestmark = [pytest.mark.timeout(300), pytest.mark.long]

CLIENTS: tuple[Callable[[str, Path], Driver], ...] = (
    KafkaconnectClass,
    KafkaconnectCommand,
    KafkaConnectPyClass,
    KafkaConnectPyCommand,
    KafkaConnectApi,
)
SOURCE = "org.apache.kafka.connect.file.FileStreamSourceConnector"
PATIENCE = 60.0


@pytest.fixture(params=CLIENTS, ids=lambda client: client.__name__)
def client(request: pytest.FixtureRequest, url: str, tmp_path: Path) -> Driver:
    driver: Driver = request.param(url, tmp_path)
    return driver


def states(client: Driver, name: str) -> list[str]:
    """Return the state of a connector, then those of its tasks."""
    status = client.status(name)
    return [status["connector"]["state"], *(task["state"] for task in status["tasks"])] if status else []


def wait_for(client: Driver, name: str, *wanted: str) -> None:
    def reached() -> bool:
        return states(client, name) == list(wanted)

    wait_until(reached, PATIENCE, f"{name} {wanted}")


def lines_to(folder: Path, topic: str) -> Config:
    file = folder / "lines.txt"
    file.write_text("one\ntwo\n")
    return {"connector.class": SOURCE, "tasks.max": "1", "file": str(file), "topic": topic}


def test_a_client_drives_a_connector_through_its_whole_life(client: Driver, tmp_path: Path) -> None:
    name = unique("driven")
    config = lines_to(tmp_path, topic=name)

    assert SOURCE in client.plugins()
    assert client.errors({**config, "name": name}) == 0
    assert client.errors({**config, "name": name, "tasks.max": "none"}) >= 1

    client.create(name, config)
    assert name in client.names()
    assert client.config(name) == {**config, "name": name}
    wait_for(client, name, "RUNNING", "RUNNING")
    assert client.tasks(name) == [0]
    wait_until(lambda: client.topics(name) == [name], PATIENCE, "its topic is known")

    client.pause(name)
    wait_for(client, name, "PAUSED", "PAUSED")
    client.resume(name)
    wait_for(client, name, "RUNNING", "RUNNING")
    client.restart(name)
    wait_for(client, name, "RUNNING", "RUNNING")

    client.update(name, {**config, "batch.size": "7"})
    assert client.config(name) == {**config, "name": name, "batch.size": "7"}
    wait_for(client, name, "RUNNING", "RUNNING")

    client.delete(name)
    assert name not in client.names()
    wait_until(lambda: not client.status(name), PATIENCE, f"the status of {name} is gone")


def test_a_client_is_told_of_a_connector_that_exists(url: str, tmp_path: Path) -> None:
    name = unique("twice")
    client = KafkaConnectApi(url, tmp_path)
    client.create(name, lines_to(tmp_path, topic=name))

    with pytest.raises(GenericConflict):
        client.create(name, lines_to(tmp_path, topic=name))

    client.delete(name)


def test_a_client_reads_the_cluster_and_sets_log_levels(url: str) -> None:
    cluster = Cluster(Api(url=url))

    cluster.root_logger = "ERROR"

    assert cluster.root_logger["level"] == "ERROR"
    assert cluster.version
    assert cluster.kafka_cluster
