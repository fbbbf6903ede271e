"""Tables that SparkSink changes by key: inserted, changed, deleted, and what is no key."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from copycat_connect.data import (
    INT32_SCHEMA,
    INT64_SCHEMA,
    OPTIONAL_STRING_SCHEMA,
    STRING_SCHEMA,
    ConnectValue,
    Schema,
    SchemaBuilder,
    SinkBatch,
    SinkRecord,
    Struct,
    TopicPartition,
)
from copycat_connect.errors import ConfigError
from copycat_objects.spark_sink.connector import SparkSinkConnector
from copycat_objects.spark_sink.delta_commits import TablePlace
from copycat_objects.spark_sink.settings import SparkSinkSettings
from copycat_objects.spark_sink.task import SparkTableTask
from copycat_testkit.conformance.contexts import FakeSinkContext
from deltalake import DeltaTable

A = TopicPartition("t", 0)
KEY = SchemaBuilder.struct().field("id", INT64_SCHEMA).field("more", STRING_SCHEMA).build()
VALUE = SchemaBuilder.struct().field("id", INT64_SCHEMA).field("word", OPTIONAL_STRING_SCHEMA).build()
WIDER = SchemaBuilder.struct().field("id", INT32_SCHEMA).field("added", STRING_SCHEMA).build()
BY_KEY = {"insert.mode": "upsert", "delete.enabled": "true", "pk.fields": "id"}
BY_VALUE = {"insert.mode": "upsert", "pk.mode": "record_value", "pk.fields": "id"}


class Pipeline:
    """A task, in whose partitions records are written, one batch a commit."""

    def __init__(self, folder: Path, **config: str) -> None:
        self.folder = folder
        given = {"name": "c", "topics": "t", "store.url": f"file://{folder}", "prefix": "lake", **config}
        self.task = SparkTableTask()
        self.context = FakeSinkContext(given, [A])
        self.task.initialize(self.context)
        self.task.start(given)
        self.task.open([A])
        self.offset = 0

    def commit(self, *records: tuple[ConnectValue, ConnectValue]) -> None:
        """Write keys and values, and make a version of the table."""
        batch = [
            SinkRecord("t", 0, self.offset + place, key, value, _schema_of(key), _schema_of(value))
            for place, (key, value) in enumerate(records)
        ]
        self.offset += len(batch)
        self.task.take([self.task.write(iter([SinkBatch.of(batch)]))])
        assert self.task.pre_commit({A: self.offset}) == {A: self.offset}

    def rows(self) -> list[dict[str, Any]]:
        """Return the rows by id."""
        table = TablePlace.of(SparkSinkSettings.parse(self.context.configs())).table()
        found: list[dict[str, Any]] = table.to_pyarrow_table().to_pylist() if table else []
        return sorted(found, key=lambda row: row["id"])

    def reported(self) -> list[str]:
        """Return why records were not written."""
        return [str(error) for _, error in self.context.errant_record_reporter.reported]


def _schema_of(value: ConnectValue) -> Schema | None:
    if isinstance(value, Struct):
        return value.schema
    return None if value is None else STRING_SCHEMA if isinstance(value, str) else INT64_SCHEMA


Start = Callable[..., Pipeline]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Give what starts a task."""
    begun: list[Pipeline] = []

    def begin(**config: str) -> Pipeline:
        begun.append(Pipeline(tmp_path, **config))
        return begun[-1]

    yield begin
    for each in begun:
        each.task.stop()


def key(number: int) -> Struct:
    return Struct(KEY, {"id": number, "more": "x"})


def value(number: int, word: str | None) -> Struct:
    return Struct(VALUE, {"id": number, "word": word})


def test_rows_are_inserted_changed_and_deleted_by_the_newest_record_of_a_key(start: Start) -> None:
    it = start(**BY_KEY, **{"partition.field.name": "word"})
    it.commit((key(1), value(1, "a")), (key(2), value(2, "b")), (key(1), value(1, "c")), (key(3), None))
    assert it.rows() == [{"id": 1, "word": "c"}, {"id": 2, "word": "b"}]
    it.commit((key(1), None), (key(2), None), (key(2), value(2, "again")), (key(3), value(3, None)))
    assert it.rows() == [{"id": 2, "word": "again"}, {"id": 3, "word": None}]
    it.commit((key(2), Struct(WIDER, {"id": 2, "added": "x"})), (key(9), None))
    assert it.rows() == [
        {"id": 2, "word": "again", "added": "x"},
        {"id": 3, "word": None, "added": None},
    ]
    assert DeltaTable(str(it.folder / "lake")).metadata().partition_columns == ["word"]
    files = {file.name for file in (it.folder / "lake").glob("*.parquet")}
    assert not files, "what was merged is deleted, and the rest lies in folders of the partitions"
    again = start(**BY_KEY)
    assert again.context.seeks == {A: it.offset}


def test_names_of_columns_are_as_they_are_written(start: Start) -> None:
    odd = SchemaBuilder.struct().field("Order Id", INT64_SCHEMA).field('so "it"', STRING_SCHEMA).build()
    it = start(**{**BY_VALUE, "pk.fields": "Order Id"})
    for word in ("a", "b"):
        it.commit((None, Struct(odd, {"Order Id": 1, 'so "it"': word})))
    assert DeltaTable(str(it.folder / "lake")).to_pyarrow_table().to_pylist() == [
        {"Order Id": 1, 'so "it"': "b"}
    ]


def test_small_files_are_compacted_after_so_many_versions(start: Start) -> None:
    it = start(**{"compact.versions": "3"})
    counts = []
    for number in range(1, 5):
        it.commit((None, value(number, "a")))
        counts.append(len(DeltaTable(str(it.folder / "lake")).file_uris()))
    assert counts == [1, 2, 1, 2]
    assert [row["id"] for row in it.rows()] == [1, 2, 3, 4]
    assert start().context.seeks == {A: 4}


def test_keys_are_found_in_the_value_or_are_the_whole_key(start: Start) -> None:
    it = start(**BY_VALUE)
    it.commit((None, value(1, "a")), (None, value(1, "b")), (None, None))
    assert it.rows() == [{"id": 1, "word": "b"}]
    assert ["behavior.on.null.values" in each for each in it.reported()] == [True]
    other = start(**BY_KEY, prefix="other")
    other.commit((5, Struct(SchemaBuilder.struct().field("w", STRING_SCHEMA).build(), {"w": "x"})))
    table = DeltaTable(str(other.folder / "other")).to_pyarrow_table()
    assert table.to_pylist() == [{"w": "x", "id": 5}]


def test_records_without_a_key_are_reported_and_the_others_are_merged(start: Start) -> None:
    it = start(**{**BY_KEY, "pk.fields": "id,word"})
    it.commit((key(1), value(1, "a")), (None, value(2, "b")), (7, value(3, "c")), (key(4), value(4, None)))
    assert it.rows() == [{"id": 1, "word": "a"}]
    found = it.reported()
    assert len(found) == 3
    assert "The record has no key" in found[0]
    assert "pk.fields has to be one name" in found[1]
    assert "The record has no word, which is of the key" in found[2]


@pytest.mark.parametrize(
    ("config", "text"),
    [
        ({"insert.mode": "upsert"}, "insert.mode=upsert needs the fields of the key in pk.fields"),
        ({"delete.enabled": "true"}, "delete.enabled=true needs insert.mode=upsert"),
        ({**BY_VALUE, "delete.enabled": "true"}, "delete.enabled=true needs insert.mode=upsert"),
        ({"store.url": "hdfs://name/lake"}, "in HDFS files are written, with format=parquet or orc"),
        (
            {"format": "orc", "store.url": "ftp://name/lake"},
            "configuration store.url: expected file:///folder, hdfs",
        ),
        ({**BY_VALUE, "format": "parquet"}, "set insert.mode=insert, or format=delta"),
        ({"format": "orc", "compact.versions": "2"}, "compact.versions needs format=delta"),
    ],
)
def test_settings_that_do_not_go_together_are_refused_by_name(
    tmp_path: Path, config: dict[str, str], text: str
) -> None:
    given = {"name": "c", "topics": "t", "store.url": f"file://{tmp_path}", **config}
    errors = [error for each in SparkSinkConnector().validate(given) for error in each.errors]
    assert len(errors) == 1
    assert text in errors[0]
    with pytest.raises(ConfigError, match=text):
        SparkSinkConnector().start(given)
