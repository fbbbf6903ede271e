"""The target's topics follow the source's: new topics, more partitions, settings."""

from __future__ import annotations

import pytest
from confluent_kafka.admin import AdminClient, ConfigResource
from confluent_kafka.cimpl import NewPartitions
from copycat_mirror.cluster import Cluster
from copycat_testkit.kafka import create_topic, unique, wait_until

from tests.integration.mirror.pair import NOW, SECONDS, Pair, consumed, write

pytestmark = pytest.mark.timeout(300)


def property_of(bootstrap: str, topic: str, name: str) -> str | None:
    """Return a setting of a topic as it is in force."""
    admin = AdminClient({"bootstrap.servers": bootstrap})
    resource = ConfigResource(ConfigResource.Type.TOPIC, topic)
    value = admin.describe_configs([resource])[resource].result(60)[name].value
    return None if value is None else str(value)


@pytest.mark.row("K26-72")
@pytest.mark.row("K26-73")
def test_topics_come_grow_and_keep_their_settings(pair: Pair) -> None:
    alias, topic = unique("berlin"), unique("grows")
    settings = {"retention.ms": "7200000", "min.insync.replicas": "1", "max.message.bytes": "200000"}
    create_topic(pair.source, topic, 2, settings)
    more = {
        "topics": f"{topic}.*",
        "refresh.topics.interval.seconds": "1",
        "sync.topic.configs.interval.seconds": "1",
        "tasks.max": "2",
    }
    pair.put(alias, pair.config("Source", alias, "paris", more))
    pair.runs(alias, 2)
    remote = f"{alias}.{topic}"
    assert property_of(pair.target, remote, "retention.ms") == "7200000"
    source = Cluster(AdminClient({"bootstrap.servers": pair.source}), "source", 30)
    source.alter_topic_config(topic, {"retention.ms": "3600000"}, ["max.message.bytes"])
    wait_until(
        lambda: property_of(pair.target, remote, "retention.ms") == "3600000", SECONDS, "the setting follows"
    )
    assert property_of(pair.target, remote, "max.message.bytes") != "200000"
    admin = AdminClient({"bootstrap.servers": pair.source})
    admin.create_partitions([NewPartitions(topic, 3)])[topic].result(60)
    create_topic(pair.source, f"{topic}-late")
    write(pair.source, topic, [(2, None, b"third", (), NOW)])
    write(pair.source, f"{topic}-late", [(0, b"k", b"late", (), 1_700_000_000_001)])
    wait_until(lambda: consumed(pair.target, f"{remote}-late"), SECONDS, "a new topic is mirrored")
    wait_until(lambda: consumed(pair.target, remote), SECONDS, "a new partition is mirrored")
    assert consumed(pair.target, remote) == [(2, None, b"third", (), NOW)]
    pair.delete(alias)
