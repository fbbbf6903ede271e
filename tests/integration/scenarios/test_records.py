"""Records on their way: ExampleConnect-, ErrorHandling-, Transformation- and SinkConnectorsIntegrationTest.

Kafka's consumers divide partitions among themselves, all anew or cooperatively. Here the scheduler divides
them, whatever `partition.assignment.strategy` says, and a task whose share changes starts again with the new
one. What a user sees is the same: every partition is open in one task, every record is put once.
"""

from __future__ import annotations

import pytest
from confluent_kafka.admin import AdminClient
from copycat_testkit.kafka import (
    consume_all,
    create_topic,
    delete_topic,
    idempotent_producer,
    produce,
    unique,
    wait_until,
)

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


RECORDS_WITH_ERRORS = 1000
VALUES = [f"value-{number}" for number in range(RECORDS_WITH_ERRORS)]


def tolerant(queue: str) -> dict[str, str]:
    """Return what lets a sink go on, with its failures in a queue."""
    return {
        "errors.tolerance": "all",
        "errors.retry.timeout": "1000",
        "errors.log.enable": "false",
        "errors.deadletterqueue.topic.name": queue,
        "errors.deadletterqueue.topic.replication.factor": "1",
        "errors.deadletterqueue.context.headers.enable": "true",
    }


def written(cluster: Cluster) -> str:
    """Return a new topic with a thousand records."""
    topic = create_topic(cluster.bootstrap)
    produce(cluster.bootstrap, topic, [value.encode() for value in VALUES])
    return topic


def test_skip_retry_and_dlq_with_headers(cluster: Cluster, rest: Rest, monitor: Monitor) -> None:
    """testSkipRetryAndDLQWithHeaders: one record fails for good, the others arrive, and it says why."""
    topic, queue = written(cluster), unique("letters")
    faulty = {
        "transforms": "faulty",
        "transforms.faulty.type": "monitorable.FaultyPassthrough",
        "transforms.faulty.value": "value-7",
    }
    rest.create(topic, {**monitor.sink(topic), **tolerant(queue), **faulty})
    expected = [value for value in VALUES if value != "value-7"]
    wait_until(lambda: monitor.values() == expected, PATIENCE, "all others")
    wait_until(lambda: len(cluster.values(queue)) == 1, PATIENCE, "one dead letter")
    (letter,) = consume_all(cluster.bootstrap, queue)
    headers = dict(letter.headers() or [])
    assert letter.value() == b"value-7"
    assert headers["__connect.errors.topic"] == topic.encode()
    failure = b"org.apache.kafka.connect.errors.RetriableException"
    assert headers["__connect.errors.exception.class.name"] == failure
    assert headers["__connect.errors.exception.message"] == b"Error when value='value-7'"


def test_errant_record_reporter(cluster: Cluster, rest: Rest, monitor: Monitor) -> None:
    """testErrantRecordReporter: a sink that reports every record has them all in the queue."""
    topic, queue = written(cluster), unique("letters")
    few = {"consumer.override.max.poll.records": "5", "reports.errors": "true"}
    rest.create(topic, {**monitor.sink(topic), **tolerant(queue), **few})
    wait_until(lambda: cluster.values(queue) == VALUES, PATIENCE, "all records in the queue")
    rest.runs(topic)


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


@pytest.mark.long
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


STRATEGIES = "org.apache.kafka.clients.consumer"


def open_now(monitor: Monitor) -> list[list[object]]:
    """Return the partitions that are open, once for each task that has them open."""
    by_task: dict[str, list[list[object]]] = {}
    for entry in monitor.entries(""):
        if entry["what"] == "open":
            by_task.setdefault(entry["who"], []).extend(entry["partitions"])
        elif entry["what"] == "close":
            for partition in entry["partitions"]:
                by_task[entry["who"]].remove(partition)
    return sorted((partition for each in by_task.values() for partition in each), key=str)


def come_and_go(cluster: Cluster, rest: Rest, monitor: Monitor, tasks: int, strategy: str) -> None:
    """Create a second topic under a sink, then delete the first, and count opens and records."""
    prefix = unique("sunk")
    first, second = f"{prefix}-1", f"{prefix}-2"
    config = monitor.sink("", tasks_max=str(tasks), topics_regex=f"{prefix}-.*")
    del config["topics"]
    strategy_key = "consumer.override.partition.assignment.strategy"
    create_topic(cluster.bootstrap, first, partitions=2)
    rest.create(prefix, {**config, strategy_key: f"{STRATEGIES}.{strategy}"})
    rest.runs(prefix, tasks)
    expected: list[str] = []

    def delivered(topic: str, *names: str) -> None:
        expected.extend(names)
        produce(cluster.bootstrap, topic, [name.encode() for name in names])
        wait_until(lambda: sorted(monitor.values()) == sorted(expected), PATIENCE, f"{len(expected)} records")

    def opened(*partitions: tuple[str, int]) -> None:
        wanted = [list(partition) for partition in partitions]
        wait_until(lambda: open_now(monitor) == wanted, PATIENCE, f"{wanted} are open")

    opened((first, 0), (first, 1))
    delivered(first, *"abcdefgh")
    create_topic(cluster.bootstrap, second, partitions=2)
    opened((first, 0), (first, 1), (second, 0), (second, 1))
    delivered(first, *"ijkl")
    delivered(second, *"mnop")
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap})
    delete_topic(admin, first)
    opened((second, 0), (second, 1))
    delivered(second, *"qrst")
    rest.delete(prefix)
    opened()


@pytest.mark.long
def test_eager_consumer_partition_assignment(cluster: Cluster, rest: Rest, monitor: Monitor) -> None:
    """testEagerConsumerPartitionAssignment: one task."""
    come_and_go(cluster, rest, monitor, 1, "RangeAssignor")


@pytest.mark.long
def test_cooperative_consumer_partition_assignment(cluster: Cluster, rest: Rest, monitor: Monitor) -> None:
    """testCooperativeConsumerPartitionAssignment: two tasks, and no record is put by both."""
    come_and_go(cluster, rest, monitor, 2, "CooperativeStickyAssignor")


@pytest.mark.long
def test_a_sink_goes_on_when_its_topic_is_deleted_and_reads_the_next_of_that_name(
    cluster: Cluster, rest: Rest, monitor: Monitor
) -> None:
    """Not in Kafka's suite: its consumer warns and waits; nothing of the former topic marks the new one."""
    topic, other = create_topic(cluster.bootstrap), create_topic(cluster.bootstrap)
    name = unique("sink")
    rest.create(name, monitor.sink(f"{topic},{other}"))
    rest.runs(name)

    def delivered(*names: str) -> None:
        wait_until(lambda: sorted(monitor.values()) == sorted(names), PATIENCE, f"{names} were put")

    produce(cluster.bootstrap, topic, [b"a", b"b", b"c"])
    delivered("a", "b", "c")
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap})
    delete_topic(admin, topic)
    wait_until(
        lambda: any(
            "topic of sinks is missing" in line and topic in line
            for line in cluster.log("scheduler").splitlines()
        ),
        PATIENCE,
        "a warning",
    )
    wait_until(lambda: open_now(monitor) == [[other, 0]], PATIENCE, "the other topic only")
    produce(cluster.bootstrap, other, [b"d"])
    delivered("a", "b", "c", "d")

    create_topic(cluster.bootstrap, topic)
    produce(cluster.bootstrap, topic, [b"e", b"f", b"g", b"h", b"i"])
    delivered(*"abcdefghi")
    rest.runs(name)
    assert not [status for status in rest.get(f"/connectors/{name}/status")["tasks"] if "trace" in status]
