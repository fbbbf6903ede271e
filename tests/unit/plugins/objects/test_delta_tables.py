"""Delta tables that delta-rs has written, as a source follows them: files, versions, and what is refused."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from copycat_connect.errors import ConnectError
from copycat_objects.spark.connector import SparkSourceConnector
from copycat_objects.spark.delta import DeltaTable as TableLog
from copycat_objects.spark.delta import table_columns
from copycat_objects.spark.followed_tables import TableTrouble, TableUnits, TableVersion
from copycat_objects.stores.errors import StoreAwayError
from copycat_objects.stores.opening import open_store
from deltalake import DeltaTable, write_deltalake

from tests.unit.plugins.objects.followed_source import FollowedSource, ids_in, marks

FOLDER = "lake/orders"


class Source(FollowedSource):
    """A task that reads the table in `FOLDER`."""

    def __init__(self, root: Path, **config: str) -> None:
        super().__init__(root, {"format": "delta", "prefix": FOLDER, **config})


def rows(first: int, count: int, **more: Sequence[Any]) -> pa.Table:
    ids = list(range(first, first + count))
    return pa.table({"id": ids, "kind": [("a b", "ü/=%", None)[each % 3] for each in ids], **more})


@pytest.fixture
def table(tmp_path: Path) -> Path:
    folder = tmp_path / FOLDER
    write_deltalake(folder, rows(0, 6), partition_by=["kind"])
    write_deltalake(folder, rows(6, 6), mode="append")
    return folder


def test_the_files_of_a_version_come_between_its_marks_then_those_of_each_later_one(
    table: Path, tmp_path: Path
) -> None:
    source = Source(tmp_path)
    first = source.plan()
    assert (first[0].is_mark, first[-1].is_mark) == (True, True)
    assert marks(first) == [TableVersion(1, done=False), TableVersion(1, done=True)]
    assert ids_in(tmp_path, first) == [*range(12)]
    assert {unit.content.values for unit in first[1:-1]} == {("a b",), ("ü/=%",), (None,)}

    write_deltalake(table, rows(12, 2), mode="append")
    write_deltalake(table, rows(14, 2), mode="append")
    later = source.plan()
    assert (ids_in(tmp_path, later), marks(later)) == ([12, 13, 14, 15], [TableVersion(3, done=True)])
    assert later[-1].is_mark


def test_maintenance_gives_no_record_and_a_restart_knows_what_was_read(table: Path, tmp_path: Path) -> None:
    source = Source(tmp_path)
    source.plan()
    DeltaTable(table).optimize.compact()
    DeltaTable(table).create_checkpoint()
    assert [*map(marks, [source.plan()])] == [[TableVersion(2, done=True)]]
    write_deltalake(table, rows(12, 1), mode="append")

    (mark,) = [unit for unit in Source(tmp_path).plan()[-1:] if unit.is_mark]
    again = Source(tmp_path)
    again.context.store(mark.partition, {"version": 1, "done": True})
    units = again.plan()
    assert (ids_in(tmp_path, units), marks(units)) == ([12], [TableVersion(3, done=True)])


def test_a_version_that_was_begun_is_read_again_as_it_was_not_as_the_table_is_now(
    table: Path, tmp_path: Path
) -> None:
    before = Source(tmp_path).plan()
    DeltaTable(table).optimize.compact()
    again = Source(tmp_path)
    again.context.store(before[0].partition, {"version": 1, "done": False})
    units = again.plan()
    assert [unit.partition for unit in units] == [unit.partition for unit in before[1:]]
    assert marks(units) == [TableVersion(1, done=True)]


@pytest.mark.parametrize("parts", [1, 3])
def test_a_checkpoint_stands_for_the_commits_before_it(table: Path, tmp_path: Path, parts: int) -> None:
    DeltaTable(table).create_checkpoint()
    log = table / "_delta_log"
    for commit in log.glob("*.json"):
        commit.unlink()
    if parts > 1:
        (whole,) = log.glob("*.checkpoint.parquet")
        content = pq.read_table(whole)
        for part in range(parts):
            some = content.slice(part * content.num_rows // parts, content.num_rows // parts + 1)
            name = f"{1:020}.checkpoint.{part + 1:010}.{parts:010}.parquet"
            pq.write_table(some, log / name)
        whole.unlink()
    assert ids_in(tmp_path, Source(tmp_path).plan()) == [*range(12)]


def test_rows_that_are_deleted_fail_the_task_behind_what_was_added_before_or_are_left_out(
    table: Path, tmp_path: Path
) -> None:
    failing, skipping = Source(tmp_path), Source(tmp_path, **{"delta.changes": "skip"})
    failing.plan()
    skipping.plan()
    write_deltalake(table, rows(12, 1), mode="append")
    DeltaTable(table).delete("id = 3")
    write_deltalake(table, rows(13, 1), mode="append")

    units = failing.plan()
    assert ids_in(tmp_path, units) == [12]
    mark, trouble = marks(units)
    assert mark == TableVersion(2, done=True)
    assert isinstance(trouble, TableTrouble)
    assert "Version 3" in trouble.text
    assert "(DELETE)" in trouble.text
    assert "delta.changes=skip" in trouble.text
    assert not failing.task.is_done(units[-1], {"version": 9, "done": True})
    with pytest.raises(ConnectError, match="Version 3"):
        list(failing.task.batches(units[-1:], [None], iter(())))

    units = skipping.plan()
    assert (ids_in(tmp_path, units), marks(units)) == ([12, 13], [TableVersion(4, done=True)])


def test_a_version_that_the_log_has_lost_is_named_with_the_way_on(table: Path, tmp_path: Path) -> None:
    source = Source(tmp_path)
    source.plan()
    for first in (12, 13):
        write_deltalake(table, rows(first, 1), mode="append")
    (table / "_delta_log" / f"{2:020}.json").unlink()
    (trouble,) = marks(source.plan())
    assert "does not have version 2 any more" in trouble.text
    assert "delete the offsets" in trouble.text


@pytest.mark.parametrize(
    ("action", "says"),
    [
        ({"protocol": {"minReaderVersion": 3, "readerFeatures": ["typeWidening"]}}, "typeWidening"),
        (
            {
                "metaData": {
                    "schemaString": "{}",
                    "partitionColumns": [],
                    "configuration": {"delta.columnMapping.mode": "name"},
                }
            },
            "maps its columns",
        ),
        (
            {"add": {"path": "a", "size": 1, "modificationTime": 1, "deletionVector": {"storageType": "u"}}},
            "deletion vectors",
        ),
        ({"add": {"path": "s3://b/a", "size": 1, "modificationTime": 1}}, "outside of its folder"),
        ({"add": {"path": "../a", "size": 1, "modificationTime": 1}}, "Not a path"),
    ],
)
def test_what_cannot_be_read_as_plain_parquet_is_refused_by_name(
    table: Path, tmp_path: Path, action: Mapping[str, Any], says: str
) -> None:
    if "add" in action:
        action = {"add": {**action["add"], "dataChange": True}}
    commit = table / "_delta_log" / f"{2:020}.json"
    commit.write_text(json.dumps(action))
    with pytest.raises(ConnectError, match=says):
        Source(tmp_path).plan()


def test_a_table_that_is_not_there_yet_is_waited_for(tmp_path: Path) -> None:
    source = Source(tmp_path)
    assert source.plan() == []
    assert source.context.waits_for == f"table file://{tmp_path}/{FOLDER}, which does not exist"
    write_deltalake(tmp_path / FOLDER, rows(0, 1))
    assert marks(source.plan())[-1] == TableVersion(0, done=True)


@pytest.mark.parametrize("offset", [None, {"version": 1, "done": False}, {"version": 1, "done": True}])
def test_a_start_that_found_the_store_away_begins_again(
    table: Path, tmp_path: Path, offset: dict[str, Any] | None
) -> None:
    class Away:
        """The store, which is away at the first file that is opened."""

        def __init__(self) -> None:
            self._store, self._is_away = open_store({}, f"file://{tmp_path}"), True

        def open(self, path: str) -> BinaryIO:
            if self._is_away:
                self._is_away = False
                raise StoreAwayError("away")
            return self._store.open(path)

        def __getattr__(self, name: str) -> Any:
            return getattr(self._store, name)

    store: Any = Away()
    units = TableUnits(TableLog(store, FOLDER, "t", skip_changes=False), store.name, FOLDER)
    with pytest.raises(StoreAwayError):
        units.plan(lambda: offset)
    write_deltalake(table, rows(12, 1), mode="append")
    planned = [*units.plan(lambda: offset), *units.plan(lambda: offset)]
    assert ids_in(tmp_path, planned) == ([12] if offset and offset["done"] else [*range(13)])
    begun = TableVersion(2, done=False) if offset is None else TableVersion(1, done=True)
    first = [] if offset and offset["done"] else [begun]
    assert marks(planned) == [*first, TableVersion(2, done=True)]


def test_a_mark_is_done_by_its_version_or_a_later_one(table: Path, tmp_path: Path) -> None:
    source = Source(tmp_path)
    begun, *_, done = source.plan()
    is_done = source.task.is_done
    assert not is_done(begun, None)
    assert is_done(begun, {"version": 1, "done": False})
    assert not is_done(done, {"version": 1, "done": False})
    assert is_done(done, {"version": 1, "done": True})
    assert is_done(done, {"version": 2, "done": False})
    assert source.task.end_of(done, None) == {"version": 1, "done": True}


def test_columns_of_partitions_are_constants_of_their_type(table: Path, tmp_path: Path) -> None:
    write_deltalake(table, rows(12, 3, added=[1, 2, 3]), mode="append", schema_mode="merge")
    units = {unit.content.values: unit for unit in Source(tmp_path).plan() if not unit.is_mark}
    content = units[("ü/=%",)].content
    own, columns = table_columns(content.columns, content.values)
    assert [field["name"] for field in json.loads(own)["fields"]] == ["id", "added"]
    assert columns == ("`id`", "CAST('ü/=%' AS string) AS `kind`", "`added`")


@pytest.mark.parametrize(
    ("partition", "offset", "says"),
    [
        ({"table": "t"}, {"version": 1, "done": True}, "keys 'store' and 'table'"),
        ({"store": "s", "table": "t"}, {"version": "1", "done": True}, "'version', a number"),
        ({"store": "s", "table": "t"}, {"version": -1, "done": True}, "a number from 0 up"),
        ({"store": "s", "table": "t"}, {"version": 1}, "'done', true or false"),
    ],
)
def test_the_offset_of_a_table_is_checked(
    partition: dict[str, Any], offset: dict[str, Any], says: str
) -> None:
    with pytest.raises(ConnectError, match=says):
        SparkSourceConnector().alter_offsets({}, [(partition, offset)])


def test_a_table_takes_no_pattern() -> None:
    given = {"topic": "t", "format": "delta", "store.url": "file:///lake", "pattern": ".*a"}
    found = {value.name: value.errors for value in SparkSourceConnector().validate(given)}
    assert found["pattern"] == [
        "Invalid value for configuration pattern: the log of a Delta table says which files it has, so leave "
        "it out"
    ]
