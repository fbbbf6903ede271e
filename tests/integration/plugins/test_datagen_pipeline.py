"""Made-up records in a topic, each of them once, though the task hosts of a whole system are killed."""

from __future__ import annotations

import json

import httpx2
import pytest
from copycat_testkit.kafka import consume_all, unique, wait_until
from copycat_testkit.system import CopycatUp

pytestmark = [pytest.mark.timeout(300), pytest.mark.long]

#: A quarter of a minute of flow: a slow machine needs some of it to count what has arrived.
RECORDS = 45_000
KILLS = 2


def test_made_up_records_arrive_exactly_once_though_hosts_are_killed(system: CopycatUp, kafka: str) -> None:
    name = unique("made-up")
    config = {
        "connector.class": "DatagenSource",
        "topic": name,
        "fields": json.dumps(
            [{"name": "id", "type": "sequence"}, {"name": "word", "type": "text", "pattern": "????"}]
        ),
        "throughput": "3000",
        "max.records": str(RECORDS),
        "batch.size": "100",
        "delivery.guarantee": "exactly_once",
        "value.converter": "org.apache.kafka.connect.json.JsonConverter",
        "value.converter.schemas.enable": "false",
    }

    def arrived() -> list[int]:
        return [json.loads(message.value() or b"{}")["id"] for message in consume_all(kafka, name)]

    httpx2.put(f"{system.url}/connectors/{name}/config", json=config, timeout=90).raise_for_status()
    for kill in range(KILLS):
        goal = (kill + 1) * RECORDS // 15
        wait_until(lambda: len(arrived()) >= goal, 90, f"{goal} records")  # noqa: B023
        system.kill("host")
        assert len(arrived()) < RECORDS, "the kill came while records flowed"
    wait_until(lambda: len(arrived()) >= RECORDS, 90, "all records")
    httpx2.delete(f"{system.url}/connectors/{name}", timeout=90).raise_for_status()

    assert arrived() == list(range(RECORDS))
