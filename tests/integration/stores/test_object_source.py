"""Files of HDFS, S3 and a folder in topics, through a whole system whose task hosts are killed meanwhile."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx2
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from copycat_objects.stores.opening import open_store
from copycat_objects.stores.store import Store
from copycat_testkit.hdfs import USER, Hdfs
from copycat_testkit.kafka import consume_all, unique, wait_until
from copycat_testkit.s3 import S3Server
from copycat_testkit.system import CopycatUp

from tests.integration.stores import test_s3
from tests.integration.stores.store_suite import put

pytestmark = [pytest.mark.timeout(300), pytest.mark.long]

ROWS = 21_000
"""Rows added before each kill, and after the last."""
KILLS = 2
Make = Callable[..., str]


@pytest.fixture
def make(system: CopycatUp) -> Iterator[Make]:
    """Start a connector and return its name, which is that of its topic too."""
    names: list[str] = []

    def start(**config: str) -> str:
        name = unique("objects")
        names.append(name)
        whole = {
            "connector.class": "ObjectSource",
            "topic": name,
            "object.poll.interval.ms": "100",
            "delivery.guarantee": "exactly_once",
            "value.converter": "org.apache.kafka.connect.json.JsonConverter",
            "value.converter.schemas.enable": "false",
            **{key.replace("_", "."): value for key, value in config.items()},
        }
        answer = httpx2.put(f"{system.url}/connectors/{name}/config", json=whole, timeout=90)
        assert answer.status_code == 201, answer.text
        return name

    yield start
    for name in names:
        httpx2.delete(f"{system.url}/connectors/{name}", timeout=90).raise_for_status()


def tasks_of(system: CopycatUp, name: str) -> list[dict[str, Any]]:
    reply = httpx2.get(f"{system.url}/connectors/{name}/status", timeout=60)
    found: list[dict[str, Any]] = reply.json()["tasks"] if reply.status_code == 200 else []
    return found


def ids_in(kafka: str, topic: str) -> list[int]:
    return [json.loads(message.value() or b"null")["id"] for message in consume_all(kafka, topic)]


def parquet(ids: range) -> bytes:
    out = io.BytesIO()
    table = pa.table({"id": pa.array(ids, pa.int64()), "word": [f"word {each}" for each in ids]})
    pq.write_table(table, out, row_group_size=7000)
    return out.getvalue()


def add(store: Store, ids: range, topic: str = "orders") -> None:
    """Add a file as the object sinks do: written aside, then renamed."""
    name = f"{topic}/partition=0/{topic}+0+{ids[0]:010d}+{ids[-1]:010d}.parquet"
    put(store, f"+tmp/{name}", parquet(ids))
    store.rename(f"+tmp/{name}", name)


def test_each_row_of_hdfs_arrives_exactly_once_though_hosts_are_killed(
    system: CopycatUp, kafka: str, hdfs: Hdfs, make: Make
) -> None:
    url = f"{hdfs.url}/{unique('root')}"
    store = open_store({"webhdfs.url": hdfs.web_url, "hdfs.user": USER}, url)
    add(store, range(10))
    name = make(
        store_url=url, webhdfs_url=hdfs.web_url, hdfs_user=USER, batch_size="100", cleanup_policy="delete"
    )
    wait_until(lambda: ids_in(kafka, name), 90, "the first rows")
    struck, end = 0, 10
    for kill in range(KILLS + 1):
        start, end = end, end + ROWS
        for part in range(start, end, ROWS // 3):
            add(store, range(part, part + ROWS // 3))
        wait_until(lambda: len(ids_in(kafka, name)) > start, 90, "the first of the new rows")  # noqa: B023
        if kill < KILLS:
            system.kill("host")
            struck += len(ids_in(kafka, name)) < end
            wait_until(
                lambda: [task["state"] for task in tasks_of(system, name)] == ["RUNNING"], 90, "it runs again"
            )
    wait_until(lambda: len(ids_in(kafka, name)) >= end, 90, "all rows")
    assert ids_in(kafka, name) == list(range(end))
    assert struck, "no kill came while rows flowed"
    wait_until(lambda: not list(store.list()), 60, "what was read is deleted")


def test_objects_of_s3_are_divided_among_tasks_and_go_to_the_topics_of_their_names(
    system: CopycatUp, kafka: str, s3: S3Server, make: Make
) -> None:
    place = test_s3.place_in(s3)
    store = open_store(place, place["store.url"])
    topics = [unique("from-s3") for _ in range(4)]
    for number, topic in enumerate(topics):
        for part in range(3):
            start = number * 100 + part * 10
            put(store, f"topics/{topic}/partition=0/{topic}+0+{part * 10:010d}.snappy.parquet",
                parquet(range(start, start + 10)))  # fmt: skip
    put(store, "topics/notes.md", b"not a file of records")
    make(
        topic="${topic}", tasks_max="3", store_url=s3.url, prefix="topics",
        **{key.replace(".", "_"): str(value) for key, value in place.items() if key != "store.url"},
    )  # fmt: skip
    for number, topic in enumerate(topics):
        wait_until(lambda: len(ids_in(kafka, topic)) >= 30, 90, "all rows")  # noqa: B023
        assert ids_in(kafka, topic) == list(range(number * 100, number * 100 + 30))
    assert place["aws.secret.access.key"] not in "".join(system.said)


def test_a_file_that_is_broken_fails_the_task_with_its_name_and_the_remedy(
    system: CopycatUp, kafka: str, tmp_path: Path, make: Make
) -> None:
    store = open_store({}, str(tmp_path))
    put(store, "a.jsonl", b'{"id":1}\n{"id":2}\n')
    put(store, "b.jsonl", b'{"id":3}\n{"id":\n')
    name = make(store_url=f"file://{tmp_path}", batch_size="1")
    trace = wait_until(
        lambda: next((task["trace"] for task in tasks_of(system, name) if task["state"] == "FAILED"), None),
        90,
        "the task has failed",
    )
    assert "Cannot read b.jsonl in file://" in trace
    assert "Line 2 is no JSON" in trace
    assert "Set errors.tolerance=all" in trace
    assert ids_in(kafka, name) == [1, 2, 3]
    put(store, "b.jsonl", b'{"id":3}\n{"id":4}\n', replace=True)
    httpx2.post(f"{system.url}/connectors/{name}/restart?includeTasks=true", timeout=90).raise_for_status()
    wait_until(lambda: len(ids_in(kafka, name)) >= 5, 90, "the file is read anew")
    assert ids_in(kafka, name) == [1, 2, 3, 3, 4]
