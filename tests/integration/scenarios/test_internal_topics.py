"""InternalTopicsIntegrationTest: the topics of the services are made as set, or the service says why not.

| scenario | where |
| --- | --- |
| testCreateInternalTopicsWithFewerReplicasThanBrokers | not here: the embedded Kafka is one broker |
| every policy, partition count and broker default of one topic | `tests/integration/eventlog/test_start.py` |
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import TopicCollection
from confluent_kafka.admin import AdminClient
from confluent_kafka.admin._config import ConfigResource
from copycat_testkit.commands import COPYCAT_WORKER, Commands
from copycat_testkit.kafka import create_topic, unique, wait_until

from tests.integration.scenarios.cluster import Cluster
from tests.integration.scenarios.rest import PATIENCE, Rest

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
