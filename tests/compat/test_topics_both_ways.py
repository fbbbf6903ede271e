"""One system stopped, the other started on its topics: connectors, states, offsets and topics are there.

The topics are compressed, as in many clusters of Kafka Connect: by the broker, which writes with the codec of
each topic, or by the producers of Kafka Connect's worker. `make test` compares our records with some that
Kafka Connect wrote: `tests/unit/config/test_topic.py`, `tests/unit/status/test_topic.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import httpx2
import pytest
from copycat_embedded.broker import EmbeddedKafka
from copycat_testkit.connect_peer import ConnectPeer
from copycat_testkit.kafka import create_topic, wait_until
from copycat_testkit.system import CopycatUp

from tests.plain_hosts import on_plain_hosts

pytestmark = [pytest.mark.timeout(600), pytest.mark.long]

STRING = "org.apache.kafka.connect.storage.StringConverter"
LINES = 100
#: What `copycat up` names its group and topics, as properties of Apache Kafka Connect.
SAME = {
    "config.storage.topic": "connect-configs",
    "offset.storage.topic": "connect-offsets",
    "status.storage.topic": "connect-status",
    "offset.flush.interval.ms": "1000",
    "compression.type": "gzip",
}
#: The codec of each topic; `producer` keeps what the writer used, which is gzip in Kafka Connect's worker.
WRITTEN_BY_COPYCAT = {"connect-configs": "zstd", "connect-offsets": "lz4", "connect-status": "snappy"}
WRITTEN_BY_CONNECT = {"connect-configs": "lz4", "connect-offsets": "producer", "connect-status": "zstd"}


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[str]:
    with EmbeddedKafka(tmp_path / "kafka") as kafka:
        yield kafka.bootstrap


def compress(broker: str, codecs: Mapping[str, str]) -> None:
    """Create the internal topics with these codecs."""
    for topic, codec in codecs.items():
        create_topic(broker, topic, config={"cleanup.policy": "compact", "compression.type": codec})


def connect(broker: str, folder: Path) -> ConnectPeer:
    return ConnectPeer(broker, folder, group="copycat", properties=SAME)


def configs(folder: Path) -> dict[str, dict[str, str]]:
    """One connector of each target state, and one sink."""
    lines = folder / "lines.txt"
    lines.write_text("".join(f"line {number}\n" for number in range(LINES)))
    source = {
        "connector.class": "org.apache.kafka.connect.file.FileStreamSourceConnector",
        "tasks.max": "1",
        "file": str(lines),
        "topic": "lines",
        "key.converter": STRING,
        "value.converter": STRING,
    }
    sink = {
        "connector.class": "org.apache.kafka.connect.file.FileStreamSinkConnector",
        "tasks.max": "1",
        "file": str(folder / "copy.txt"),
        "topics": "lines",
        "key.converter": STRING,
        "value.converter": STRING,
    }
    return {
        "running": source,
        "sink-é": sink,
        "paused": {**source, "topic": "paused-lines"},
        "stopped": {**source, "topic": "stopped-lines"},
    }


def populate(url: str, folder: Path) -> None:
    """Create the connectors, wait until every line is committed on both sides, then pause and stop two."""
    with httpx2.Client(base_url=url, timeout=90) as rest:
        for name, config in configs(folder).items():
            wait_until(partial(create, rest, name, config), 120, f"{name} created")
        read_to = [position(folder, (folder / "lines.txt").stat().st_size)]
        sources = ("running", "paused", "stopped")
        wait_until(lambda: [offsets(rest, name) for name in sources] == [read_to] * 3, 120, "their offsets")
        rest.put("/connectors/paused/pause").raise_for_status()
        rest.put("/connectors/stopped/stop").raise_for_status()
        wait_until(lambda: offsets(rest, "sink-é") == [read(LINES)], 120, "the sink's offset")
        wait_until(lambda: {name: topics(rest, name) for name in TOPICS} == TOPICS, 120, f"topics {TOPICS}")
        wait_until(lambda: states(rest) == STATES, 120, f"states {STATES}")


def create(rest: httpx2.Client, name: str, config: dict[str, str]) -> bool:
    reply = rest.post("/connectors", json={"name": name, "config": config})
    assert reply.status_code in (201, 409), reply.text
    return reply.status_code == 201 or "already exists" in reply.text


TOPICS = {
    "running": {"lines"},
    "sink-é": {"lines"},
    "paused": {"paused-lines"},
    "stopped": {"stopped-lines"},
}
STATES = {"running": "RUNNING", "sink-é": "RUNNING", "paused": "PAUSED", "stopped": "STOPPED"}


def states(rest: httpx2.Client) -> dict[str, str]:
    found = rest.get("/connectors", params={"expand": "status"}).json()
    return {name: parts["status"]["connector"]["state"] for name, parts in found.items()}


def position(folder: Path, at: int) -> dict[str, Any]:
    return {"partition": {"filename": str(folder / "lines.txt")}, "offset": {"position": at}}


def read(records: int) -> dict[str, Any]:
    return {"partition": {"kafka_topic": "lines", "kafka_partition": 0}, "offset": {"kafka_offset": records}}


def offsets(rest: httpx2.Client, name: str) -> list[dict[str, Any]]:
    reply = rest.get(f"/connectors/{name}/offsets")
    found: list[dict[str, Any]] = reply.json().get("offsets", []) if reply.status_code == 200 else []
    return found


def topics(rest: httpx2.Client, name: str) -> set[str]:
    return set(rest.get(f"/connectors/{name}/topics").json()[name]["topics"])


def described(url: str, folder: Path) -> dict[str, Any]:
    """Return what a system knows of every connector, once its states have settled."""
    with httpx2.Client(base_url=url, timeout=90) as rest:
        wait_until(lambda: states(rest) == STATES, 120, f"states {STATES}")
        found = rest.get("/connectors", params={"expand": "info"}).json()
        return {
            name: {
                "config": parts["info"]["config"],
                "type": parts["info"]["type"],
                "offsets": offsets(rest, name),
                "topics": topics(rest, name),
            }
            for name, parts in found.items()
        }


def leave_a_change(url: str, folder: Path) -> None:
    """Move the offset of the stopped connector and undo that: the offsets topic remembers the change."""
    with httpx2.Client(base_url=url, timeout=90) as rest:
        path = "/connectors/stopped/offsets"
        rest.patch(path, json={"offsets": [position(folder, 7)]}).raise_for_status()
        rest.post(f"{path}/undo").raise_for_status()
        assert rest.get(f"{path}/undo").json()["change"]["undone_at"]


@pytest.mark.row("K875-42")
def test_k558_32_apache_kafka_connect_goes_on_where_copycat_stopped(broker: str, tmp_path: Path) -> None:
    compress(broker, WRITTEN_BY_COPYCAT)
    with CopycatUp(tmp_path / "data", broker, environment=on_plain_hosts()) as ours:
        populate(ours.url, tmp_path)
        leave_a_change(ours.url, tmp_path)
        before = described(ours.url, tmp_path)

    with connect(broker, tmp_path / "connect") as peer:
        after = described(peer.url, tmp_path)
        said = peer.log.read_text()

    assert after == before
    assert "Ignoring offset partition key" not in said, "a remembered change is passed over without a word"


@pytest.mark.row("K875-43")
def test_k558_32_copycat_goes_on_where_apache_kafka_connect_stopped(broker: str, tmp_path: Path) -> None:
    compress(broker, WRITTEN_BY_CONNECT)
    with connect(broker, tmp_path / "connect") as peer:
        populate(peer.url, tmp_path)
        before = described(peer.url, tmp_path)

    with CopycatUp(tmp_path / "data", broker, environment=on_plain_hosts()) as ours:
        after = described(ours.url, tmp_path)
        with (tmp_path / "lines.txt").open("a") as more:
            more.write("one more\n")
        size = (tmp_path / "lines.txt").stat().st_size
        with httpx2.Client(base_url=ours.url, timeout=90) as rest:
            wait_until(
                lambda: offsets(rest, "running") == [position(tmp_path, size)], 120, "the new line's offset"
            )
            wait_until(
                lambda: offsets(rest, "sink-é") == [read(LINES + 1)], 120, "only the new line was read"
            )

    assert after == before
