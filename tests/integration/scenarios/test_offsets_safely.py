"""Changes of offsets (KIP-875) that no task, broker, other gateway or other cluster may undo or hide."""

from __future__ import annotations

import json
import signal
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import KafkaError, KafkaException, Producer
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic
from copycat_connect.config.delivery import transactional_id
from copycat_embedded.broker import EmbeddedKafka
from copycat_embedded.ports import free_ports
from copycat_eventlog.producers import SILENT
from copycat_testkit.kafka import consume_all, create_topic, delete_topic, produce, unique, wait_until

from tests.integration.guarded.broker import PASSWORDS
from tests.integration.scenarios.cluster import Cluster
from tests.integration.scenarios.conftest import PARTITIONS, OtherCluster, committed
from tests.integration.scenarios.monitors import LineFile, Monitor
from tests.integration.scenarios.rest import PATIENCE, Rest
from tests.integration.scenarios.test_offsets_api import Offsets, fill, read, saved

pytestmark = pytest.mark.timeout(300)

ROUNDS = 5


@pytest.mark.parametrize("kind", ["source", "sink"])
@pytest.mark.row("K875-14", "K875-T03", "K875-T06")
def test_a_connector_whose_offsets_cannot_be_modified_says_so_and_keeps_them(
    cluster: Cluster, rest: Rest, monitor: Monitor, kind: str
) -> None:
    name = create_topic(cluster.bootstrap)
    if kind == "sink":
        fill(cluster.bootstrap, name, 1, 10)
    config = monitor.source(name) if kind == "source" else monitor.sink(name)
    make = saved if kind == "source" else read
    before, wanted = make(name, 10), make(name, 5)
    rest.create(name, {**config, "alters.offsets": "unsupported"})
    offsets = Offsets(rest, name)
    offsets.become(before)
    offsets.turn("stop", "STOPPED")
    answers = {
        "unsupported": f"Failed to modify offsets for connector {name} because it doesn't support external"
        " modification of offsets",
        "fails": "The system beyond is away",
    }
    for said, text in answers.items():
        rest.configure(name, {**config, "alters.offsets": said})
        for method, body in (("PATCH", wanted), ("DELETE", None)):
            reply = rest.call(method, f"/connectors/{name}/offsets", body)
            assert (reply.status_code, text in reply.json()["message"]) == (500, True), reply.text
            offsets.become(before)


@pytest.mark.row("K875-05")
def test_offsets_are_shown_in_every_state(rest: Rest, monitor: Monitor) -> None:
    name = unique("source")
    rest.create(name, monitor.source(name))
    offsets = Offsets(rest, name)
    offsets.become(saved(name, 10))
    for verb, states in (("pause", ["PAUSED"] * 2), ("stop", ["STOPPED"]), ("resume", ["RUNNING"] * 2)):
        offsets.turn(verb, *states)
        offsets.become(saved(name, 10))
    monitor.order("task 0 poll raises")
    rest.wait(name, "RUNNING", "FAILED")
    offsets.become(saved(name, 10))


@pytest.mark.parametrize("method", ["PATCH", "DELETE"])
@pytest.mark.row("K875-10")
def test_no_change_is_made_while_a_source_task_hangs(rest: Rest, monitor: Monitor, method: str) -> None:
    """It is answered once the task was given up with its host, so that nothing can undo it any more."""
    name = unique("source")
    rest.create(name, monitor.source(name))
    offsets = Offsets(rest, name)
    offsets.become(saved(name, 10))
    monitor.order("task 0 poll blocks")
    wait_until(lambda: monitor.entries("poll blocked"), PATIENCE, "a task that hangs")
    rest.ok("PUT", f"/connectors/{name}/stop")
    wait_until(lambda: (rest.states(name) or [])[:1] == ["STOPPED"], PATIENCE, "the connector stopped")
    assert held(rest, name), "the task is still there when the request is sent"
    offsets.modify(method, saved(name, 5) if method == "PATCH" else None)
    assert not held(rest, name), "it is not any more when it is answered"
    rest.wait(name, "STOPPED")
    monitor.order()
    offsets.become(saved(name, 5) if method == "PATCH" else saved(name))
    offsets.turn("resume", "RUNNING", "RUNNING")
    offsets.become(saved(name, 10))


def held(rest: Rest, name: str) -> bool:
    """Tell whether some worker still has a task of a connector."""
    found = (each for worker in rest.get("/workers") for each in worker["held"])
    return any(each["connector"] == name and "task" in each for each in found)


@pytest.mark.long
@pytest.mark.row("K875-17")
def test_changes_by_two_gateways_at_once_come_one_after_the_other(
    cluster: Cluster, rest: Rest, monitor: Monitor
) -> None:
    """Each is made whole or not at all, and both gateways show the same."""
    name = unique("source")
    rest.create(name, monitor.source(name, tasks_max="2"))
    offsets = Offsets(rest, name)
    offsets.become(saved(name, 10, 10))
    offsets.turn("stop", "STOPPED")
    with cluster.gateway({}) as second, ThreadPoolExecutor(2) as pool:
        for number in range(ROUNDS):
            wanted = saved(name, number, number), saved(name, number + 100, number + 100)
            asked = [
                pool.submit(Offsets(gateway, name).modify, "PATCH", body)
                for gateway, body in zip((rest, second), wanted, strict=True)
            ]
            assert all(each.result(PATIENCE) for each in asked)
            shown = [gateway.get(f"/connectors/{name}/offsets")["offsets"] for gateway in (rest, second)]
            assert sorted(shown[0], key=str) == sorted(shown[1], key=str)
            assert {"offsets": sorted(shown[0], key=str)} in wanted


@pytest.mark.row("K875-32")
def test_offsets_that_were_saved_are_put_back_after_the_loss_of_the_topic(
    cluster: Cluster, rest: Rest, monitor: Monitor
) -> None:
    name = unique("source")
    config = monitor.source(name, tasks_max="2")
    rest.create(name, config)
    offsets = Offsets(rest, name)
    offsets.become(saved(name, 10, 10))
    kept = rest.get(f"/connectors/{name}/offsets")
    offsets.turn("stop", "STOPPED")
    rest.released(name)

    delete_topic(AdminClient({"bootstrap.servers": cluster.bootstrap}), cluster.topic("offsets"))
    # Whoever makes it anew accepts the loss: by itself the service would not start.
    create_topic(cluster.bootstrap, cluster.topic("offsets"), 25, {"cleanup.policy": "compact"})
    cluster.restart("offset", signal.SIGKILL)
    offsets.become(saved(name))
    offsets.modify("PATCH", kept)
    offsets.become(saved(name, 10, 10))
    rest.configure(name, {**config, "max.messages": "15"})
    offsets.turn("resume", *["RUNNING"] * 3)
    offsets.become(saved(name, 15, 15))
    expected = [f"value-{name}-{task}-{number}" for task in range(2) for number in range(1, 16)]
    assert sorted(cluster.values(name)) == sorted(expected), "nothing is repeated and nothing missing"


@pytest.mark.row("K875-24")
def test_a_reset_that_brokers_do_not_take_is_a_failure_and_changes_nothing(
    rest: Rest, monitor: Monitor, tmp_path: Path
) -> None:
    name = unique("source")
    offsets = Offsets(rest, name)
    with EmbeddedKafka(tmp_path / "own", port=free_ports(1)[0]) as broker:
        admin = AdminClient({"bootstrap.servers": broker.bootstrap})
        admin.create_topics([NewTopic(name, 1, 1)])[name].result(PATIENCE)
        elsewhere = {
            f"{client}.override.bootstrap.servers": broker.bootstrap
            for client in ("producer", "consumer", "admin")
        }
        config = {
            **monitor.source(name),
            **elsewhere,
            "offsets.storage.topic": f"{name}-offsets",
            "admin.override.request.timeout.ms": "3000",
        }
        rest.create(name, config)
        offsets.become(saved(name, 10))
        offsets.turn("stop", "STOPPED")
        broker.kill()
        refused = rest.call("DELETE", f"/connectors/{name}/offsets")
        broker.start()
        path = f"/connectors/{name}/offsets"
        wait_until(lambda: rest.call("GET", path).status_code == 200, PATIENCE, "offsets that can be read")

        assert refused.status_code == 503, "it can be tried again; Kafka Connect says 500"
        assert f"{name}-offsets" in refused.json()["message"]
        offsets.become(saved(name, 10))
        rest.ok("DELETE", f"/connectors/{name}/offsets")
        offsets.become(saved(name))


def shown(file: LineFile, position: int) -> list[dict[str, Any]]:
    """Return the offsets of a source that has read its file so far."""
    return [{"partition": {"filename": str(file.path)}, "offset": {"position": position}}]


def frozen_task(cluster: Cluster, name: str, file: LineFile, topic: str) -> Producer:
    """Return the producer of a task, with a record and its offset in a transaction that is open."""
    zombie = Producer(
        {
            "bootstrap.servers": cluster.bootstrap,
            "transactional.id": transactional_id(cluster.group, name, 0),
        },
        logger=SILENT,
    )
    zombie.init_transactions(PATIENCE)
    zombie.begin_transaction()
    zombie.produce(topic, b"late")
    key = json.dumps([name, {"filename": str(file.path)}], separators=(",", ":"))
    zombie.produce(cluster.topic("offsets"), key=key, value=b'{"position":999}')
    assert zombie.flush(PATIENCE) == 0
    return zombie


@pytest.mark.parametrize(
    ("method", "position"),
    [
        pytest.param("PATCH", 4, marks=pytest.mark.row("K875-18")),
        pytest.param("DELETE", None, marks=pytest.mark.row("K875-26")),
    ],
)
def test_a_zombie_task_cannot_take_back_a_change_of_its_offsets(
    cluster: Cluster, rest: Rest, tmp_path: Path, method: str, position: int | None
) -> None:
    name, topic, file = unique("zombie"), create_topic(cluster.bootstrap), LineFile(tmp_path / "in.txt")
    file.append(["one", "two"])
    path = f"/connectors/{name}/offsets"
    rest.create(name, {**file.source(topic), "delivery.guarantee": "exactly_once"})
    wait_until(lambda: rest.get(path)["offsets"] == shown(file, 8), PATIENCE, "both lines")
    rest.ok("PUT", f"/connectors/{name}/stop")
    rest.released(name)
    zombie = frozen_task(cluster, name, file, topic)

    changed = shown(file, position) if position is not None else []
    rest.ok(method, path, {"offsets": changed} if changed else None)
    with pytest.raises(KafkaException) as refused:
        zombie.commit_transaction(PATIENCE)

    assert refused.value.args[0].code() == KafkaError._FENCED
    assert rest.get(path)["offsets"] == changed
    assert [message.value() for message in consume_all(cluster.bootstrap, topic)] == [b"one", b"two"]
    counts = [
        message.value()
        for message in consume_all(cluster.bootstrap, cluster.topic("configs"))
        if message.key() == f"tasks-fencing-{name}".encode()
    ]
    assert counts == [b'{"task-count":1}', b'{"task-count":0}']


@pytest.mark.long
@pytest.mark.parametrize("group", [False, True], ids=["", "overridden_consumer_group_id"])
@pytest.mark.row("K875-31", "K875-T12")
def test_a_sink_of_another_cluster_reads_divides_and_commits_there(
    cluster: Cluster, rest: Rest, monitor: Monitor, other: OtherCluster, group: bool
) -> None:
    """TestGetSinkConnectorOffsetsDifferentKafkaClusterTargeted and its kin: alter and reset, too."""
    name = create_topic(cluster.bootstrap, partitions=1)
    produce(cluster.bootstrap, name, [b"at home"])
    other.fill(name, 10)
    config = monitor.sink(name, tasks_max="2") | other.overrides("consumer")
    group_id = unique("group") if group else f"connect-{name}"
    if group:
        config["consumer.override.group.id"] = group_id

    rest.create(name, config)
    offsets = Offsets(rest, name)
    offsets.become(read(name, *[10] * PARTITIONS))

    assert sorted(monitor.values()) == sorted(str(number) for number in range(10) for _ in range(PARTITIONS))
    assert len(monitor.counts("put")) == 2, "both tasks read"
    assert other.committed(group_id) == dict.fromkeys(range(PARTITIONS), 10)
    assert committed(AdminClient({"bootstrap.servers": cluster.bootstrap}), group_id) == {}
    offsets.turn("stop", "STOPPED")
    offsets.modify("PATCH", read(name, 3, None))
    assert other.committed(group_id) == {0: 3, 2: 10, 3: 10}
    offsets.modify("DELETE")
    assert other.committed(group_id) == {}
    offsets.turn("resume", "RUNNING", *["RUNNING"] * 2)
    wait_until(lambda: len(monitor.values()) == 20 * PARTITIONS, PATIENCE, "all records once more")
    for text in (rest.get(f"/connectors/{name}"), rest.get(f"/connectors/{name}/offsets")):
        assert PASSWORDS["admin"] not in str(text)


def test_offset_calls_follow_the_overrides_of_the_admin_client(
    cluster: Cluster, rest: Rest, monitor: Monitor, other: OtherCluster
) -> None:
    name = create_topic(cluster.bootstrap)
    fill(cluster.bootstrap, name, 1, 5)
    rest.create(name, monitor.sink(name))
    offsets = Offsets(rest, name)
    offsets.become(read(name, 5))
    offsets.turn("stop", "STOPPED")

    rest.configure(name, monitor.sink(name) | other.overrides("admin"))
    assert rest.get(f"/connectors/{name}/offsets") == {"offsets": []}, "the other cluster has no such group"
    wrong = {"admin.override.request.timeout.ms": "soon"}
    rest.configure(name, monitor.sink(name) | wrong)
    refused = rest.call("GET", f"/connectors/{name}/offsets")

    assert refused.status_code == 400
    assert "Invalid value soon for configuration request.timeout.ms" in refused.json()["message"]


def test_a_cluster_that_is_away_is_named_within_the_time_of_its_overrides(
    cluster: Cluster, rest: Rest, monitor: Monitor
) -> None:
    name = create_topic(cluster.bootstrap)
    away = {"admin.override.bootstrap.servers": "127.0.0.1:1", "admin.override.request.timeout.ms": "1000"}
    rest.create(name, monitor.sink(name) | away)

    refused = rest.call("GET", f"/connectors/{name}/offsets")

    assert refused.status_code == 503
    assert f"did not answer for consumer group connect-{name} within 1 s" in refused.json()["message"]
