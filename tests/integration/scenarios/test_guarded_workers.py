"""InternalTopics- and RestExtensionIntegrationTest, and basic authentication, which guards the same system.

| scenario | where |
| --- | --- |
| testCreateInternalTopicsWithFewerReplicasThanBrokers | not here: the embedded Kafka is one broker |
| policies, partition counts and broker defaults of a topic | `tests/integration/eventlog/test_instances.py` |
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx2
import pytest
from confluent_kafka import TopicCollection
from confluent_kafka.admin import AdminClient
from confluent_kafka.admin._config import ConfigResource
from copycat_embedded.ports import free_ports
from copycat_testkit.commands import COPYCAT, COPYCAT_WORKER, Commands
from copycat_testkit.kafka import create_topic, unique, wait_until

from tests.integration.scenarios.cluster import Cluster
from tests.integration.scenarios.monitors import STRING, Monitor
from tests.integration.scenarios.rest import PATIENCE, Rest
from tests.plain_hosts import on_plain_hosts

pytestmark = [pytest.mark.timeout(300), pytest.mark.long]

LOADING = "The worker is currently initializing and reading to the end of internal topics"


@pytest.fixture
def commands(tmp_path: Path) -> Iterator[Commands]:
    """Start commands that end with the test."""
    running = Commands(tmp_path)
    yield running
    running.close()


def shape(bootstrap: str, topic: str) -> tuple[str, int, set[int], str]:
    """Return a topic's id, partitions, replicas and cleanup policy."""
    admin = AdminClient({"bootstrap.servers": bootstrap})
    found = admin.describe_topics(TopicCollection([topic]))[topic].result(60)
    resource = ConfigResource(ConfigResource.Type.TOPIC, topic)
    configs = admin.describe_configs([resource])[resource].result(60)
    replicas = {len(partition.replicas) for partition in found.partitions}
    return str(found.topic_id), len(found.partitions), replicas, configs["cleanup.policy"].value


def stranger(cluster: Cluster, role: str, topic: str, **more: str) -> Path:
    """Return properties of a service of another group, which keeps its log in a topic of its own."""
    own = {"group.id": unique("stranger"), f"{role}.storage.topic": topic}
    return cluster.properties(role, own | {key.replace("_", "."): value for key, value in more.items()})


def answers(gateway: Rest) -> bool:
    """Tell whether the config service behind a gateway answers."""
    return bool(gateway.call("GET", "/connectors").json() == [])


def test_create_internal_topics_with_default_settings(cluster: Cluster) -> None:
    """testCreateInternalTopicsWithDefaultSettings: Kafka Connect's numbers, kept by a restart."""
    expected = {"configs": 1, "offsets": 25, "status": 5}
    found = {topic: shape(cluster.bootstrap, cluster.topic(topic)) for topic in expected}
    assert {topic: partitions for topic, (_, partitions, _, _) in found.items()} == expected
    assert {(*replicas, policy) for _, _, replicas, policy in found.values()} == {(1, "compact")}
    cluster.restart_at_once("config", "offset", "status")
    assert {topic: shape(cluster.bootstrap, cluster.topic(topic)) for topic in expected} == found


def test_fail_to_create_internal_topics_with_more_replicas_than_brokers(
    cluster: Cluster, commands: Commands
) -> None:
    """testFailToCreateInternalTopicsWithMoreReplicasThanBrokers: it waits for brokers, and says so."""
    topic = unique("configs")
    file = stranger(cluster, "config", topic, config_storage_replication_factor="3")
    config = commands.start(file, "--role", "config", program=COPYCAT_WORKER)
    told = {"config.addresses": cluster.address(file, "config"), "rest.health.timeout.ms": "300"}
    with cluster.gateway(told) as gateway:
        reply = gateway.call("GET", "/health")
        assert (reply.status_code, LOADING in reply.json()["message"]) == (503, True)
    assert topic not in AdminClient({"bootstrap.servers": cluster.bootstrap}).list_topics(timeout=20).topics
    config.end()


@pytest.mark.parametrize(
    ("role", "policy"),
    [("config", "delete"), ("offset", "compact,delete"), ("status", "")],
    ids=["config", "offset", "status_by_the_brokers_default"],
)
def test_fail_to_start_when_internal_topics_are_not_compacted(
    cluster: Cluster, commands: Commands, role: str, policy: str
) -> None:
    """testFailToStartWhenInternalTopicsAreNotCompacted: the message names the topic, its key and the fix."""
    topic = create_topic(cluster.bootstrap, config={"cleanup.policy": policy} if policy else None)
    file = stranger(cluster, role, topic)
    code, said = commands.run(file, "--role", role, program=COPYCAT_WORKER)
    assert code == 1
    assert re.search(
        f"Topic '{topic}' supplied via the '{role}.storage.topic' property is required to have"
        f" 'cleanup.policy=compact' .* currently has 'cleanup.policy={policy or 'delete'}'",
        said,
    )


def test_start_when_internal_topics_created_manually_with_compact(
    cluster: Cluster, commands: Commands
) -> None:
    """testStartWhenInternalTopicsCreatedManuallyWithCompactForBrokersDefaultCleanupPolicy: they are used."""
    topic = create_topic(cluster.bootstrap, config={"cleanup.policy": "compact"})
    file = stranger(cluster, "config", topic)
    config = commands.start(file, "--role", "config", program=COPYCAT_WORKER)
    told = {"config.addresses": cluster.address(file, "config")}
    with cluster.gateway(told) as gateway:
        wait_until(lambda: answers(gateway), PATIENCE, "the config service on that topic")
    assert config.end() == 0


BASIC_AUTH = "org.apache.kafka.connect.rest.basic.auth.extension.BasicAuthSecurityRestExtension"
ROOT = "/integration-test-rest-extension"
USER = "ann:s3cret"
REFUSED = "User cannot access the resource."
#: Whoever runs the tests is not meant.
NOBODY = {"COPYCAT_USER": ""}


@dataclass(frozen=True)
class Guarded:
    """A system that only ann may use."""

    url: str
    rest: Rest
    """Ann's."""


@pytest.fixture(scope="module")
def users(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("users") / "users.properties"
    file.write_text("ann=s3cret\n")
    return file


@pytest.fixture(scope="module")
def guarded(kafka: str, users: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guarded]:
    """Run a system with both extensions; its launcher does not know who may use it."""
    settings = {
        "rest.extension.classes": f"{BASIC_AUTH},IntegrationTestRestExtension",
        "rest.basic.auth.file": str(users),
    }
    with Cluster(kafka, tmp_path_factory.mktemp("guarded"), 1, settings).running() as running:
        url = running.up.url
        rest = Rest(url.replace("//", f"//{USER}@"))
        wait_until(lambda: rest.succeeds("/health"), PATIENCE, "a healthy system")
        yield Guarded(url, rest)
        rest.clean()


def copycat(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a command of ours to its end."""
    return subprocess.run(
        [COPYCAT, *words],
        env={**os.environ, **NOBODY, **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )


def test_rest_extension_api(guarded: Guarded, kafka: str, tmp_path: Path) -> None:
    """A resource of an extension is reachable, and shows connectors, health, configuration and cluster id."""
    rest, name = guarded.rest, unique("extended")
    wait_until(lambda: rest.succeeds(f"{ROOT}/registered"), PATIENCE, "the resource")
    assert rest.get(f"{ROOT}/registered") is True

    config = Monitor(tmp_path / "monitor").sink(create_topic(kafka), name=name)
    rest.configure(name, config)
    rest.runs(name)
    connector, task = rest.placed(name)

    cluster = rest.get(f"{ROOT}/cluster")
    assert cluster["connectors"] == [name]
    assert cluster["kafka_cluster_id"] == AdminClient({"bootstrap.servers": kafka}).list_topics().cluster_id
    assert rest.get(f"{ROOT}/connectors/{name}") == {
        "config": config,
        "health": {
            "name": name,
            "type": "sink",
            "connector": {"state": "RUNNING", "worker_id": connector, "trace": None},
            "tasks": {"0": {"state": "RUNNING", "worker_id": task, "trace": None}},
        },
    }
    nobody = rest.call("GET", f"{ROOT}/connectors/nobody")
    assert (nobody.status_code, nobody.json()["message"]) == (500, "Connector nobody not found")
    rest.delete(name)
    assert rest.get(f"{ROOT}/cluster")["connectors"] == []


@pytest.mark.parametrize(
    "path",
    ["/", "/health", "/connectors", "/admin/loggers", "/openapi", "/no/such/path", f"{ROOT}/registered"],
)
def test_only_who_has_the_password_is_answered(guarded: Guarded, path: str) -> None:
    for user in (None, ("ann", "wrong"), ("bob", "s3cret")):
        refused = httpx2.get(guarded.url + path, auth=user)
        assert (refused.status_code, refused.text) == (401, REFUSED)
        assert refused.headers["content-type"].startswith("text/plain")
        assert "www-authenticate" not in refused.headers
    assert httpx2.get(guarded.url + path, auth=("ann", "s3cret")).status_code != 401


def test_what_workers_ask_each_other_needs_a_signature_and_no_password(guarded: Guarded) -> None:
    for method, path in (("POST", "/connectors/any/tasks"), ("PUT", "/connectors/any/fence")):
        reply = httpx2.request(method, guarded.url + path, json=[])
        assert (reply.status_code, reply.json()["message"]) == (
            400,
            "Internal request missing required signature",
        )


def test_the_command_line_says_who_asks(guarded: Guarded) -> None:
    url = ("--url", guarded.url)

    assert copycat("workers", "-o", "json", *url, "--user", USER).returncode == 0
    assert copycat("workers", "-o", "json", *url, COPYCAT_USER=USER).returncode == 0
    refused = copycat("workers", *url, COPYCAT_USER="ann:wr0ng")
    assert refused.returncode == 5
    assert "--user NAME:PASSWORD" in refused.stderr
    assert "wr0ng" not in refused.stdout + refused.stderr


def test_a_guarded_standalone_worker_is_told_who_starts_its_connectors(
    kafka: str, users: Path, tmp_path: Path
) -> None:
    """`copycat standalone` hands its connectors over through its own guarded REST interface."""
    url, name = f"http://127.0.0.1:{free_ports(1)[0]}", unique("lines")
    worker, connector = tmp_path / "worker.properties", tmp_path / "lines.properties"
    worker.write_text(
        f"bootstrap.servers={kafka}\nkey.converter={STRING}\nvalue.converter={STRING}\nlisteners={url}\n"
        f"rest.extension.classes={BASIC_AUTH}\nrest.basic.auth.file={users}\n"
    )
    connector.write_text(
        f"name={name}\nconnector.class=FileStreamSource\nfile={tmp_path / 'in.txt'}\ntopic={name}\n"
    )
    commands = Commands(tmp_path, on_plain_hosts({"COPYCAT_USER": USER}))
    try:
        command = commands.start("standalone", "--no-offsets", worker, connector)
        command.wait_ready()
        assert httpx2.get(f"{url}/connectors").status_code == 401
        assert httpx2.get(f"{url}/connectors", auth=("ann", "s3cret")).json() == [name]
        assert "s3cret" not in command.said()
        assert command.end() == 0
    finally:
        commands.close()


def test_a_users_file_that_is_not_there_stops_the_start(tmp_path: Path) -> None:
    worker = tmp_path / "worker.properties"
    worker.write_text(
        "group.id=g\nconfig.storage.topic=c\noffset.storage.topic=o\nstatus.storage.topic=s\n"
        f"key.converter={STRING}\nvalue.converter={STRING}\nlisteners=http://127.0.0.1:0\n"
        f"rest.extension.classes={BASIC_AUTH}\nrest.basic.auth.file={tmp_path / 'none'}\n"
    )
    commands = Commands(tmp_path)
    try:
        ended = commands.start(worker, "--role", "gateway", program=COPYCAT_WORKER)
        assert ended.process.wait(PATIENCE) == 1
        said = ended.said()
    finally:
        commands.close()
    for word in (BASIC_AUTH, "rest.extension.classes", "rest.basic.auth.file", "user=password"):
        assert word in said
