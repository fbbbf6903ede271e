"""Records of a topic in files of a folder, HDFS and S3, through a whole system whose hosts and stores end."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import httpx2
import pytest
from copycat_testkit.hdfs import Hdfs
from copycat_testkit.kafka import create_topic, idempotent_producer, unique, wait_until
from copycat_testkit.system import CopycatUp

from tests.integration.stores.sinks import place_in_hdfs, place_in_s3, store_at

pytestmark = [pytest.mark.timeout(300), pytest.mark.long]

STRIKES = 2
PARTITIONS = 2
RECORDS = 3_000
"""Records added to each partition before each strike, and after the last."""
FLUSH = 300


@dataclass(frozen=True)
class Sink:
    """A sink under test."""

    config: Mapping[str, str]
    """Where it writes, and as which class."""
    names_last: bool
    """Whether names of files show the last offset."""
    end_store: Callable[[], None] | None = None
    """Ends the store by force, and starts it again."""

    def path(self, topic: str, part: int, first: int) -> str:
        """Return the path of the file that begins with an offset."""
        last = f"+{first + FLUSH - 1:010d}" if self.names_last else ""
        return f"topics/{topic}/partition={part}/{topic}+{part}+{first:010d}{last}.json"


@pytest.fixture(params=["folder", "hdfs", "s3"])
def sink(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Sink:
    match request.param:
        case "hdfs":
            hdfs: Hdfs = request.getfixturevalue("hdfs")
            published = {
                "connector.class": "io.confluent.connect.hdfs.HdfsSinkConnector",
                "format.class": "io.confluent.connect.hdfs.json.JsonFormat",
                "retry.backoff.ms": "500",
            }

            def end_store() -> None:
                hdfs.kill()
                hdfs.start()

            return Sink(
                {**place_in_hdfs(hdfs, "hdfs.url"), **published}, names_last=True, end_store=end_store
            )
        case "s3":
            published = {
                "connector.class": "io.confluent.connect.s3.S3SinkConnector",
                "format.class": "io.confluent.connect.s3.format.json.JsonFormat",
            }
            return Sink({**place_in_s3(request.getfixturevalue("s3")), **published}, names_last=False)
    folder = {"store.url": tmp_path_factory.mktemp("sink").as_uri()}
    ours = {"connector.class": "ObjectSink", "delivery.guarantee": "exactly_once"}
    return Sink({**folder, **ours}, names_last=True)


@pytest.mark.row("K26-55", "K26-66", "K26-68")
def test_files_hold_each_record_once_though_hosts_and_stores_are_killed(
    system: CopycatUp, kafka: str, sink: Sink
) -> None:
    name = unique("rows")
    create_topic(kafka, name, partitions=PARTITIONS)
    config = {
        "topics": name,
        "tasks.max": str(PARTITIONS),
        "flush.size": str(FLUSH),
        "key.converter": "org.apache.kafka.connect.storage.StringConverter",
        "value.converter": "org.apache.kafka.connect.json.JsonConverter",
        "value.converter.schemas.enable": "false",
        "consumer.override.max.poll.records": "100",
        **sink.config,
    }
    store = store_at(sink.config)
    checked: set[str] = set()

    def running() -> bool:
        reply = httpx2.get(f"{system.url}/connectors/{name}/status", timeout=60)
        tasks = reply.json()["tasks"] if reply.status_code == 200 else []
        assert "FAILED" not in [task["state"] for task in tasks], reply.text
        return [task["state"] for task in tasks] == ["RUNNING"] * PARTITIONS

    def files() -> list[str]:
        """Return what a reader sees, all of it whole."""
        found = sorted(file.path for file in store.list(f"topics/{name}"))
        for path in {*found} - checked:
            assert store.read(path, 0, 1 << 20).count(b"\n") == FLUSH, path
            checked.add(path)
        return found

    httpx2.put(f"{system.url}/connectors/{name}/config", json=config, timeout=90).raise_for_status()
    struck = 0
    for strike in range(STRIKES + 1):
        before = strike * RECORDS * PARTITIONS // FLUSH
        produce_rows(kafka, name, range(strike * RECORDS, (strike + 1) * RECORDS))
        wait_until(lambda: len(files()) > before, 90, "the first of the new files")  # noqa: B023
        if strike < STRIKES:
            struck += len(files()) < before + RECORDS * PARTITIONS // FLUSH
            if strike and sink.end_store is not None:
                sink.end_store()
            else:
                system.kill("host")
            wait_until(running, 90, "the tasks run again")
    total = (STRIKES + 1) * RECORDS
    wait_until(lambda: len(files()) >= total * PARTITIONS // FLUSH, 90, "all files")
    httpx2.delete(f"{system.url}/connectors/{name}", timeout=90).raise_for_status()

    assert files() == [
        sink.path(name, part, first) for part in range(PARTITIONS) for first in range(0, total, FLUSH)
    ]
    for path in files():
        part, first = map(int, re.findall(r"\+(\d+)\+(\d+)[+.]", path)[0])
        rows = [json.loads(line) for line in store.read(path, 0, 1 << 20).splitlines()]
        assert rows == [row(number, part) for number in range(first, first + FLUSH)]
    assert struck, "no strike came while files were written"


def row(number: int, part: int) -> dict[str, object]:
    return {"id": number, "part": part, "word": f"word\t{number} \\é😀" if number % 3 else None}


def produce_rows(bootstrap: str, topic: str, numbers: range) -> None:
    producer = idempotent_producer(bootstrap, {"linger.ms": 20, "log_level": 2})
    for number in numbers:
        for part in range(PARTITIONS):
            producer.produce(topic, json.dumps(row(number, part)), partition=part)
        producer.poll(0)
    producer.flush(60)
