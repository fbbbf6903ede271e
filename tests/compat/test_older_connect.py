"""A Kafka Connect older than STOPPED (3.4, before KIP-875) takes over: what was stopped is paused there.

`make test` compares our record of it with the one that is read here (`tests/unit/config/test_topic.py`).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx2
import pytest
from copycat_testkit.connect_peer import ConnectPeer
from copycat_testkit.kafka import consume_all, create_topic, unique, wait_until
from copycat_testkit.system import CopycatUp

from tests.plain_hosts import on_plain_hosts
from tests.unit.config.test_topic import TAKEN_FOR_PAUSED

pytestmark = [pytest.mark.timeout(400), pytest.mark.long]

PATIENCE = 120.0
STRING = "org.apache.kafka.connect.storage.StringConverter"


def states(rest: httpx2.Client, name: str) -> list[str]:
    """Return the state of a connector, then those of its tasks; none while nobody can say."""
    try:
        reply = rest.get(f"/connectors/{name}/status")
    except httpx2.TransportError:
        return []
    if reply.status_code != 200:
        return []
    found: dict[str, Any] = reply.json()
    return [found["connector"]["state"], *(task["state"] for task in found["tasks"])]


@pytest.mark.row("K875-44")
def test_what_is_stopped_is_paused_for_an_older_kafka_connect(kafka: str, tmp_path: Path) -> None:
    """It reads `state` of the record, which is PAUSED, and knows no `state.v2`."""
    group, topic = unique("older"), create_topic(kafka)
    topics = {f"{what}.storage.topic": f"{group}-{what}" for what in ("config", "offset", "status")}
    lines = tmp_path / "lines.txt"
    lines.write_text("one\ntwo\n")
    config = {
        "connector.class": "org.apache.kafka.connect.file.FileStreamSourceConnector",
        "tasks.max": "1",
        "file": str(lines),
        "topic": topic,
        "key.converter": STRING,
        "value.converter": STRING,
    }
    name = unique("lines")
    settings = {"group.id": group, **topics}
    with (
        CopycatUp(tmp_path / "copycat", kafka, settings=settings, environment=on_plain_hosts()) as up,
        httpx2.Client(base_url=up.url) as rest,
    ):
        rest.post("/connectors", json={"name": name, "config": config}, timeout=90).raise_for_status()
        wait_until(lambda: states(rest, name) == ["RUNNING", "RUNNING"], PATIENCE, "it runs")
        rest.put(f"/connectors/{name}/stop", timeout=90).raise_for_status()
        wait_until(lambda: states(rest, name) == ["STOPPED"], PATIENCE, "it is stopped")
    records = {record.key(): record.value() for record in consume_all(kafka, topics["config.storage.topic"])}
    assert records[f"target-state-{name}".encode()] == TAKEN_FOR_PAUSED.encode()
    peer = ConnectPeer(kafka, tmp_path / "connect", group=group, properties=topics, jars=("connect-old",))
    with peer, httpx2.Client(base_url=peer.url, timeout=90) as rest:
        assert rest.get("/").json()["version"] == "3.4.1"
        wait_until(lambda: states(rest, name) == ["PAUSED"], PATIENCE, "it is paused, and has no tasks")
        rest.put(f"/connectors/{name}/resume").raise_for_status()
        wait_until(lambda: states(rest, name) == ["RUNNING", "RUNNING"], PATIENCE, "it runs again")
