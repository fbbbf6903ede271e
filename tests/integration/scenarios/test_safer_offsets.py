"""Offsets changed with care: shown first, moved by time, done, and taken back, on a running system."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from copycat_testkit.kafka import create_topic, idempotent_producer, unique, wait_until

from tests.integration.scenarios.cluster import Cluster
from tests.integration.scenarios.files import LineFile
from tests.integration.scenarios.rest import PATIENCE, Rest

pytestmark = [pytest.mark.timeout(300), pytest.mark.long]

HOUR = 3_600_000
DRY = "?dry_run=true"
SKIPS_ALL = "skips at most 3 lines; this partition had no offset"


@pytest.fixture
def file(tmp_path: Path) -> LineFile:
    """A file that is not there yet."""
    return LineFile(tmp_path / "lines.txt")


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
