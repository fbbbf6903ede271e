"""Iceberg tables that pyiceberg has written, as a source follows them: snapshots, and what is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from copycat_connect.errors import ConnectError
from copycat_objects.lakehouse.catalog import CatalogTable
from copycat_objects.lakehouse.store_files import path_in
from copycat_objects.spark.connector import SparkSourceConnector
from copycat_objects.spark.followed_tables import TableFile, TableTrouble, TableVersion
from copycat_objects.spark.iceberg import IcebergTable
from copycat_objects.stores.opening import open_store
from pyiceberg.io.pyarrow import parquet_file_to_data_file, schema_to_pyarrow
from pyiceberg.manifest import (
    DataFile,
    DataFileContent,
    FileFormat,
    ManifestContent,
    ManifestEntry,
    ManifestEntryStatus,
    ManifestFile,
    ManifestWriterV2,
)
from pyiceberg.table import Table
from pyiceberg.table.snapshots import Operation, Summary
from pyiceberg.table.update.snapshot import _FastAppendFiles, _OverwriteFiles
from pyiceberg.typedef import Record
from pyiceberg.types import DateType

from tests.unit.plugins.objects.followed_source import marks
from tests.unit.plugins.objects.iceberg_lake import BY_KIND, COLUMNS, NAME, Lake, rows


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    lake = Lake(tmp_path)
    table = lake.make(COLUMNS, BY_KIND)
    table.append(rows(0, 6))
    table.append(rows(6, 6))
    return lake


class Rewriting(_OverwriteFiles):
    """Puts rows into other files, as maintenance does, which pyiceberg has not."""

    def _summary(self, snapshot_properties: Any = None) -> Summary:
        return Summary(operation=Operation.REPLACE)


def rewrite(table: Table) -> None:
    """Put all rows of a table that is not divided into one file."""
    whole = table.scan().to_arrow().cast(schema_to_pyarrow(table.schema()))
    old = [task.file for task in table.scan().plan_files()]
    aside = f"{table.location()}/data/whole.parquet"
    pq.write_table(whole, aside.removeprefix("file://"))
    new = parquet_file_to_data_file(table.io, table.metadata, aside)
    with (
        table.transaction() as transaction,
        Rewriting(Operation.OVERWRITE, transaction, table.io) as snapshot,
    ):
        for each in old:
            snapshot.delete_data_file(each)
        snapshot.append_data_file(new)


class DeleteManifest(ManifestWriterV2):
    """Writes a manifest of delete files, which pyiceberg has not."""

    def content(self) -> ManifestContent:
        return ManifestContent.DELETES

    @property
    def _meta(self) -> dict[str, str]:
        return {**super()._meta, "content": "deletes"}


class Deleting(_FastAppendFiles):
    """Adds a file that says of one row of another that it is deleted."""

    def _manifests(self) -> list[ManifestFile]:
        metadata = self._transaction.table_metadata
        location = f"{metadata.location}/data/deletes"
        first = next(iter(self._transaction._table.scan().plan_files())).file.file_path
        pq.write_table(
            pa.table({"file_path": [first], "pos": pa.array([0], pa.int64())}),
            f"{location}.parquet".removeprefix("file://"),
        )
        size = Path(f"{location}.parquet".removeprefix("file://")).stat().st_size
        file = DataFile.from_args(
            content=DataFileContent.POSITION_DELETES,
            file_path=f"{location}.parquet",
            file_format=FileFormat.PARQUET,
            partition=Record(),
            record_count=1,
            file_size_in_bytes=size,
        )
        entry = ManifestEntry.from_args(
            status=ManifestEntryStatus.ADDED, snapshot_id=self._snapshot_id, data_file=file
        )
        output = self._io.new_output(f"{location}.avro")
        schema, spec = metadata.schema(), metadata.spec()
        with DeleteManifest(spec, schema, output, self._snapshot_id, "deflate") as writer:
            writer.add(entry)
        return [*super()._manifests(), writer.to_manifest_file()]


def add_delete_file(table: Table) -> None:
    with table.transaction() as transaction, Deleting(Operation.OVERWRITE, transaction, table.io):
        pass


def test_the_files_of_a_snapshot_come_between_its_marks_then_those_of_each_later_one(lake: Lake) -> None:
    source, first = lake.source(), lake.newest()
    units = source.plan()
    assert (units[0].is_mark, units[-1].is_mark) == (True, True)
    assert marks(units) == [TableVersion(first, done=False), TableVersion(first, done=True)]
    assert lake.ids(units) == lake.scanned() == [*range(12)]
    assert {unit.content.values for unit in units[1:-1]} == {("a b",), ("ü/=%",), (None,)}
    assert units[0].partition == {"store": f"file://{lake.root}", "table": NAME}
    assert source.task.end_of(units[0], None) == {"snapshot": first, "done": False}

    lake.table().append(rows(12, 2))
    lake.table().append(rows(14, 2))
    later = source.plan()
    assert (lake.ids(later), marks(later)) == ([12, 13, 14, 15], [TableVersion(lake.newest(), done=True)])
    assert later[-1].is_mark
    assert lake.source(**{"iceberg.follow": "false"}).plan()[-1].content.done


def test_a_snapshot_that_was_begun_is_read_again_and_then_only_what_came_behind_it(lake: Lake) -> None:
    before = lake.source(**{"iceberg.follow": "false"}).plan()
    (mark,) = marks(before[:1])
    lake.table().append(rows(12, 1))
    again = lake.source()
    again.context.store(before[0].partition, {"snapshot": mark.version, "done": False})
    units = again.plan()
    assert [unit.partition for unit in units] == [unit.partition for unit in before[1:]]
    assert lake.ids(again.plan()) == [12]

    behind = lake.source()
    behind.context.store(before[0].partition, {"snapshot": mark.version, "done": True})
    units = behind.plan()
    assert (lake.ids(units), marks(units)) == ([12], [TableVersion(lake.newest(), done=True)])


def test_rewritten_files_give_no_record(tmp_path: Path) -> None:
    lake = Lake(tmp_path)
    table = lake.make(COLUMNS)
    table.append(rows(0, 3))
    table.append(rows(3, 3))
    source = lake.source()
    assert lake.ids(source.plan()) == [*range(6)]
    rewrite(lake.table())
    lake.table().append(rows(6, 1))
    assert lake.scanned() == [*range(7)]
    units = source.plan()
    assert (lake.ids(units), marks(units)) == ([6], [TableVersion(lake.newest(), done=True)])


@pytest.mark.parametrize(
    ("change", "operation"),
    [
        (lambda table: table.delete("id = 3"), "overwrite"),
        (lambda table: table.delete("kind = 'a b'"), "delete"),
        (lambda table: table.overwrite(rows(20, 1)), "delete"),
    ],
)
def test_rows_that_are_deleted_fail_the_task_behind_what_was_added_before_or_are_left_out(
    lake: Lake, change: Callable[[Table], None], operation: str
) -> None:
    failing, skipping = lake.source(), lake.source(**{"iceberg.changes": "skip"})
    failing.plan()
    skipping.plan()
    lake.table().append(rows(12, 1))
    read = lake.newest()
    change(lake.table())
    more = [20] if 20 in lake.scanned() else []
    lake.table().append(rows(13, 1))

    units = failing.plan()
    assert lake.ids(units) == [12]
    mark, trouble = marks(units)
    assert mark == TableVersion(read, done=True)
    assert isinstance(trouble, TableTrouble)
    assert f"of {NAME} changes or deletes rows ({operation})" in trouble.text
    assert "iceberg.changes=skip" in trouble.text
    assert not failing.task.is_done(units[-1], {"snapshot": lake.newest(), "done": True})

    units = skipping.plan()
    assert (lake.ids(units), marks(units)) == (
        sorted([12, 13, *more]),
        [TableVersion(lake.newest(), done=True)],
    )


def test_delete_files_are_a_change_and_refused_where_reading_begins(tmp_path: Path) -> None:
    lake = Lake(tmp_path)
    lake.make(COLUMNS, **{"format-version": "2"}).append(rows(0, 3))
    source = lake.source()
    source.plan()
    add_delete_file(lake.table())
    assert lake.scanned() == [1, 2]
    (trouble,) = marks(source.plan())
    assert "changes or deletes rows (overwrite)" in trouble.text
    with pytest.raises(ConnectError, match=rf"{NAME} has delete files, .* rewrite its data files"):
        lake.source(**{"iceberg.changes": "skip"}).plan()


def expire(table: Table, *snapshots: str) -> None:
    """Forget snapshots as other engines do, which leave the others as they are; pyiceberg unties them."""
    place = Path(table.metadata_location.removeprefix("file://"))
    metadata = json.loads(place.read_bytes())
    for name in ("snapshots", "snapshot-log"):
        metadata[name] = [each for each in metadata[name] if str(each["snapshot-id"]) not in snapshots]
    place.write_text(json.dumps(metadata))


def test_snapshots_that_are_gone_are_named_with_the_way_on(lake: Lake) -> None:
    lost, kept, begun = lake.source(), lake.source(), lake.newest()
    mark = lost.plan()[0]
    kept.plan()
    lake.table().append(rows(12, 1))
    second = lake.newest()
    assert lake.ids(kept.plan()) == [12]
    lake.table().append(rows(13, 1))
    expire(lake.table(), begun, second)
    assert lake.ids(kept.plan()) == [13]
    (trouble,) = marks(lost.plan())
    assert f"does not say any more which snapshots follow {begun}: they were expired" in trouble.text
    assert "delete the offsets to read the table anew" in trouble.text

    again = lake.source()
    again.context.store(mark.partition, {"snapshot": begun, "done": False})
    with pytest.raises(ConnectError, match=f"not have the snapshot {begun} any more: delete the offsets"):
        again.plan()

    lake.catalog().drop_table(NAME)
    with pytest.raises(ConnectError, match=f"{NAME} does not exist any more"):
        again.plan()
    lake.make(COLUMNS).append(rows(0, 1))
    (trouble,) = marks(kept.plan())
    assert "rolled back or made anew" in trouble.text


def test_a_table_that_is_not_there_yet_is_waited_for(tmp_path: Path) -> None:
    lake = Lake(tmp_path)
    source = lake.source()
    assert source.plan() == []
    assert source.context.waits_for == f"table {NAME}, which does not exist"
    table = lake.make(COLUMNS)
    assert source.plan() == []
    assert source.context.waits_for == f"table {NAME}, which has no snapshot yet"
    table.append(rows(0, 1))
    assert marks(source.plan())[-1] == TableVersion(lake.newest(), done=True)


def test_the_whole_of_a_table_has_its_newest_columns_and_files_are_looked_at_once(tmp_path: Path) -> None:
    lake = Lake(tmp_path)
    place = CatalogTable(NAME, {"type": "sql", "uri": lake.uri})
    with closing(open_store({}, tmp_path.as_uri())) as store, closing(place):
        table = IcebergTable(place, store, "", "", skip_changes=True)

        def columns() -> list[str]:
            return [each["name"] for each in json.loads(whole(table)[0])["fields"]]

        assert table.whole() is None
        made = lake.make(COLUMNS)
        assert columns() == ["id", "kind"]
        assert whole(table)[1] == []
        made.append(rows(0, 3))
        with made.update_schema() as change:
            change.rename_column("kind", "sort").add_column("at", DateType())
        assert columns() == ["id", "sort", "at"]
        (file,) = whole(table)[1]
        seen = table.columns_of(file)
        assert seen[1] == ("`id`", "CAST(`kind` AS string) AS `sort`", "CAST(NULL AS date) AS `at`")
        (tmp_path / file.file.path).unlink()
        assert table.columns_of(file) == seen


def whole(table: IcebergTable) -> tuple[str, list[TableFile]]:
    found = table.whole()
    assert found is not None
    return found


def test_files_in_hdfs_are_known_by_their_paths() -> None:
    with closing(open_store({}, "hdfs://h:1/lake")) as store:
        for address in ("hdfs://h:1/lake/t/a b", "hdfs://service/lake/t/a b", "webhdfs://h:2/lake/t/a b"):
            assert path_in(store, "t", address) == "t/a b"
        for address in ("hdfs://h:1/lake/other/a", "/lake/t/a", "s3://h/lake/t/a"):
            with pytest.raises(
                ConnectError, match=r"outside of /lake/t, such as .*: set store.url, and prefix"
            ):
                path_in(store, "t", address)


def test_files_outside_of_the_folder_are_refused(lake: Lake) -> None:
    with pytest.raises(ConnectError, match=r"has files outside of .*/lake/other, such as .*: set store.url"):
        lake.source(prefix="lake/other").plan()
    assert lake.ids(lake.source(prefix="lake/orders/").plan()) == [*range(12)]


@pytest.mark.parametrize(
    ("offset", "says"),
    [
        ({"version": 1, "done": True}, "keys 'snapshot', its id as a String"),
        ({"snapshot": 1, "done": True}, "keys 'snapshot', its id as a String"),
        ({"snapshot": "one", "done": True}, "'snapshot' key in the offset should be its id as a String"),
    ],
)
def test_the_offset_of_a_table_is_checked(offset: dict[str, Any], says: str) -> None:
    partition = {"store": "s", "table": "t"}
    check = SparkSourceConnector().alter_offsets
    with pytest.raises(ConnectError, match=says):
        check({"format": "iceberg"}, [(partition, offset)])
    assert check({"format": "iceberg"}, [(partition, {"snapshot": "7", "done": False})])


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"iceberg.table": ""}, "format=iceberg needs iceberg.table"),
        ({"iceberg.catalog.uri": ""}, "format=iceberg needs iceberg.catalog.uri"),
        ({"pattern": "a"}, "the catalog of an Iceberg table says which files it has"),
        ({"store.url": "s3://lake"}, "configuration store.url: expected file:///folder, hdfs://host:port/"),
    ],
)
def test_settings_that_do_not_work_together_are_refused_by_name(change: dict[str, str], text: str) -> None:
    given = {**Lake(Path("/lake")).config, **change}
    errors = [error for each in SparkSourceConnector().validate(given) for error in each.errors]
    assert len(errors) == 1
    assert text in errors[0]
