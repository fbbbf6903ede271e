"""Records get into files step by step: killed at each of them, and by a whole system that is killed."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import httpx2
import pytest
from copycat_connect.plugin import SinkTask
from copycat_objects.hdfs.connector import HdfsSinkConnector
from copycat_objects.names import FileLayout
from copycat_objects.settings import SinkSettings
from copycat_objects.stores.store import Store
from copycat_objects.task import ObjectSinkTask
from copycat_testkit.hdfs import Hdfs
from copycat_testkit.kafka import create_topic, idempotent_producer, unique, wait_until
from copycat_testkit.system import CopycatUp

from tests.integration.stores.sinks import (
    COUNTRIES,
    PARTITION,
    batch,
    content,
    end,
    place_in_hdfs,
    place_in_s3,
    row,
    rows,
    start,
    store_at,
    told_offsets,
)
from tests.watched_store import KilledError, Watch, WatchedStore

pytestmark = pytest.mark.timeout(300)

HDFS = "HdfsSink"
FLUSH = 6
FIELDS = {
    "flush.size": str(FLUSH),
    "format.class": "io.confluent.connect.hdfs.json.JsonFormat",
    "partitioner.class": "io.confluent.connect.storage.partitioner.FieldPartitioner",
    "partition.field.name": "country",
}
LOG, FINAL, TEMPORARY = "logs/orders/3/commit-", "topics/orders/", "topics/+tmp/orders/3/"
FOLDERS = len(COUNTRIES)


@pytest.fixture
def place(hdfs: Hdfs) -> Mapping[str, str]:
    return place_in_hdfs(hdfs, "hdfs.url")


def task_of(watch: Watch) -> Callable[[], SinkTask]:
    """Return what makes a task whose store is watched."""

    def make() -> SinkTask:
        def read(config: Mapping[str, str]) -> SinkSettings:
            found = HdfsSinkConnector.read(config)
            return replace(found, open_store=lambda: WatchedStore(found.open_store(), watch))

        return ObjectSinkTask(read)

    return make


def check_whole(store: Store) -> None:
    """Check that each file a reader sees has all the records that its name says."""
    for path, data in content(store, "topics/orders").items():
        first, last = told_offsets(path)
        assert rows(path, data) == [row(number) for number in range(first, last + 1, FOLDERS)], path


def listed_position(store: Store) -> int | None:
    """Return where to go on, by nothing but the names of the files there."""
    paths = [file.path for file in store.list("topics/orders")]
    return FileLayout("topics", "logs").next_offset(PARTITION, paths)


STEPS = {
    "while its files are written": ("close", TEMPORARY, 2, True),
    "before the entry": ("rename", LOG, 1, False),
    "after the entry": ("rename", LOG, 1, True),
    "after one file": ("rename", FINAL, 1, True),
    "before the last file": ("rename", FINAL, FOLDERS, False),
    "after the last file": ("rename", FINAL, FOLDERS, True),
}


@pytest.mark.long
@pytest.mark.row("K26-55", "K26-66", "K26-67", "K26-68")
@pytest.mark.parametrize("step", STEPS)
def test_killed_at_a_step_files_hold_each_record_once_wherever_the_group_is(
    place: Mapping[str, str], step: str
) -> None:
    wanted, folder, count, done = STEPS[step]
    armed, seen = False, 0

    def watch(doing: str, path: str, is_done: bool) -> None:
        nonlocal seen
        if armed and doing == wanted and path.startswith(folder) and is_done is done:
            seen += 1
            if seen == count:
                raise KilledError

    store = store_at(place)
    task, _ = start({**place, **FIELDS}, HDFS, task_of(watch))
    task.put(batch(range(FLUSH)))
    assert task.pre_commit({PARTITION: FLUSH}) == {PARTITION: FLUSH}
    armed = True
    with pytest.raises(KilledError):
        commit(task, range(FLUSH, 2 * FLUSH))
    check_whole(store)

    task, context = start({**place, **FIELDS}, HDFS)
    is_committed = step not in ("while its files are written", "before the entry")
    reached = 2 * FLUSH if is_committed else FLUSH
    assert context.seeks == {PARTITION: reached} == {PARTITION: listed_position(store)}
    altered = 3  # where somebody moved the consumer group to
    task.put(batch(range(altered, 3 * FLUSH)))
    assert task.pre_commit({PARTITION: 3 * FLUSH}) == {PARTITION: 3 * FLUSH}
    end(task)
    check_whole(store)
    assert listed_position(store) == 3 * FLUSH
    found = [told_offsets(file.path) for file in store.list("topics/orders")]
    numbers = [number for first, last in found for number in range(first, last + 1, FOLDERS)]
    assert sorted(numbers) == [*range(3 * FLUSH)]
    assert not content(store, "topics/+tmp"), "nothing is left behind"


def commit(task: SinkTask, numbers: range) -> None:
    """Have records written and committed."""
    task.put(batch(numbers))
    task.pre_commit({PARTITION: numbers.stop})


@pytest.mark.row("K26-66")
def test_a_reader_sees_no_part_of_a_file(place: Mapping[str, str]) -> None:
    store = store_at(place)
    task, _ = start({**place, **FIELDS}, HDFS, task_of(lambda *_: check_whole(store)))
    commit(task, range(FLUSH))
    end(task)
    assert len(content(store, "topics/orders")) == FOLDERS


STRIKES = 2
PARTITIONS = 2
RECORDS = 3_000
"""Records added to each partition before each strike, and after the last."""
PIPELINE_FLUSH = 300


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
        last = f"+{first + PIPELINE_FLUSH - 1:010d}" if self.names_last else ""
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


@pytest.mark.long
@pytest.mark.row("K26-55", "K26-66", "K26-68")
def test_files_hold_each_record_once_though_hosts_and_stores_are_killed(
    system: CopycatUp, kafka: str, sink: Sink
) -> None:
    name = unique("rows")
    create_topic(kafka, name, partitions=PARTITIONS)
    config = {
        "topics": name,
        "tasks.max": str(PARTITIONS),
        "flush.size": str(PIPELINE_FLUSH),
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
            assert store.read(path, 0, 1 << 20).count(b"\n") == PIPELINE_FLUSH, path
            checked.add(path)
        return found

    httpx2.put(f"{system.url}/connectors/{name}/config", json=config, timeout=90).raise_for_status()
    struck = 0
    for strike in range(STRIKES + 1):
        before = strike * RECORDS * PARTITIONS // PIPELINE_FLUSH
        produce_rows(kafka, name, range(strike * RECORDS, (strike + 1) * RECORDS))
        wait_until(lambda: len(files()) > before, 90, "the first of the new files")  # noqa: B023
        if strike < STRIKES:
            struck += len(files()) < before + RECORDS * PARTITIONS // PIPELINE_FLUSH
            if strike and sink.end_store is not None:
                sink.end_store()
            else:
                system.kill("host")
            wait_until(running, 90, "the tasks run again")
    total = (STRIKES + 1) * RECORDS
    wait_until(lambda: len(files()) >= total * PARTITIONS // PIPELINE_FLUSH, 90, "all files")
    httpx2.delete(f"{system.url}/connectors/{name}", timeout=90).raise_for_status()

    assert files() == [
        sink.path(name, part, first)
        for part in range(PARTITIONS)
        for first in range(0, total, PIPELINE_FLUSH)
    ]
    for path in files():
        part, first = map(int, re.findall(r"\+(\d+)\+(\d+)[+.]", path)[0])
        rows = [json.loads(line) for line in store.read(path, 0, 1 << 20).splitlines()]
        assert rows == [file_row(number, part) for number in range(first, first + PIPELINE_FLUSH)]
    assert struck, "no strike came while files were written"


def file_row(number: int, part: int) -> dict[str, object]:
    return {"id": number, "part": part, "word": f"word\t{number} \\é😀" if number % 3 else None}


def produce_rows(bootstrap: str, topic: str, numbers: range) -> None:
    producer = idempotent_producer(bootstrap, {"linger.ms": 20, "log_level": 2})
    for number in numbers:
        for part in range(PARTITIONS):
            producer.produce(topic, json.dumps(file_row(number, part)), partition=part)
        producer.poll(0)
    producer.flush(60)
