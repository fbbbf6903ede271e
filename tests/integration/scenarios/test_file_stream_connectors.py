"""FileStream...ConnectorsIntegrationTest of sinks and sources, and test_transformations of kafkatest."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from operator import itemgetter
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import TIMESTAMP_CREATE_TIME
from copycat_testkit.kafka import consume_all, create_topic, produce, unique, wait_until

from tests.integration.scenarios.cluster import Cluster
from tests.integration.scenarios.files import LineFile
from tests.integration.scenarios.rest import PATIENCE, Rest

pytestmark = [pytest.mark.timeout(300), pytest.mark.long]

LINES = [f"line {number}" for number in range(5)]


@pytest.fixture
def file(tmp_path: Path) -> LineFile:
    """A file that is not there yet."""
    return LineFile(tmp_path / "lines.txt")


def written(cluster: Cluster) -> str:
    """Return a new topic with the lines in it."""
    topic = create_topic(cluster.bootstrap)
    produce(cluster.bootstrap, topic, [line.encode() for line in LINES])
    return topic


def sunk(cluster: Cluster, rest: Rest, file: LineFile) -> str:
    """Have a connector copy a topic to the file, and stop it; returns the name both have."""
    topic = written(cluster)
    rest.create(topic, file.sink(topic))
    file.holds(*LINES)
    stop(rest, topic)
    return topic


def sourced(cluster: Cluster, rest: Rest, file: LineFile) -> str:
    """Have a connector copy the file to a topic, and stop it; returns the name both have."""
    topic = unique("lines")
    file.append(LINES)
    rest.create(topic, file.source(topic))
    has(cluster, topic, LINES)
    stop(rest, topic)
    return topic


def stop(rest: Rest, name: str) -> None:
    rest.ok("PUT", f"/connectors/{name}/stop")
    rest.wait(name, "STOPPED")


def resume(rest: Rest, name: str) -> None:
    rest.ok("PUT", f"/connectors/{name}/resume")
    rest.runs(name)


def alter(rest: Rest, name: str, partition: dict[str, Any], offset: dict[str, Any]) -> None:
    rest.ok("PATCH", f"/connectors/{name}/offsets", {"offsets": [{"partition": partition, "offset": offset}]})


def has(cluster: Cluster, topic: str, lines: Sequence[str]) -> None:
    """Wait until a topic holds exactly these values."""
    wait_until(lambda: cluster.values(topic) == list(lines), PATIENCE, f"{len(lines)} records in {topic}")


def test_simple_sink(cluster: Cluster, rest: Rest, file: LineFile) -> None:
    """testSimpleSink: each record one line, in order."""
    rest.create(unique("sink"), file.sink(written(cluster)))
    file.holds(*LINES)


def test_alter_offsets_sink(cluster: Cluster, rest: Rest, file: LineFile) -> None:
    """testAlterOffsets: a sink writes the last line once more."""
    name = sunk(cluster, rest, file)
    alter(rest, name, {"kafka_topic": name, "kafka_partition": 0}, {"kafka_offset": len(LINES) - 1})
    resume(rest, name)
    file.holds(*LINES, LINES[-1])


def test_reset_offsets_sink(cluster: Cluster, rest: Rest, file: LineFile) -> None:
    """testResetOffsets: a sink writes everything once more."""
    name = sunk(cluster, rest, file)
    rest.ok("DELETE", f"/connectors/{name}/offsets")
    resume(rest, name)
    file.holds(*LINES, *LINES)


def test_sink_multiple_topics_with_multiple_tasks(cluster: Cluster, rest: Rest, file: LineFile) -> None:
    """testSinkMultipleTopicsWithMultipleTasks: two tasks write one file together."""
    name = unique("sink")
    rest.create(name, file.sink(written(cluster), written(cluster), tasks=2))
    rest.runs(name, 2)
    wait_until(lambda: sorted(file.lines()) == sorted(LINES * 2), PATIENCE, "the lines of both topics")


def test_simple_source(cluster: Cluster, rest: Rest, file: LineFile) -> None:
    """testSimpleSource: each line one record, in order."""
    topic = unique("lines")
    file.append(LINES)
    rest.create(unique("source"), file.source(topic))
    has(cluster, topic, LINES)


def test_stop_resume_saved_offset(cluster: Cluster, rest: Rest, file: LineFile) -> None:
    """testStopResumeSavedOffset: what was read is not read again."""
    name = sourced(cluster, rest, file)
    file.append(LINES)
    resume(rest, name)
    has(cluster, name, LINES * 2)


def test_alter_offsets_source(cluster: Cluster, rest: Rest, file: LineFile) -> None:
    """testAlterOffsets: a source reads the last line once more."""
    name = sourced(cluster, rest, file)
    alter(rest, name, {"filename": str(file.path)}, {"position": len("line 0\n") * (len(LINES) - 1)})
    resume(rest, name)
    has(cluster, name, [*LINES, LINES[-1]])


def test_reset_offsets_source(cluster: Cluster, rest: Rest, file: LineFile) -> None:
    """testResetOffsets: a source reads everything once more."""
    name = sourced(cluster, rest, file)
    rest.ok("DELETE", f"/connectors/{name}/offsets")
    resume(rest, name)
    has(cluster, name, LINES * 2)


def test_transformations(cluster: Cluster, rest: Rest, file: LineFile) -> None:
    """test_transformations of kafkatest: what InsertField writes is the record's own timestamp.

    TimestampRouter, which kafkatest's has not, takes the same time.
    """
    name, lines = unique("timed"), ["a", "b", "c", "d"]
    config = {
        **file.source(name),
        "transforms": "hoistToStruct,insertTimestampField,route",
        "transforms.hoistToStruct.type": "org.apache.kafka.connect.transforms.HoistField$Value",
        "transforms.hoistToStruct.field": "content",
        "transforms.insertTimestampField.type": "org.apache.kafka.connect.transforms.InsertField$Value",
        "transforms.insertTimestampField.timestamp.field": "the_timestamp",
        "transforms.route.type": "org.apache.kafka.connect.transforms.TimestampRouter",
        "transforms.route.topic.format": "${topic}-${timestamp}",
        "transforms.route.timestamp.format": "'at'",
        "value.converter": "org.apache.kafka.connect.json.JsonConverter",
        "value.converter.schemas.enable": "true",
    }
    before = int(time.time() * 1000)
    file.append(lines[:2])
    rest.create(name, config)
    wait_until(lambda: len(cluster.values(f"{name}-at")) == 2, PATIENCE, "two lines")
    file.append(lines[2:])
    wait_until(lambda: len(cluster.values(f"{name}-at")) == 4, PATIENCE, "four lines")

    messages = consume_all(cluster.bootstrap, f"{name}-at")
    records = [json.loads(message.value() or b"") for message in messages]
    times = [message.timestamp() for message in messages]
    content = {"field": "content", "type": "string", "optional": False}
    stamp = {
        "field": "the_timestamp",
        "name": "org.apache.kafka.connect.data.Timestamp",
        "type": "int64",
        "version": 1,
        "optional": True,
    }
    assert {kind for kind, _ in times} == {TIMESTAMP_CREATE_TIME}
    assert [record["payload"] for record in records] == [
        {"content": line, "the_timestamp": at} for line, (_, at) in zip(lines, times, strict=True)
    ]
    assert all(before <= at <= time.time() * 1000 for _, at in times)
    for record in records:
        assert sorted(record["schema"].pop("fields"), key=itemgetter("field")) == [content, stamp]
        assert record["schema"] == {"type": "struct", "optional": False}
