"""Existing clients of Kafka Connect's REST interface manage connectors of Copycat, unmodified.

kcctl (github.com/kcctl/kcctl), a command line for Kafka Connect, needs a newer Java than Copycat and is in
no registry, so it is not run here. Its stop, offsets and plugin commands are the requests that a build of
its source was seen to make. Before each command it compares the first two numbers of the version at `/`
with the release of Kafka that brought what the command uses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, Final

import httpx2
import pytest
from copycat_testkit.kafka import unique, wait_until
from copycat_testkit.system import CopycatUp
from kafka_connect_api.errors import GenericConflict
from kafka_connect_api.kafka_connect_api import Api, Cluster

from tests.compat.clients.drivers import (
    Config,
    Driver,
    KafkaConnectApi,
    KafkaconnectClass,
    KafkaconnectCommand,
    KafkaConnectPyClass,
    KafkaConnectPyCommand,
)
from tests.plain_hosts import on_plain_hosts

pytestmark = [pytest.mark.timeout(300), pytest.mark.long]


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Run Copycat with a broker of its own; gives the root of its REST interface."""
    with CopycatUp(tmp_path_factory.mktemp("clients"), environment=on_plain_hosts()) as up:
        yield up.url


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


HEADERS: Final = {"Accept": "application/json", "User-Agent": "Apache-HttpClient/4.5.14 (Java/17.0.15)"}
KCCTL_PATIENCE: Final = 60.0
ALL_PLUGINS, DESCRIBE_PLUGIN = (3, 2), (3, 2)
STOP, GET_OFFSETS = (3, 5), (3, 5)
PATCH_OFFSETS, DELETE_OFFSETS = (3, 6), (3, 6)


class Kcctl:
    """Makes the requests of kcctl's commands; a command that the reported version is too old for fails."""

    def __init__(self, url: str) -> None:
        self._rest = httpx2.Client(base_url=url, headers=HEADERS, timeout=KCCTL_PATIENCE)

    def close(self) -> None:
        self._rest.close()

    def plugins(self) -> list[dict[str, str]]:
        """`kcctl get plugins --types=...`."""
        self._require(ALL_PLUGINS)
        found: list[dict[str, str]] = self._send("GET", "/connector-plugins?connectorsOnly=false")
        return found

    def describe_plugin(self, name: str) -> list[dict[str, Any]]:
        """`kcctl describe plugin`."""
        self._require(DESCRIBE_PLUGIN)
        found: list[dict[str, Any]] = self._send("GET", f"/connector-plugins/{name}/config")
        return found

    def apply(self, name: str, config: dict[str, str]) -> None:
        """`kcctl apply -f` of a new connector; the slash at the end is kcctl's."""
        assert name not in self._send("GET", "/connectors/")
        self._send("POST", "/connectors/", {"name": name, "config": config})

    def states(self, name: str) -> list[str]:
        """`kcctl get connectors`: the state of a connector, then those of its tasks."""
        self._require((2, 3))
        status = self._send("GET", "/connectors?expand=status")[name]["status"]
        return [status["connector"]["state"], *(task["state"] for task in status["tasks"])]

    def is_stopped(self, name: str) -> bool:
        return self.states(name) == ["STOPPED"]

    def stop(self, name: str) -> None:
        """`kcctl stop connector`."""
        self._require(STOP)
        self._send("PUT", f"/connectors/{name}/stop")

    def offsets(self, name: str) -> list[Any]:
        """`kcctl get offsets`."""
        self._require(GET_OFFSETS)
        found: list[Any] = self._send("GET", f"/connectors/{name}/offsets")["offsets"]
        return found

    def patch_offsets(self, name: str, partition: dict[str, Any], offset: dict[str, Any]) -> str:
        """`kcctl patch offsets`; returns what it prints."""
        self._require(PATCH_OFFSETS)
        body = {"offsets": [{"partition": partition, "offset": offset}]}
        return str(self._send("PATCH", f"/connectors/{name}/offsets", body)["message"])

    def delete_offsets(self, name: str) -> str:
        """`kcctl delete offsets`; returns what it prints."""
        self._require(DELETE_OFFSETS)
        return str(self._send("DELETE", f"/connectors/{name}/offsets")["message"])

    def _require(self, release: tuple[int, int]) -> None:
        major, minor = self._send("GET", "/")["version"].split(".")[:2]
        assert (int(major), int(minor)) >= release

    def _send(self, method: str, path: str, body: object = None) -> Any:
        # Without a body kcctl sends a Content-Length of 0 with PUT and DELETE, and no Content-Type.
        length = {"Content-Length": "0"} if body is None and method != "GET" else {}
        reply = self._rest.request(method, path, json=body, headers=length)
        assert reply.is_success, f"{method} {path}: {reply.status_code} {reply.text}"
        return reply.json() if reply.content else None


@pytest.fixture
def kcctl(url: str) -> Iterator[Kcctl]:
    kcctl = Kcctl(url)
    yield kcctl
    kcctl.close()


def test_kcctl_lists_and_describes_plugins(kcctl: Kcctl) -> None:
    kinds = {plugin["type"] for plugin in kcctl.plugins()}

    assert {"source", "sink", "transformation", "predicate", "converter", "header_converter"} <= kinds
    assert "file" in [key["name"] for key in kcctl.describe_plugin("FileStreamSource")]


def test_kcctl_stops_connectors_and_reads_changes_and_deletes_their_offsets(
    kcctl: Kcctl, tmp_path: Path
) -> None:
    source, sink, topic = unique("kcctl-source"), unique("kcctl-sink"), unique("kcctl")
    lines, copy = tmp_path / "lines.txt", tmp_path / "copy.txt"
    lines.write_text("one\ntwo\n")
    wanted = {"connector.plugin.version": "[4.0,5.0)"}  # as one writes it for Kafka
    kcctl.apply(source, {"connector.class": "FileStreamSource", "file": str(lines), "topic": topic, **wanted})
    kcctl.apply(sink, {"connector.class": "FileStreamSink", "file": str(copy), "topics": topic, **wanted})
    read, written = {"filename": str(lines)}, {"kafka_topic": topic, "kafka_partition": 0}
    all_read = [{"partition": read, "offset": {"position": 8}}]
    all_written = [{"partition": written, "offset": {"kafka_offset": 2}}]

    wait_until(lambda: kcctl.offsets(source) == all_read, KCCTL_PATIENCE, "the source's offset is committed")
    wait_until(lambda: kcctl.offsets(sink) == all_written, KCCTL_PATIENCE, "the sink's offset is committed")
    for name in (source, sink):
        kcctl.stop(name)
        wait_until(partial(kcctl.is_stopped, name), KCCTL_PATIENCE, f"{name} is stopped")

    altered = "The offsets for this connector have been altered successfully"
    assert kcctl.patch_offsets(source, read, {"position": 4}) == altered
    assert kcctl.patch_offsets(sink, written, {"kafka_offset": 1}) == altered
    assert kcctl.offsets(source) == [{"partition": read, "offset": {"position": 4}}]
    assert kcctl.offsets(sink) == [{"partition": written, "offset": {"kafka_offset": 1}}]
    reset = "The offsets for this connector have been reset successfully"
    for name in (source, sink):
        assert kcctl.delete_offsets(name) == reset
        assert kcctl.offsets(name) == []
