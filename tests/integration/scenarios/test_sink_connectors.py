"""SinkConnectorsIntegrationTest: partitions come and go under a sink.

Kafka's consumers divide partitions among themselves, all anew or cooperatively. Here the scheduler divides
them, whatever `partition.assignment.strategy` says, and a task whose share changes starts again with the new
one. What a user sees is the same: every partition is open in one task, every record is put once.
"""

from __future__ import annotations

import pytest
from confluent_kafka.admin import AdminClient
from copycat_testkit.kafka import create_topic, delete_topic, produce, unique, wait_until

from tests.integration.scenarios.cluster import Cluster
from tests.integration.scenarios.monitors import Monitor
from tests.integration.scenarios.rest import PATIENCE, Rest

pytestmark = [pytest.mark.timeout(300), pytest.mark.long]

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


def test_eager_consumer_partition_assignment(cluster: Cluster, rest: Rest, monitor: Monitor) -> None:
    """testEagerConsumerPartitionAssignment: one task."""
    come_and_go(cluster, rest, monitor, 1, "RangeAssignor")


def test_cooperative_consumer_partition_assignment(cluster: Cluster, rest: Rest, monitor: Monitor) -> None:
    """testCooperativeConsumerPartitionAssignment: two tasks, and no record is put by both."""
    come_and_go(cluster, rest, monitor, 2, "CooperativeStickyAssignor")


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
