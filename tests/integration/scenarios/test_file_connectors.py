"""Files: FileStream...ConnectorsIntegrationTest, test_transformations of kafkatest, careful offsets."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from operator import itemgetter
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import TIMESTAMP_CREATE_TIME
from copycat_testkit.kafka import consume_all, create_topic, idempotent_producer, produce, unique, wait_until

from tests.integration.scenarios.cluster import Cluster
from tests.integration.scenarios.monitors import LineFile
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


HOUR = 3_600_000
DRY = "?dry_run=true"
SKIPS_ALL = "skips at most 3 lines; this partition had no offset"


@contextmanager
def stopped(rest: Rest, name: str) -> Iterator[str]:
    """Stop a connector for a while; gives the path of its offsets."""
    rest.ok("PUT", f"/connectors/{name}/stop")
    rest.wait(name, "STOPPED")
    yield f"/connectors/{name}/offsets"
    rest.ok("PUT", f"/connectors/{name}/resume")
    rest.runs(name)


def shown(body: dict[str, Any]) -> list[tuple[Any, Any, Any]]:
    """Return before, after and text of each partition that a change moves."""
    return [(moved["before"], moved["after"], moved["effect"]["text"]) for moved in body["offsets"]]


def positions(rest: Rest, name: str) -> list[int]:
    """Return the positions of a sink, by partition."""
    found = rest.get(f"/connectors/{name}/offsets")["offsets"]
    return [entry["offset"]["kafka_offset"] for entry in found]


def at(offset: int) -> dict[str, int]:
    """Return the position of a sink."""
    return {"kafka_offset": offset}


def fill(bootstrap: str, topic: str) -> int:
    """Write a record of each of the last ten hours, and five old ones elsewhere; returns the time now."""
    now = int(time.time() * 1000)
    producer = idempotent_producer(bootstrap)
    for hour in range(10, 0, -1):
        producer.produce(topic, f"{hour} h ago".encode(), partition=0, timestamp=now - hour * HOUR)
    for day in range(5, 0, -1):
        producer.produce(topic, f"{day} d ago".encode(), partition=1, timestamp=now - day * 24 * HOUR)
    assert producer.flush(60) == 0
    return now


def test_a_sink_is_rewound_looked_at_and_brought_back(cluster: Cluster, rest: Rest, file: LineFile) -> None:
    name = create_topic(cluster.bootstrap, partitions=2)
    fill(cluster.bootstrap, name)
    rest.create(name, file.sink(name))
    wait_until(lambda: len(file.lines()) == 15, PATIENCE, "15 lines")
    wait_until(lambda: positions(rest, name) == [10, 5], PATIENCE, "positions at the end")

    # While it runs it may be asked, and nothing changes.
    asked = rest.ok("PATCH", f"/connectors/{name}/offsets{DRY}&rewind=3h30m")
    assert (asked["dry_run"], "not stopped" in asked["notes"][0]) == (True, True)
    expected = [
        (at(10), at(7), "repeats at most 3 records"),
        (at(5), at(5), "stays: it is not beyond that time"),
    ]
    assert shown(asked) == expected
    assert rest.call("PATCH", f"/connectors/{name}/offsets?rewind=3h30m").status_code == 400
    assert positions(rest, name) == [10, 5]

    with stopped(rest, name) as offsets:
        done = rest.ok("PATCH", f"{offsets}?rewind=3h30m")
        assert (done["dry_run"], shown(done)) == (False, expected)
        assert positions(rest, name) == [7, 5]
        taken_back = rest.ok("POST", f"{offsets}/undo")
        assert shown(taken_back) == [(at(7), at(10), "skips at most 3 records")]
        assert positions(rest, name) == [10, 5]
        assert rest.call("POST", f"{offsets}/undo").status_code == 409
        rest.ok("PATCH", f"{offsets}?rewind=3h30m")

    # What was foretold comes true, and then there is no way back any more.
    wait_until(lambda: len(file.lines()) == 18, PATIENCE, "3 lines again")
    assert file.lines()[15:] == ["3 h ago", "2 h ago", "1 h ago"]
    fill(cluster.bootstrap, name)
    wait_until(lambda: positions(rest, name) == [20, 10], PATIENCE, "positions at the new end")
    with stopped(rest, name) as offsets:
        refused = rest.call("POST", f"{offsets}/undo")
        assert (refused.status_code, "is at 20" in refused.json()["message"]) == (409, True)
        assert positions(rest, name) == [20, 10]


def test_a_sink_goes_to_a_time_that_its_topics_do_not_reach(
    cluster: Cluster, rest: Rest, file: LineFile
) -> None:
    name = create_topic(cluster.bootstrap, partitions=2)
    now = fill(cluster.bootstrap, name)
    rest.create(name, file.sink(name))
    wait_until(lambda: positions(rest, name) == [10, 5], PATIENCE, "positions at the end")

    def moved(millis: int) -> list[tuple[Any, Any, Any]]:
        there = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(millis / 1000))
        return shown(rest.ok("PATCH", f"/connectors/{name}/offsets{DRY}&to={there}"))

    assert moved(now - 12 * HOUR) == [
        (at(10), at(0), "to the beginning, since nothing older is there: repeats at most 10 records"),
        (at(5), at(5), "to the end, since nothing is as new: repeats and skips nothing"),
    ]
    gone = shown(rest.ok("DELETE", f"/connectors/{name}/offsets{DRY}"))
    assert gone == [
        (at(10), None, "repeats at most 10 records"),
        (at(5), None, "repeats at most 5 records"),
    ]
    assert positions(rest, name) == [10, 5]


def test_a_file_source_is_altered_after_a_look_and_undone_at_another_gateway_after_a_restart(
    cluster: Cluster, rest: Rest, file: LineFile
) -> None:
    name = unique("lines")
    file.append(["one", "two", "three"])
    rest.create(name, file.source(name))
    end = {"position": file.path.stat().st_size}
    path = f"/connectors/{name}/offsets"
    partition = {"filename": str(file.path)}
    whole = {"offsets": [{"partition": partition, "offset": end}]}
    wait_until(lambda: rest.get(path) == whole, PATIENCE, "the end of the file")
    body = {"offsets": [{"partition": partition, "offset": {"position": 4}}]}

    with stopped(rest, name):
        assert shown(rest.ok("PATCH", f"{path}{DRY}", body)) == [
            (end, {"position": 4}, "repeats at most 2 lines")
        ]
        assert rest.get(path) == whole
        by_time = rest.call("PATCH", f"{path}?rewind=2h")
        assert by_time.status_code == 400
        assert "cannot find its offsets by time" in by_time.json()["message"]
        rest.ok("PATCH", path, body)
        assert rest.get(path) == body

        cluster.restart("offset")
        with cluster.gateway({}) as other:
            [change] = other.get(f"{path}/undo")["change"]["offsets"]
            assert change == {"partition": partition, "before": end, "after": {"position": 4}}
            undone = other.ok("POST", f"{path}/undo")
            assert shown(undone) == [({"position": 4}, end, "skips at most 2 lines")]
        assert rest.get(path) == whole

        rest.ok("DELETE", path)
        assert shown(rest.ok("POST", f"{path}/undo")) == [(None, end, SKIPS_ALL)]
        assert rest.get(path) == whole
    assert cluster.values(name) == ["one", "two", "three"]
