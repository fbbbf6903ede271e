"""OffsetsApiIntegrationTest: offsets are shown, altered and reset (KIP-875), also those of a source's own.

| scenario | where |
| --- | --- |
| testAlter{Sink,Source}ConnectorOffsetsInvalidRequestBody | each in `tests/compat/rest/script/offsets.py` |
| other Kafka clusters, overridden groups of other clusters | `test_offsets_safely.py` |
| test{Get,Alter,Reset}SourceConnectorOffsetsCustomOffsetsTopic | `at_home` |
| test{Get,Alter,Reset}SourceConnectorOffsetsDifferentKafkaClusterTargeted | `elsewhere` |
| test{Alter,Reset}SourceConnectorOffsetsExactlyOnceSupportEnabled | `exactly_once`, which also fences |
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic
from copycat_testkit.kafka import (
    CLIENT_SECONDS,
    consume_all,
    create_topic,
    idempotent_producer,
    unique,
    wait_until,
)

from tests.integration.guarded.broker import PASSWORDS
from tests.integration.scenarios.cluster import Cluster
from tests.integration.scenarios.conftest import OtherCluster
from tests.integration.scenarios.monitors import Monitor
from tests.integration.scenarios.rest import PATIENCE, Rest

pytestmark = pytest.mark.timeout(300)

MANAGED = "The Connect framework-managed offsets for this connector have been"
NOT_STOPPED = "Connectors must be in the STOPPED state before their offsets can be modified."


def fill(bootstrap: str, topic: str, partitions: int, records: int) -> None:
    """Write so many records to every partition."""
    producer = idempotent_producer(bootstrap)
    for partition in range(partitions):
        for number in range(records):
            producer.produce(topic, b"%d" % number, partition=partition)
    assert producer.flush(60) == 0


def read(topic: str, *offsets: int | None) -> dict[str, Any]:
    """Return a sink's offsets, partition by partition."""
    return {
        "offsets": [
            {
                "partition": {"kafka_topic": topic, "kafka_partition": partition},
                "offset": None if offset is None else {"kafka_offset": offset},
            }
            for partition, offset in enumerate(offsets)
        ]
    }


def saved(name: str, *numbers: int) -> dict[str, Any]:
    """Return a source's offsets, task by task."""
    return {
        "offsets": [
            {"partition": {"task.id": f"{name}-{task}"}, "offset": {"saved": number}}
            for task, number in enumerate(numbers)
        ]
    }


class Offsets:
    """The offsets of one connector over REST."""

    def __init__(self, rest: Rest, name: str) -> None:
        self._rest, self.name, self._path = rest, name, f"/connectors/{name}/offsets"

    def become(self, expected: dict[str, Any]) -> None:
        """Wait until they are these."""

        def shown() -> bool:
            body = self._rest.get(self._path)
            body["offsets"].sort(key=lambda entry: str(entry["partition"]))
            return bool(body == expected)

        wait_until(shown, PATIENCE, f"{self.name} {expected}")

    def modify(self, method: str, body: object = None) -> str:
        """Alter or reset; returns what is said."""
        return str(self._rest.ok(method, self._path, body)["message"])

    def turn(self, verb: str, *states: str) -> None:
        """Stop, pause or resume the connector and wait for it."""
        self._rest.ok("PUT", f"/connectors/{self.name}/{verb}")
        self._rest.wait(self.name, *states)


@pytest.mark.row("K875-04", "K875-T01")
def test_get_non_existent_connector_offsets(rest: Rest) -> None:
    """testGetNonExistentConnectorOffsets: not found."""
    name = unique("none")
    reply = rest.call("GET", f"/connectors/{name}/offsets")
    assert (reply.status_code, reply.json()["message"]) == (404, f"Connector {name} not found")


@pytest.mark.parametrize("group", [False, True], ids=["", "overridden_consumer_group_id"])
@pytest.mark.row("K875-02", "K875-29", "K875-T02", "K875-T10")
def test_get_sink_connector_offsets(cluster: Cluster, rest: Rest, monitor: Monitor, group: bool) -> None:
    """testGetSinkConnectorOffsets, ...OverriddenConsumerGroupId: the end of every partition."""
    name = create_topic(cluster.bootstrap, partitions=5)
    more = {"consumer_override_group_id": unique("group")} if group else {}
    fill(cluster.bootstrap, name, 5, 10)
    rest.create(name, monitor.sink(name, tasks_max="2", **more))
    Offsets(rest, name).become(read(name, *[10] * 5))
    fill(cluster.bootstrap, name, 5, 10)
    Offsets(rest, name).become(read(name, *[20] * 5))


@pytest.mark.row("K875-01", "K875-T02")
def test_get_source_connector_offsets(rest: Rest, monitor: Monitor) -> None:
    """testGetSourceConnectorOffsets: where each task is."""
    name = unique("source")
    for messages in (10, 20):
        rest.configure(name, monitor.source(name, tasks_max="2", max_messages=str(messages)))
        Offsets(rest, name).become(saved(name, messages, messages))


@pytest.mark.row("K875-T04", "K875-T07")
def test_alter_offsets_non_existent_connector(rest: Rest) -> None:
    """testAlterOffsetsNonExistentConnector: not found."""
    name = unique("none")
    for method, body in (("PATCH", saved(name, 5)), ("DELETE", None)):
        reply = rest.call(method, f"/connectors/{name}/offsets", body)
        assert (reply.status_code, reply.json()["message"]) == (404, f"Connector {name} not found")


@pytest.mark.row("K875-09", "K875-T04", "K875-T07")
def test_alter_offsets_non_stopped_connector(rest: Rest, monitor: Monitor) -> None:
    """testAlterOffsetsNonStoppedConnector: refused while it runs and while it is paused."""
    name = unique("source")
    rest.create(name, monitor.source(name))
    rest.runs(name)
    for verb, states in (("resume", ["RUNNING"] * 2), ("pause", ["PAUSED"] * 2)):
        Offsets(rest, name).turn(verb, *states)
        for method, body in (("PATCH", saved(name, 5)), ("DELETE", None)):
            reply = rest.call(method, f"/connectors/{name}/offsets", body)
            assert (reply.status_code, NOT_STOPPED in reply.json()["message"]) == (400, True)


@pytest.mark.parametrize("group", [False, True], ids=["", "overridden_consumer_group_id"])
@pytest.mark.row("K875-08", "K875-12", "K875-13", "K875-20", "K875-29", "K875-T05", "K875-T10")
def test_alter_sink_connector_offsets(cluster: Cluster, rest: Rest, monitor: Monitor, group: bool) -> None:
    """testAlterSinkConnectorOffsets, ...OverriddenConsumerGroupId: some set, one forgotten, caught up."""
    name = create_topic(cluster.bootstrap, partitions=3)
    fill(cluster.bootstrap, name, 3, 10)
    more = {"consumer_override_group_id": unique("group")} if group else {}
    config = monitor.sink(name, tasks_max="2", **more)
    rest.create(name, config)
    offsets = Offsets(rest, name)
    offsets.become(read(name, 10, 10, 10))
    offsets.turn("stop", "STOPPED")
    assert offsets.modify("PATCH", read(name, None, 5, 5)).startswith(f"{MANAGED} altered successfully.")
    offsets.become({"offsets": read(name, 0, 5, 5)["offsets"][1:]})
    rest.configure(name, {**config, "alters.offsets": "true"})
    said = offsets.modify("PATCH", read(name, None, 5, 5))
    assert said == "The offsets for this connector have been altered successfully"
    offsets.turn("resume", *["RUNNING"] * 3)
    offsets.become(read(name, 10, 10, 10))


@pytest.mark.row("K875-12", "K875-20", "K26-55")
def test_offsets_of_a_sink_that_stores_them_with_its_data(
    cluster: Cluster, rest: Rest, tmp_path: Path
) -> None:
    """Not of Kafka Connect: under exactly-once positions lie beside the file, and a user moves these."""
    name, path = create_topic(cluster.bootstrap), tmp_path / "out"
    fill(cluster.bootstrap, name, 1, 5)
    config = {"connector.class": "FileStreamSink", "topics": name, "file": str(path)}
    string = "org.apache.kafka.connect.storage.StringConverter"
    rest.create(name, {**config, "delivery.guarantee": "exactly_once", "value.converter": string})
    offsets, lines = Offsets(rest, name), ["0", "1", "2", "3", "4"]
    offsets.become(read(name, 5))
    offsets.turn("stop", "STOPPED")
    said = offsets.modify("PATCH", read(name, 3))
    assert said == "The offsets for this connector have been altered successfully"
    offsets.become(read(name, 3))
    offsets.turn("resume", "RUNNING", "RUNNING")
    offsets.become(read(name, 5))
    assert path.read_text().split() == [*lines, *lines[3:]]

    offsets.turn("stop", "STOPPED")
    assert offsets.modify("DELETE") == "The offsets for this connector have been reset successfully"
    offsets.become(read(name))
    offsets.turn("resume", "RUNNING", "RUNNING")
    offsets.become(read(name, 5))
    assert path.read_text().split() == [*lines, *lines[3:], *lines]


def modify_under_a_zombie(cluster: Cluster, rest: Rest, monitor: Monitor, method: str) -> None:
    """Change the offsets of a stopped sink whose task still hangs in its work.

    Kafka Connect refuses it, in the end until workers are restarted. Here a task that hangs is given up with
    its host after `task.shutdown.graceful.timeout.ms`; the request waits for that, so that nothing the task
    did can undo it. One that lasts longer is refused in the same words (`tests/contract/gateway`).
    """
    name = create_topic(cluster.bootstrap)
    fill(cluster.bootstrap, name, 1, 10)
    rest.create(name, monitor.sink(name))
    offsets = Offsets(rest, name)
    offsets.become(read(name, 10))
    monitor.order("task 0 put blocks")
    fill(cluster.bootstrap, name, 1, 1)
    wait_until(lambda: monitor.entries("put blocked"), PATIENCE, "a task that hangs")
    offsets.turn("stop", "STOPPED")
    expected = read(name, 5) if method == "PATCH" else read(name)
    offsets.modify(method, expected if method == "PATCH" else None)
    monitor.order()
    offsets.become(expected)
    offsets.turn("resume", "RUNNING", "RUNNING")
    offsets.become(read(name, 11))


@pytest.mark.long
def test_alter_sink_connector_offsets_zombie_sink_tasks(
    cluster: Cluster, rest: Rest, monitor: Monitor
) -> None:
    """testAlterSinkConnectorOffsetsZombieSinkTasks: altered once the zombie is gone."""
    modify_under_a_zombie(cluster, rest, monitor, "PATCH")


@pytest.mark.long
def test_reset_sink_connector_offsets_zombie_sink_tasks(
    cluster: Cluster, rest: Rest, monitor: Monitor
) -> None:
    """testResetSinkConnectorOffsetsZombieSinkTasks: reset once the zombie is gone."""
    modify_under_a_zombie(cluster, rest, monitor, "DELETE")


@pytest.mark.row("K875-12", "K875-13", "K875-20", "K875-T05")
def test_alter_source_connector_offsets(rest: Rest, monitor: Monitor) -> None:
    """testAlterSourceConnectorOffsets: set back, and caught up again."""
    name = unique("source")
    config = monitor.source(name, tasks_max="2")
    rest.create(name, config)
    offsets = Offsets(rest, name)
    offsets.become(saved(name, 10, 10))
    offsets.turn("stop", "STOPPED")
    assert offsets.modify("PATCH", saved(name, 5, 5)).startswith(f"{MANAGED} altered successfully.")
    offsets.become(saved(name, 5, 5))
    rest.configure(name, {**config, "alters.offsets": "true"})
    said = offsets.modify("PATCH", saved(name, 6, 6))
    assert said == "The offsets for this connector have been altered successfully"
    offsets.become(saved(name, 6, 6))
    offsets.turn("resume", *["RUNNING"] * 3)
    offsets.become(saved(name, 10, 10))


@pytest.mark.long
@pytest.mark.parametrize("group", [False, True], ids=["", "overridden_consumer_group_id"])
@pytest.mark.row("K875-21", "K875-22", "K875-29", "K875-T08", "K875-T09", "K875-T10")
def test_reset_sink_connector_offsets(cluster: Cluster, rest: Rest, monitor: Monitor, group: bool) -> None:
    """testResetSinkConnectorOffsets, ...OverriddenConsumerGroupId: forgotten, twice, then caught up."""
    name = create_topic(cluster.bootstrap, partitions=3)
    fill(cluster.bootstrap, name, 3, 10)
    more = {"consumer_override_group_id": unique("group")} if group else {}
    rest.create(name, monitor.sink(name, tasks_max="2", **more))
    offsets = Offsets(rest, name)
    offsets.become(read(name, 10, 10, 10))
    offsets.turn("stop", "STOPPED")
    for _ in range(2):
        assert offsets.modify("DELETE").startswith(f"{MANAGED} reset successfully.")
        offsets.become(read(name))
    offsets.turn("resume", *["RUNNING"] * 3)
    offsets.become(read(name, 10, 10, 10))


@pytest.mark.row("K875-21", "K875-22", "K875-T08", "K875-T09")
def test_reset_source_connector_offsets(rest: Rest, monitor: Monitor) -> None:
    """testResetSourceConnectorOffsets: forgotten, twice, then everything from the beginning."""
    name = unique("source")
    rest.create(name, monitor.source(name, tasks_max="2"))
    offsets = Offsets(rest, name)
    offsets.become(saved(name, 10, 10))
    offsets.turn("stop", "STOPPED")
    for _ in range(2):
        assert offsets.modify("DELETE").startswith(f"{MANAGED} reset successfully.")
        offsets.become(saved(name))
    offsets.turn("resume", *["RUNNING"] * 3)
    offsets.become(saved(name, 10, 10))


CLIENTS = ("producer", "consumer", "admin")
TWICE = 2
PLACES = ("at_home", "at_home, exactly_once", "elsewhere", "elsewhere, exactly_once", "shared, exactly_once")


def copied(cluster: Cluster, name: str) -> dict[str, int]:
    """Return what the worker's topic has of a source, by task."""
    found: dict[str, int | None] = {}
    for message in consume_all(cluster.bootstrap, cluster.topic("offsets")):
        key = json.loads(message.key() or b"[]")
        if key and key[0] == name and key[1]:
            value = message.value()
            found[key[1]["task.id"]] = None if value is None else json.loads(value)["saved"]
    return {task: number for task, number in found.items() if number is not None}


def keeps(other: OtherCluster, name: str, place: str) -> dict[str, str]:
    """Return the keys of a connector that keeps its offsets in some place."""
    keys = {} if "shared" in place else {"offsets.storage.topic": f"{name}-offsets"}
    if "exactly_once" in place:
        keys |= {"delivery.guarantee": "exactly_once", "exactly.once": "supported"}
    if "elsewhere" in place:
        other.admin.create_topics([NewTopic(name, 1, 1)])[name].result(PATIENCE)
        for client in CLIENTS:
            keys |= other.overrides(client)
    return keys


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.row("K875-20", "K875-30", "K875-31", "K875-T11", "K875-T12")
def test_offsets_that_a_source_keeps_itself_are_shown_altered_and_reset(
    cluster: Cluster, rest: Rest, monitor: Monitor, other: OtherCluster, place: str
) -> None:
    name = unique("source")
    own, tasks = f"{name}-offsets", (f"{name}-0", f"{name}-1")
    config = monitor.source(name, tasks_max="2") | keeps(other, name, place)
    offsets = Offsets(rest, name)
    for messages in (10, 20):
        rest.configure(name, {**config, "max.messages": str(messages)})
        offsets.become(saved(name, messages, messages))
    wait_until(lambda: copied(cluster, name) == dict.fromkeys(tasks, 20), PATIENCE, "copied")
    at_home = AdminClient({"bootstrap.servers": cluster.bootstrap})
    for admin, has_it in ((at_home, "at_home" in place), (other.admin, "elsewhere" in place)):
        assert (own in admin.list_topics(timeout=CLIENT_SECONDS).topics) is has_it

    offsets.turn("stop", "STOPPED")
    assert offsets.modify("PATCH", saved(name, 5, 5)).startswith(f"{MANAGED} altered successfully.")
    offsets.become(saved(name, 5, 5))
    assert copied(cluster, name) == dict.fromkeys(tasks, 5)
    offsets.turn("resume", *["RUNNING"] * 3)
    offsets.become(saved(name, 20, 20))
    offsets.turn("stop", "STOPPED")
    for _ in range(TWICE):
        assert offsets.modify("DELETE").startswith(f"{MANAGED} reset successfully.")
        offsets.become(saved(name))
    assert copied(cluster, name) == {}
    offsets.turn("resume", *["RUNNING"] * 3)
    offsets.become(saved(name, 20, 20))
    for text in (rest.get(f"/connectors/{name}"), rest.get(f"/connectors/{name}/offsets")):
        assert PASSWORDS["admin"] not in str(text)
