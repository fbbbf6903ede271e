"""Apache Kafka Connect from its own jars: it starts, works and stops."""

from __future__ import annotations

from pathlib import Path

import httpx2
import psutil
import pytest
from copycat_testkit.connect_peer import ConnectPeer
from copycat_testkit.kafka import consume_all, unique, wait_until

pytestmark = pytest.mark.long

LINES = ["first", "zweite ä", "third"]


def test_the_peer_copies_a_file_into_a_topic(kafka: str, tmp_path: Path) -> None:
    source = tmp_path / "lines.txt"
    source.write_text("".join(f"{line}\n" for line in LINES), encoding="utf-8")
    topic = unique("peer")
    config = {
        "connector.class": "FileStreamSource",
        "file": str(source),
        "topic": topic,
        "value.converter": "org.apache.kafka.connect.storage.StringConverter",
    }
    with ConnectPeer(kafka, tmp_path / "peer", group=unique("group")) as peer:
        process = psutil.Process(peer.process_id)
        httpx2.post(f"{peer.url}/connectors", json={"name": "copy", "config": config}).raise_for_status()
        active = f"{peer.url}/connectors/copy/topics"
        wait_until(lambda: httpx2.get(active).json()["copy"]["topics"] == [topic], 30, "an active topic")
    assert [(message.value() or b"").decode() for message in consume_all(kafka, topic)] == LINES
    assert not process.is_running()
