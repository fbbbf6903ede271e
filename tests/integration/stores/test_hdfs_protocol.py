"""The steps in which records get into files of HDFS: killed at each of them, and watched by a reader."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import pytest
from copycat_connect.plugin import SinkTask
from copycat_objects.hdfs.connector import HdfsSinkConnector
from copycat_objects.names import Layout
from copycat_objects.settings import SinkSettings
from copycat_objects.stores.store import Store
from copycat_objects.task import ObjectSinkTask
from copycat_testkit.hdfs import Hdfs

from tests.integration.stores.sinks import (
    COUNTRIES,
    PARTITION,
    batch,
    content,
    end,
    place_in_hdfs,
    row,
    rows,
    start,
    store_at,
    told_offsets,
)
from tests.integration.stores.watched_store import KilledError, Watch, WatchedStore

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
    return Layout("topics", "logs").next_offset(PARTITION, paths)


STEPS = {
    "while its files are written": ("close", TEMPORARY, 2, True),
    "before the entry": ("rename", LOG, 1, False),
    "after the entry": ("rename", LOG, 1, True),
    "after one file": ("rename", FINAL, 1, True),
    "before the last file": ("rename", FINAL, FOLDERS, False),
    "after the last file": ("rename", FINAL, FOLDERS, True),
}


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
