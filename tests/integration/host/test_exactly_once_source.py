"""Source tasks that deliver exactly once (KIP-618), in hosts that are killed and frozen, on a real Kafka."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from copycat.host.v1 import host_service_pb2 as pb
from copycat_connect.cluster import source_offset_key
from copycat_testkit.kafka import consume_all, create_topic, unique

from tests.integration.host.conftest import Launch
from tests.integration.host.fake_executor import FakeExecutor
from tests.integration.host.test_source_task import FAILED, RUNNING, UNASSIGNED, partition_of, source, write

pytestmark = pytest.mark.long

GROUP = "a-cluster"


@pytest.fixture
def cluster(executor: FakeExecutor, kafka: str) -> FakeExecutor:
    """Make the executor one of a cluster, with a topic for the offsets of its tasks."""
    executor.worker |= {"group.id": GROUP, "offset.storage.topic": create_topic(kafka)}
    return executor


def exactly_once(path: Path, topic: str, **more: str) -> dict[str, str]:
    return source(path, topic, **{"exactly.once.support": "required", **more})


def committed(kafka: str, topic: str) -> list[str]:
    """Return the values that readers see who read what is committed."""
    return [(each.value() or b"").decode() for each in consume_all(kafka, topic)]


def stored(kafka: str, cluster: FakeExecutor, connector: str, path: Path) -> int:
    """Copy the committed offset into what the executor answers; return the position."""
    key = source_offset_key(connector, partition_of(path))
    position = 0
    for each in consume_all(kafka, cluster.worker["offset.storage.topic"]):
        if each.key() == key:
            value = each.value() or b"{}"
            cluster.offsets[partition_of(path)] = value
            position = json.loads(value)["position"]
    return position


def end(kafka: str, topic: str, isolation: str) -> int:
    """Return where a topic ends for readers of this isolation level."""
    consumer = Consumer({"bootstrap.servers": kafka, "group.id": unique(), "isolation.level": isolation})
    try:
        return int(consumer.get_watermark_offsets(TopicPartition(topic, 0), 10)[1])
    finally:
        consumer.close()


def transactional_id(config: dict[str, str]) -> str:
    return f"{GROUP}-{config['name']}-0"


@pytest.mark.parametrize("boundary", ["poll", "interval"])
def test_records_and_their_offset_become_visible_together_and_a_kill_repeats_nothing(
    kafka: str, cluster: FakeExecutor, launch: Launch, tmp_path: Path, boundary: str
) -> None:
    topic = create_topic(kafka)
    path = write(tmp_path / "in", *(f"line {number}" for number in range(60_000)))
    config = exactly_once(path, topic, **{"batch.size": "1000", "transaction.boundary": boundary})
    first = launch("first")
    ref = cluster.start("first", config)
    cluster.wait_for_state(ref, RUNNING)
    cluster.wait(lambda: stored(kafka, cluster, config["name"], path), "a first transaction")
    first.kill()
    first.wait()

    between = stored(kafka, cluster, config["name"], path)
    launch("second")
    ref = cluster.start("second", config)
    size = path.stat().st_size
    cluster.wait(lambda: stored(kafka, cluster, config["name"], path) == size, "the last offset", timeout=60)
    cluster.stop("second", ref)
    cluster.wait_for_state(ref, UNASSIGNED)

    assert 0 < between <= size
    assert committed(kafka, topic) == [f"line {number}" for number in range(60_000)]
    assert [each.task.start for each in cluster.fences] == [
        1,
        1,
        2,
        2,
    ]  # before and after its producer begins


def test_a_frozen_task_that_wakes_up_writes_nothing_and_ends_without_a_word_of_failure(
    kafka: str, cluster: FakeExecutor, launch: Launch, tmp_path: Path
) -> None:
    topic = create_topic(kafka)
    path = write(tmp_path / "in", "one")
    config = exactly_once(path, topic)
    frozen = launch("frozen")
    zombie = cluster.start("frozen", config)
    cluster.wait(lambda: stored(kafka, cluster, config["name"], path) == 4, "the first line")
    os.kill(frozen.pid, signal.SIGSTOP)

    write(path, "two")
    launch("next")
    ref = cluster.start("next", config)
    cluster.wait(lambda: stored(kafka, cluster, config["name"], path) == 8, "the second line")
    os.kill(frozen.pid, signal.SIGCONT)
    cluster.wait_for_state(zombie, UNASSIGNED)

    write(path, "three")
    cluster.wait(lambda: stored(kafka, cluster, config["name"], path) == 14, "the third line")
    assert committed(kafka, topic) == ["one", "two", "three"]
    assert FAILED not in {each.state for each in cluster.states}
    cluster.stop("next", ref)
    cluster.wait_for_state(ref, UNASSIGNED)


def test_a_task_fenced_by_a_stranger_fails_and_says_so(
    kafka: str, cluster: FakeExecutor, launch: Launch, tmp_path: Path
) -> None:
    topic = create_topic(kafka)
    path = write(tmp_path / "in", "one")
    config = exactly_once(path, topic)
    launch("h")
    ref = cluster.start("h", config)
    cluster.wait(lambda: stored(kafka, cluster, config["name"], path) == 4, "the first line")

    Producer({"bootstrap.servers": kafka, "transactional.id": transactional_id(config)}).init_transactions(30)
    write(path, "two")
    failed = cluster.wait_for_state(ref, FAILED)

    assert "Another producer with the transactional id of this task took over" in failed.trace
    assert committed(kafka, topic) == ["one"]


def test_a_start_that_is_not_the_newest_ends_before_it_fences_anybody(
    kafka: str, cluster: FakeExecutor, launch: Launch, tmp_path: Path
) -> None:
    path = write(tmp_path / "in", "one")
    config = exactly_once(path, create_topic(kafka))
    cluster.fence_answers = [pb.FenceDone(stale=True)]
    launch("h")

    ref = cluster.start("h", config)
    cluster.wait_for_state(ref, UNASSIGNED)

    assert FAILED not in {each.state for each in cluster.states}


def test_a_task_whose_predecessors_cannot_be_fenced_fails_with_the_reason_and_one_that_waits_goes_on(
    kafka: str, cluster: FakeExecutor, launch: Launch, tmp_path: Path
) -> None:
    path = write(tmp_path / "in", "one")
    config = exactly_once(path, create_topic(kafka))
    cluster.fence_answers = [pb.FenceDone(error="away for now", passes=True), pb.FenceDone(error="no right")]
    launch("h")

    failed = cluster.wait_for_state(cluster.start("h", config), FAILED)
    cluster.wait_for_state(cluster.start("h", config), RUNNING)

    assert "no right" in failed.trace
    assert failed.stage == "START"


SETTINGS = pytest.mark.parametrize(
    ("more", "text"),
    [
        (
            {
                "transaction.boundary": "interval",
                "transaction.boundary.interval.ms": "60000",
            },
            "Shorten the interval (by default it is offset.flush.interval.ms), or raise "
            "producer.override.transaction.timeout.ms",
        ),
        (
            {"producer.override.transaction.timeout.ms": "3000000"},
            "Lower producer.override.transaction.timeout.ms, or raise transaction.max.timeout.ms",
        ),
        ({"producer.override.acks": "1"}, "Invalid value 1 for configuration producer.override.acks"),
    ],
    ids=["interval beyond the time-out", "time-out beyond the brokers'", "acks that lose records"],
)


@SETTINGS
def test_settings_that_do_not_go_with_transactions_fail_the_start_with_key_and_remedy(
    cluster: FakeExecutor, launch: Launch, tmp_path: Path, more: dict[str, str], text: str
) -> None:
    path = write(tmp_path / "in", "one")
    launch("h")

    ref = cluster.start("h", exactly_once(path, "t", **more))

    assert text in cluster.wait_for_state(ref, FAILED).trace


def test_a_task_may_not_write_to_its_own_offsets_topic(
    kafka: str, cluster: FakeExecutor, launch: Launch, tmp_path: Path
) -> None:
    path = write(tmp_path / "in", "one")
    launch("h")

    ref = cluster.start("h", exactly_once(path, cluster.worker["offset.storage.topic"]))

    failed = cluster.wait_for_state(ref, FAILED)
    assert "Source tasks may not produce to their own offsets topics" in failed.trace


def test_offsets_in_a_topic_of_the_connectors_own_are_copied_to_the_workers(
    kafka: str, cluster: FakeExecutor, launch: Launch, tmp_path: Path
) -> None:
    path = write(tmp_path / "in", "one")
    own = create_topic(kafka, unique("own-offsets"))
    config = exactly_once(path, create_topic(kafka), **{"offsets.storage.topic": own})
    launch("h")

    ref = cluster.start("h", config)
    cluster.wait(lambda: cluster.offsets.get(partition_of(path)) == b'{"position":4}', "the copy")
    cluster.stop("h", ref)
    cluster.wait_for_state(ref, UNASSIGNED)

    key = source_offset_key(config["name"], partition_of(path))
    assert [(each.key(), each.value()) for each in consume_all(kafka, own)] == [(key, b'{"position":4}')]


def test_a_transaction_open_for_longer_than_brokers_allow_fails_the_task_with_key_and_remedy(
    kafka: str, cluster: FakeExecutor, launch: Launch, tmp_path: Path
) -> None:
    topic = create_topic(kafka)
    path = write(tmp_path / "in", "one")
    times = {
        "transaction.boundary": "interval",
        "transaction.boundary.interval.ms": "8000",
        "producer.override.transaction.timeout.ms": "9000",
    }
    host = launch("h")
    ref = cluster.start("h", exactly_once(path, topic, **times))
    cluster.wait(lambda: end(kafka, topic, "read_uncommitted") > 0, "a record in an open transaction")
    os.kill(host.pid, signal.SIGSTOP)
    # The brokers look every ten seconds for transactions that are open for too long.
    cluster.wait(lambda: end(kafka, topic, "read_committed") > 0, "the end of the transaction", timeout=60)
    os.kill(host.pid, signal.SIGCONT)

    failed = cluster.wait_for_state(ref, FAILED)

    assert "longer than transaction.timeout.ms=9000 allows" in failed.trace
    assert "raise producer.override.transaction.timeout.ms" in failed.trace
    assert committed(kafka, topic) == []
