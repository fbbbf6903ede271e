"""TransformationIntegrationTest: transformations with predicates on sinks and sources."""

from __future__ import annotations

import pytest
from confluent_kafka.admin import AdminClient
from copycat_testkit.kafka import create_topic, idempotent_producer, produce, unique, wait_until

from tests.integration.scenarios.cluster import Cluster
from tests.integration.scenarios.monitors import Monitor
from tests.integration.scenarios.rest import PATIENCE, Rest

pytestmark = pytest.mark.timeout(300)

FILTER = "org.apache.kafka.connect.transforms.Filter"
PREDICATES = "org.apache.kafka.connect.transforms.predicates"


def filtered(predicate: str, **more: str) -> dict[str, str]:
    """Return what drops the records of which a predicate is true."""
    own = {f"predicates.chosen.{key}": value for key, value in more.items()}
    return {
        "transforms": "filter",
        "transforms.filter.type": FILTER,
        "transforms.filter.predicate": "chosen",
        "predicates": "chosen",
        "predicates.chosen.type": f"{PREDICATES}.{predicate}",
        **own,
    }


def test_filter_on_topic_name_with_sink_connector(cluster: Cluster, rest: Rest, monitor: Monitor) -> None:
    """testFilterOnTopicNameWithSinkConnector: records of the one topic are dropped."""
    foo, bar = create_topic(cluster.bootstrap, unique("foo")), create_topic(cluster.bootstrap, unique("bar"))
    config = {**monitor.sink(f"{foo},{bar}"), **filtered("TopicNameMatches", pattern="foo-.*")}
    rest.create(unique("filtered"), config)
    for topic in (foo, bar):
        produce(cluster.bootstrap, topic, [f"{topic}-{number}".encode() for number in range(10)])
    expected = [f"{bar}-{number}" for number in range(10)]
    wait_until(lambda: monitor.values() == expected, PATIENCE, "the records of the other topic")
    produce(cluster.bootstrap, foo, [b"late"])
    produce(cluster.bootstrap, bar, [b"last"])
    wait_until(lambda: monitor.values() == [*expected, "last"], PATIENCE, "a later record")


def test_filter_on_tombstones_with_sink_connector(cluster: Cluster, rest: Rest, monitor: Monitor) -> None:
    """testFilterOnTombstonesWithSinkConnector: records without a value are dropped."""
    topic = create_topic(cluster.bootstrap)
    rest.create(topic, {**monitor.sink(topic), **filtered("RecordIsTombstone")})
    producer = idempotent_producer(cluster.bootstrap)
    for number in range(10):
        producer.produce(topic, None if number % 2 else b"%d" % number, key=b"k")
    assert producer.flush(60) == 0
    wait_until(lambda: monitor.values() == list("02468"), PATIENCE, "what has a value")


def test_filter_on_has_header_key_with_source_connector_and_topic_creation(
    cluster: Cluster, rest: Rest, monitor: Monitor
) -> None:
    """testFilterOnHasHeaderKeyWithSourceConnectorAndTopicCreation: only records with a header are left.

    The connector creates the topic, with the broker's own replication factor (-1).
    """
    topic = unique("headers")
    creation = {
        "topic.creation.default.replication.factor": "-1",
        "topic.creation.default.partitions": "1",
    }
    negated = {"transforms.filter.negate": "true", **filtered("HasHeaderKey", name="header-1")}
    rest.create(topic, {**monitor.source(topic), **creation, **negated})
    expected = [f"value-{topic}-0-{number}" for number in range(1, 11, 2)]
    wait_until(lambda: cluster.values(topic) == expected, PATIENCE, "records with the header")
    found = AdminClient({"bootstrap.servers": cluster.bootstrap}).list_topics(topic, timeout=10).topics[topic]
    assert [len(partition.replicas) for partition in found.partitions.values()] == [1]
