"""A source that delivers exactly once changes hands between the systems, also when one of them is killed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import httpx2
import psutil
import pytest
from copycat_embedded.broker import EmbeddedKafka
from copycat_testkit.commands import wait_gone
from copycat_testkit.connect_peer import ConnectPeer
from copycat_testkit.kafka import consume_all, create_topic, wait_until
from copycat_testkit.system import CopycatUp

from tests.chaos.lines import Writer
from tests.plain_hosts import on_plain_hosts

pytestmark = [pytest.mark.timeout(600), pytest.mark.long]

NAME, TOPIC = "lines", "exact-lines"
STRING = "org.apache.kafka.connect.storage.StringConverter"
EXACTLY_ONCE = {"exactly.once.source.support": "enabled"}
#: What `copycat up` names its group and topics, as properties of Apache Kafka Connect.
SAME = {
    "config.storage.topic": "connect-configs",
    "offset.storage.topic": "connect-offsets",
    "status.storage.topic": "connect-status",
    "offset.flush.interval.ms": "1000",
}
MORE = 300


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[str]:
    with EmbeddedKafka(tmp_path / "kafka") as kafka:
        create_topic(kafka.bootstrap, TOPIC)
        yield kafka.bootstrap


def committed(broker: str) -> list[str]:
    """Return the lines that a read_committed consumer is given."""
    return [(message.value() or b"").decode() for message in consume_all(broker, TOPIC)]


def flows(broker: str) -> None:
    """Wait until that many lines more are committed."""
    goal = len(committed(broker)) + MORE
    wait_until(lambda: len(committed(broker)) >= goal, 120, f"{goal} lines")


def kill(pid: int) -> None:
    """SIGKILL a process and all below it, and wait until they are gone."""
    root = psutil.Process(pid)
    processes = [root, *root.children(recursive=True)]
    for process in processes:
        with suppress(psutil.NoSuchProcess):  # what belongs to one that is gone ends by itself
            process.kill()
    wait_gone(processes)


def records(broker: str, topic: str, key: bytes) -> list[dict[str, int]]:
    """Return the values of a key in a topic, oldest first."""
    return [json.loads(each.value() or b"") for each in consume_all(broker, topic) if each.key() == key]


def test_a_source_changes_hands_four_times_and_no_line_is_lost_or_repeated(
    broker: str, tmp_path: Path
) -> None:
    file = tmp_path / "lines.txt"
    file.touch()
    config = {
        "connector.class": "org.apache.kafka.connect.file.FileStreamSourceConnector",
        "tasks.max": "1",
        "file": str(file),
        "topic": TOPIC,
        "batch.size": "50",
        "exactly.once.support": "required",
        "key.converter": STRING,
        "value.converter": STRING,
    }

    def ours() -> CopycatUp:
        return CopycatUp(tmp_path / "data", broker, settings=EXACTLY_ONCE, environment=on_plain_hosts())

    def theirs() -> ConnectPeer:
        return ConnectPeer(broker, tmp_path / "connect", group="copycat", properties={**SAME, **EXACTLY_ONCE})

    with Writer(file, pause=0.02, at_once=5) as writer:
        with ours() as copycat:
            body = {"name": NAME, "config": config}
            httpx2.post(f"{copycat.url}/connectors", json=body, timeout=90).raise_for_status()
            flows(broker)
        with theirs() as peer:
            flows(broker)
            kill(peer.process_id)
        with ours() as copycat:
            flows(broker)
            kill(copycat.pid)
        with theirs():
            flows(broker)
    with ours():
        wait_until(lambda: len(committed(broker)) >= writer.lines, 120, "every line")

    assert committed(broker) == writer.expected()
    key = json.dumps([NAME, {"filename": str(file)}], separators=(",", ":")).encode()
    positions = records(broker, SAME["offset.storage.topic"], key)
    keys = {each.key() for each in consume_all(broker, SAME["offset.storage.topic"])}
    assert keys == {key}, "both systems write the same keys"
    assert positions[-1] == {"position": file.stat().st_size}
    assert positions == sorted(positions, key=lambda each: each["position"]), "no position goes back"
    counts = records(broker, SAME["config.storage.topic"], f"tasks-fencing-{NAME}".encode())
    assert counts
    assert all(each == {"task-count": 1} for each in counts)
