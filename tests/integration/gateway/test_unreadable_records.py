"""Records that nobody can read, in each internal topic of a running system: it goes on, and starts again."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import httpx2
import pytest
from copycat_testkit.kafka import idempotent_producer, unique, wait_until
from copycat_testkit.system import SERVICES, CopycatUp, names

from tests.plain_hosts import on_plain_hosts

pytestmark = [pytest.mark.timeout(600), pytest.mark.long]

PATIENCE: Final = 90.0
NINES: Final = "9" * 5000
DEEP: Final = "[" * 100_000
FAR: Final = 2**63 - 1
STRING: Final = "org.apache.kafka.connect.storage.StringConverter"
#: Keys and values, by the end of the topic's name.
HOSTILE: Final[Mapping[str, list[tuple[str, str | None]]]] = {
    "configs": [
        (f"task-x-{NINES}", '{"properties":{}}'),
        ("connector-deep", DEEP),
        ("connector-half", '{"properties":{"a":"\\ud800"}}'),
        ("tasks-fencing-good", f'{{"task-count":{2**31 - 1}}}'),
        ("commit-good", f'{{"tasks":{NINES}}}'),
        ("session-key", "NaN"),
        ("of-tomorrow-x", "{}"),
    ],
    "offsets": [
        ('["\\ud800",{}]', "{}"),
        ('["good",{"filename":"\\udfff"}]', "{}"),
        (f'["good",{{"at":{NINES}}}]', "{}"),
        ('["good",{"other":1}]', '{"position":1e999}'),
        ('["\\u0000undo:good",null]', f'{{"changed_at":{FAR},"group":"","source":[],"sink":[]}}'),
        (DEEP, None),
    ],
    "status": [
        (f"status-task-x-{NINES}", "{}"),
        ("status-task-x-0", f'{{"state":"RUNNING","worker_id":"w","generation":{FAR}}}'),
        ("status-connector-x", '{"state":"RUNNING","worker_id":"\\ud800","generation":1}'),
        ("status-topic-t:connector-x", DEEP),
    ],
    "assignments": [
        ('["\\ud800"]', None),
        (f'["x",{NINES}]', None),
        ('["x",0]', f'{{"worker":"w","generation":{FAR},"partitions":[]}}'),
        ('["x",1]', f'{{"worker":"w","generation":{NINES},"partitions":[]}}'),
    ],
    "changes": [
        ("good", DEEP),
        ("good", f'{{"time":{FAR},"kind":"config","what":"x"}}'),
        ("good", '{"time":1,"kind":"config","what":"x","before":"not JSON"}'),
        ("good", '{"time":1,"kind":"status","what":"x","subject":"no task"}'),
    ],
}
#: How many of them each service cannot read: all in its topic.
UNREADABLE: Final = {"config": 7, "offset": 6, "status": 4, "scheduler": 4}


def write_all(bootstrap: str, group: str) -> None:
    """Write them as another program would, compressed."""
    producer = idempotent_producer(bootstrap, {"compression.type": "zstd"})
    for topic, records in HOSTILE.items():
        for key, value in records:
            producer.produce(f"{group}-{topic}", key=key.encode(), value=value and value.encode())
    producer.produce(f"{group}-configs", key=b"connector-\xff", value=b"\xff\x00")
    assert producer.flush(PATIENCE) == 0


def told(rest: httpx2.Client) -> dict[str, Any]:
    """Return all that the system says of the connector, once each answer is one."""
    found: dict[str, Any] = {}
    for path in (
        "status",
        "offsets",
        "topics",
        "history?kind=config&kind=commit&kind=status",
        "offsets/undo",
    ):
        reply = rest.get(f"/connectors/good/{path}")
        assert reply.status_code in (200, 404), reply.text
        found[path] = reply.json()
    for expand in ("status", "info"):
        listed = rest.get("/connectors", params={"expand": expand}).json()
        assert "good" in listed
        found[expand] = sorted(listed)
    return found


def health(rest: httpx2.Client) -> str:
    reply = rest.get("/health")
    assert (reply.status_code, reply.json()["status"]) == (200, "healthy"), reply.text
    return str(reply.json()["message"])


def counted(rest: httpx2.Client) -> dict[str, int]:
    """Return how many records each service could not read."""
    lines = [line for line in rest.get("/metrics").text.splitlines() if "unreadable_records_total{" in line]
    return {
        service: int(float(line.rpartition(" ")[2]))
        for line in lines
        for service in UNREADABLE
        if f'service="{service}"' in line
    }


def copies(rest: httpx2.Client, name: str, folder: Path, topic: str) -> bool:
    """Create a connector and wait until it runs and its offset is known."""
    lines = folder / f"{name}.txt"
    lines.write_text("one\n")
    config = {
        "connector.class": "FileStreamSource",
        "file": str(lines),
        "topic": topic,
        "key.converter": STRING,
        "value.converter": STRING,
    }
    made = rest.put(f"/connectors/{name}/config", json=config)
    assert made.status_code == 201, made.text
    expected = [{"partition": {"filename": str(lines)}, "offset": {"position": 4}}]
    wait_until(
        lambda: rest.get(f"/connectors/{name}/offsets").json().get("offsets") == expected,
        PATIENCE,
        f"the offset of {name}",
    )
    return True


def test_what_nobody_can_read_ends_no_service_now_or_at_its_next_start(kafka: str, tmp_path: Path) -> None:
    group, topic = unique("unreadable"), unique("lines")
    settings = names(group) | {"changes.storage.topic": f"{group}-changes"}
    system = CopycatUp(tmp_path / "data", kafka, settings=settings, environment=on_plain_hosts())
    expected = {**UNREADABLE, "config": UNREADABLE["config"] + 1}

    with system, httpx2.Client(base_url=system.url, timeout=PATIENCE) as rest:
        assert copies(rest, "good", tmp_path, topic)
        assert "could not be read" not in health(rest)
        processes = {each.pid for each in system.processes(SERVICES)}

        write_all(kafka, group)
        wait_until(lambda: counted(rest) == expected, PATIENCE, lambda: f"{expected}, not {counted(rest)}")

        told(rest)
        assert copies(rest, "later", tmp_path, topic)
        assert f"topic {group}-configs, partition 0, offset" in health(rest)
        assert {each.pid for each in system.processes(SERVICES)} == processes, "none was started again"

    said = (tmp_path / "data" / "logs" / "services.log").read_text("utf-8")
    passed_over = [json.loads(line) for line in said.splitlines() if '"record ignored"' in line]
    assert {each["topic"] for each in passed_over} >= {f"{group}-configs", f"{group}-status"}
    assert all({"partition", "offset", "key", "why"} <= each.keys() for each in passed_over)

    with system, httpx2.Client(base_url=system.url, timeout=PATIENCE) as rest:
        assert {"good", "later"} <= set(rest.get("/connectors").json())
        assert "8 of the config service" in health(rest)
        assert copies(rest, "last", tmp_path, topic)
        told(rest)
        assert rest.delete("/connectors/good").status_code == 204
