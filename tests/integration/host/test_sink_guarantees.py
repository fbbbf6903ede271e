"""Sink tasks under each guarantee, in hosts that are killed and frozen, on a real Kafka, line by line."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path

import pytest
from confluent_kafka import Consumer, KafkaException
from confluent_kafka import TopicPartition as ClientPartition
from confluent_kafka.admin import AdminClient
from copycat_testkit.kafka import (
    consume_all,
    create_topic,
    delete_topic,
    idempotent_producer,
    produce,
    unique,
)

from tests.integration.host.conftest import HostProcess, Launch
from tests.integration.host.fake_executor import FakeExecutor
from tests.integration.host.test_sink_task import FAILED, RUNNING, UNASSIGNED, sink, text

KILLS = 3
BATCH = 100
CLUSTER = "a-cluster"


@pytest.fixture
def cluster(executor: FakeExecutor, kafka: str) -> Iterator[FakeExecutor]:
    """An executor of a cluster, which commits to consumer groups, as often as it can."""
    executor.worker |= {"group.id": CLUSTER, "offset.flush.interval.ms": "20"}
    groups: dict[str, Consumer] = {}

    def commit(connector: str, positions: Mapping[tuple[str, int], int]) -> None:
        if positions:
            group = groups.setdefault(connector, reader(kafka, connector))
            offsets = [ClientPartition(*place, offset) for place, offset in positions.items()]
            group.commit(offsets=offsets, asynchronous=False)

    executor.on_positions = commit
    yield executor
    for group in groups.values():
        group.close()


def reader(kafka: str, connector: str) -> Consumer:
    return Consumer({"bootstrap.servers": kafka, "group.id": f"connect-{connector}"})


def position(kafka: str, connector: str, topic: str) -> int:
    """Return the group's position in the first partition of a topic, or 0."""
    consumer = reader(kafka, connector)
    try:
        (found,) = consumer.committed([ClientPartition(topic, 0)], timeout=10)
    except KafkaException:
        return 0  # the coordinator is on its way
    finally:
        consumer.close()
    return max(0, found.offset)


def guaranteed(path: Path, topic: str, guarantee: str) -> dict[str, str]:
    few = {"consumer.override.max.poll.records": str(BATCH)}
    return sink(path, topic, **{"delivery.guarantee": guarantee, **few})


def numbered(count: int) -> list[str]:
    return [f"line {number}" for number in range(count)]


class Flow:
    """Writes numbered lines to a topic until it is left."""

    def __init__(self, kafka: str, topic: str) -> None:
        self._producer = idempotent_producer(kafka, {"linger.ms": 1})
        self._topic = topic
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._write)
        self.lines = 0

    def _write(self) -> None:
        while not self._done.wait(0.02):  # no faster than batches of a hundred can be committed one by one
            for _ in range(5):
                self._producer.produce(self._topic, f"line {self.lines}".encode())
                self.lines += 1
            self._producer.poll(0)

    def __enter__(self) -> Flow:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()
        assert self._producer.flush(60) == 0


def killed_while_records_flow(
    kafka: str, cluster: FakeExecutor, launch: Launch, config: Mapping[str, str], progress: Callable[[], int]
) -> int:
    """Let hosts run a task, each until it got further; the last one goes on. Returns the count of lines."""
    with Flow(kafka, config["topics"]) as flow:
        for number in range(KILLS + 1):
            name, before = f"host-{number}", progress()
            host = launch(name)
            cluster.start(name, config, {config["topics"]: 1})
            cluster.wait(partial(further, progress, before + BATCH), f"progress of {name}", timeout=60)
            if number < KILLS:
                end(host)
    return flow.lines


def further(progress: Callable[[], int], than: int) -> bool:
    return progress() > than


def end(host: HostProcess) -> None:
    host.kill()
    host.wait()


@pytest.mark.long
@pytest.mark.row("K26-55")
def test_killed_while_records_flow_a_file_has_every_line_once_under_exactly_once(
    kafka: str, cluster: FakeExecutor, launch: Launch, tmp_path: Path
) -> None:
    topic, path = create_topic(kafka), tmp_path / "out"
    config = guaranteed(path, topic, "exactly_once")

    def done() -> int:
        return cluster.positions.get((topic, 0), 0)

    count = killed_while_records_flow(kafka, cluster, launch, config, done)
    cluster.wait(lambda: done() == count, "the last position", timeout=60)

    assert text(path).splitlines() == numbered(count)


@pytest.mark.long
@pytest.mark.row("K26-52")
def test_killed_while_records_flow_a_file_has_no_line_twice_under_at_most_once(
    kafka: str, cluster: FakeExecutor, launch: Launch, tmp_path: Path
) -> None:
    cluster.worker["offset.flush.interval.ms"] = "1000"  # who commits behind the data would repeat so much
    topic, path = create_topic(kafka), tmp_path / "out"
    config = guaranteed(path, topic, "at_most_once")

    count = killed_while_records_flow(
        kafka, cluster, launch, config, lambda: cluster.positions.get((topic, 0), 0)
    )
    expected = numbered(count)
    cluster.wait(lambda: cluster.positions.get((topic, 0)) == count, "the last position", timeout=60)
    cluster.wait(lambda: expected[-1] in text(path).splitlines(), "the last line", timeout=60)

    written = [line for line in text(path).splitlines() if line]
    whole = [line for line in written if line in set(expected)]
    assert len(written) - len(whole) <= KILLS, "a kill may tear the line being written, no more"
    assert len(set(whole)) == len(whole)
    assert count - len(whole) <= KILLS * BATCH, "a kill may lose the batch on its way, no more"


@pytest.mark.long
def test_a_frozen_task_that_wakes_up_writes_nothing_and_ends_without_a_word_of_failure(
    kafka: str, cluster: FakeExecutor, launch: Launch, tmp_path: Path
) -> None:
    topic, path = create_topic(kafka), tmp_path / "out"
    produce(kafka, topic, [b"line 0", b"line 1"])
    config = guaranteed(path, topic, "exactly_once")
    frozen = launch("frozen")
    zombie = cluster.start("frozen", config, {topic: 1})
    cluster.wait(lambda: cluster.positions.get((topic, 0)) == 2, "the first position")
    os.kill(frozen.pid, signal.SIGSTOP)

    produce(kafka, topic, [b"line 2", b"line 3"])
    launch("next")
    ref = cluster.start("next", config, {topic: 1})
    cluster.wait(lambda: cluster.positions.get((topic, 0)) == 4, "the position of its successor")
    os.kill(frozen.pid, signal.SIGCONT)
    cluster.wait_for_state(zombie, UNASSIGNED)
    produce(kafka, topic, [b"line 4"])
    cluster.wait(lambda: cluster.positions.get((topic, 0)) == 5, "the last position")

    assert text(path).splitlines() == numbered(5)
    assert FAILED not in {each.state for each in cluster.states}
    cluster.stop("next", ref)
    cluster.wait_for_state(ref, UNASSIGNED)


@pytest.mark.long
def test_a_user_who_moves_the_group_alone_changes_nothing_under_exactly_once(
    kafka: str, cluster: FakeExecutor, launch: Launch, tmp_path: Path
) -> None:
    topic, path = create_topic(kafka), tmp_path / "out"
    produce(kafka, topic, [b"line 0", b"line 1"])
    config = guaranteed(path, topic, "exactly_once")
    launch("h")
    ref = cluster.start("h", config, {topic: 1})
    cluster.wait(lambda: cluster.positions.get((topic, 0)) == 2, "the first position")
    cluster.stop("h", ref)
    cluster.wait_for_state(ref, UNASSIGNED)

    cluster.on_positions(config["name"], {(topic, 0): 0})
    produce(kafka, topic, [b"line 2"])
    cluster.start("h", config, {topic: 1})
    cluster.wait(lambda: cluster.positions.get((topic, 0)) == 3, "the last position")

    assert text(path).splitlines() == numbered(3)
    assert position(kafka, config["name"], topic) == 3


@pytest.mark.row("K26-54")
def test_records_that_are_delivered_again_leave_documents_named_by_their_offsets_as_they_are(
    kafka: str, cluster: FakeExecutor, launch: Launch, tmp_path: Path
) -> None:
    topic, folder, writes = create_topic(kafka), tmp_path / "documents", tmp_path / "writes"
    produce(kafka, topic, (line.encode() for line in numbered(10)))
    paths = {"folder": str(folder), "writes": str(writes)}
    config = {"name": unique("documents"), "connector.class": "author.Documents", "topics": topic, **paths}
    launch("h")
    for times in (1, 2):
        cluster.positions.clear()
        ref = cluster.start("h", config, {topic: 1})
        cluster.wait(lambda: cluster.positions.get((topic, 0)) == 10, "the last position")
        cluster.stop("h", ref)
        cluster.wait_for_state(ref, UNASSIGNED)

        assert len(writes.read_text()) == 10 * times
        assert {each.name: each.read_text() for each in folder.iterdir()} == {
            f"{topic}-0-{number}": line for number, line in enumerate(numbered(10))
        }


def mirror(kafka: str, topic: str, target: str) -> dict[str, str]:
    return {
        "name": unique("mirror"),
        "connector.class": "author.Mirror",
        "topics": topic,
        "target": target,
        "servers": kafka,
        "delivery.guarantee": "exactly_once",
        "consumer.override.max.poll.records": str(BATCH),
    }


def uncommitted_end(kafka: str, topic: str) -> int:
    group = {"group.id": unique("reader"), "isolation.level": "read_uncommitted"}
    consumer = Consumer({"bootstrap.servers": kafka, **group})
    try:
        return int(consumer.get_watermark_offsets(ClientPartition(topic, 0), timeout=10)[1])
    finally:
        consumer.close()


def copied(kafka: str, target: str) -> list[str]:
    return [(each.value() or b"").decode() for each in consume_all(kafka, target)]


@pytest.mark.long
@pytest.mark.row("K26-55")
def test_killed_while_records_flow_a_topic_is_copied_once_with_positions_in_the_transactions(
    kafka: str, cluster: FakeExecutor, launch: Launch
) -> None:
    topic, target = create_topic(kafka), create_topic(kafka)
    config = mirror(kafka, topic, target)

    def done() -> int:
        return position(kafka, config["name"], topic)

    count = killed_while_records_flow(kafka, cluster, launch, config, done)
    cluster.wait(lambda: done() == count, "the last position", timeout=60)

    assert copied(kafka, target) == numbered(count)
    assert cluster.positions == {(topic, 0): 0}, "the engine commits where the first one begins, no more"


@pytest.mark.long
def test_a_frozen_task_whose_transaction_is_open_adds_nothing_to_a_topic(
    kafka: str, cluster: FakeExecutor, launch: Launch
) -> None:
    topic, target = create_topic(kafka), create_topic(kafka)
    produce(kafka, topic, (line.encode() for line in numbered(5)))
    config = mirror(kafka, topic, target)
    cluster.worker["offset.flush.interval.ms"] = "600000"
    frozen = launch("frozen")
    zombie = cluster.start("frozen", config, {topic: 1})
    cluster.wait(lambda: copied(kafka, target) == numbered(5), "the eager commit")
    produce(kafka, topic, (line.encode() for line in numbered(8)[5:]))
    # Five records and the end of their transaction, then three that nobody may see.
    cluster.wait(lambda: uncommitted_end(kafka, target) == 9, "an open transaction")
    os.kill(frozen.pid, signal.SIGSTOP)

    cluster.worker["offset.flush.interval.ms"] = "20"
    launch("next")
    cluster.wait_for_state(cluster.start("next", config, {topic: 1}), RUNNING)
    cluster.wait(lambda: copied(kafka, target) == numbered(8), "what its successor copied")
    os.kill(frozen.pid, signal.SIGCONT)
    cluster.stop("frozen", zombie)
    cluster.wait_for_state(zombie, UNASSIGNED)

    assert copied(kafka, target) == numbered(8)


@pytest.mark.long
@pytest.mark.parametrize("guarantee", ["at_least_once", "at_most_once", "exactly_once"])
def test_a_topic_that_is_deleted_and_made_anew_is_read_from_its_beginning(
    kafka: str, cluster: FakeExecutor, launch: Launch, tmp_path: Path, guarantee: str
) -> None:
    topic, other = create_topic(kafka), create_topic(kafka)
    old, new = [f"old {number}" for number in range(20)], [f"new {number}" for number in range(40)]
    produce(kafka, topic, [each.encode() for each in old])
    path = tmp_path / "out"
    config = sink(path, topic, other, **{"delivery.guarantee": guarantee})
    launch("h")
    cluster.start("h", config, {topic: 1, other: 1})
    cluster.wait(lambda: position(kafka, config["name"], topic) == len(old), "the former topic's end")

    delete_topic(AdminClient({"bootstrap.servers": kafka}), topic)
    create_topic(kafka, topic)
    produce(kafka, topic, [each.encode() for each in new])
    produce(kafka, other, [b"other"])

    wanted = {*old, *new, "other"}
    cluster.wait(lambda: set(text(path).splitlines()) == wanted, "all that there was", timeout=60)
    cluster.wait(lambda: position(kafka, config["name"], topic) == len(new), "the new topic's end")
    if guarantee != "at_least_once":
        assert len(text(path).splitlines()) == len(wanted)
