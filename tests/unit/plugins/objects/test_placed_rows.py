"""Rows that a query gives: the values, keys, topics, headers and offsets of their records."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from copycat_connect.data import SourceBatch, Struct
from copycat_connect.errors import DataError
from copycat_connect.plugin import RowQuery, SparkUnit
from copycat_objects.spark.placed_rows import PlacedRows, spark_reader
from copycat_objects.spark.task import SparkFilesTask
from copycat_testkit.conformance.contexts import FakeSourceContext

COLUMNS: dict[str, list[Any]] = {"id": [3, 5, 9], "word": ["a", None, "c"], "__place": [3, 5, 9]}


@pytest.fixture
def lake(tmp_path: Path) -> Path:
    (tmp_path / "a.csv").write_text("id\n")
    return tmp_path


def made(lake: Path, **config: str) -> tuple[SparkFilesTask, SparkUnit]:
    given = {"topic": "t", "format": "csv", "store.url": f"file://{lake}", **config}
    task = SparkFilesTask()
    task.initialize(FakeSourceContext(given))
    task.start(given)
    (unit,) = task.plan()
    return task, unit


def batches(
    task: SparkFilesTask, unit: SparkUnit, columns: Mapping[str, list[Any]], start: int = 0
) -> list[Any]:
    offset = {"record": start} if start else None
    rows = pa.RecordBatch.from_pydict(dict(columns))
    return list(task.batches([unit], [offset], iter([rows.slice(0, 2), rows.slice(2)])))


def shown(records: Any) -> list[tuple[Any, ...]]:
    return [
        (
            each.topic,
            each.key,
            each.value,
            each.source_offset["record"],
            [(h.key, h.value) for h in each.headers],
        )
        for each in records
    ]


def test_a_key_leaves_records_in_columns_and_offsets_count_rows_of_the_file(lake: Path) -> None:
    task, unit = made(lake, **{"key.expression": "id"})
    first, second = found = batches(task, unit, {**COLUMNS, "__key": [3, 5, None]})
    assert {type(each) for each in found} == {SourceBatch}
    assert (first.keys, [value["word"] for value in first.values]) == ([3, 5], ["a", None])
    assert [each.source_offset["record"] for each in (first, second)] == [6, 10]
    assert second.keys == [None]
    done = task.end_of(unit, second.source_offset)
    assert (done["record"], done["done"]) == (10, True)
    assert task.is_done(unit, done)


@pytest.mark.parametrize(("start", "left"), [(0, 3), (3, 3), (4, 2), (6, 1), (9, 1), (10, 0)])
def test_rows_before_the_offset_are_left_out_whatever_the_query_has_left_out(
    lake: Path, start: int, left: int
) -> None:
    task, unit = made(lake, sql="SELECT id, word FROM records WHERE id > 2")
    found = batches(task, unit, COLUMNS, start)
    assert [value["id"] for batch in found for value in batch.values] == COLUMNS["id"][3 - left :]


def test_topics_and_headers_are_those_of_each_row(lake: Path) -> None:
    expressions = {"topic.expression": "x", "headers.expression.a b": "y", "headers.expression.n": "z"}
    task, unit = made(lake, sql="SELECT value FROM records", **expressions)
    more: dict[str, list[Any]] = {
        "__topic": ["u", None, "v"],
        "__header_0": ["h", "i", None],
        "__header_1": [1, None, None],
    }
    first, second = batches(task, unit, {"value": ["a", "b", "c"], "__place": [3, 5, 9], **more})
    assert shown([*first, *second]) == [
        ("u", None, "a", 4, [("a b", "h"), ("n", 1)]),
        ("t", None, "b", 6, [("a b", "i")]),
        ("v", None, "c", 10, []),
    ]
    header = first[0].headers.last_with_name("n")
    assert header.schema is not None
    assert header.schema.type.name == "INT64"


def test_one_column_named_value_is_the_whole_value_by_sql_and_a_field_without(lake: Path) -> None:
    rows: dict[str, list[Any]] = {"value": ["a", "b", "c"], "__place": [0, 1, 2]}
    task, unit = made(lake, sql="SELECT trim(value) AS value FROM records")
    (first, _) = batches(task, unit, rows)
    assert first.values == ["a", "b"]
    task, unit = made(lake, **{"key.expression": "1"})
    (first, _) = batches(task, unit, {**rows, "__key": [1, 1, 1]})
    assert isinstance(first.values[0], Struct)


@pytest.mark.parametrize("every_row", [True, False], ids=["in every row", "in the first of each file"])
def test_rows_of_several_files_go_on_at_the_offset_of_each(tmp_path: Path, every_row: bool) -> None:
    names = ["a b.txt", "c%20d.txt", "e.txt", "f.txt"]
    for name in names:
        (tmp_path / name).write_text("x\n")
    given = {"topic": "t", "format": "text", "store.url": f"file://{tmp_path}"}
    task = SparkFilesTask()
    task.initialize(FakeSourceContext(given))
    task.start(given)
    units = task.plan()
    assert [unit.content.file.path for unit in units] == names
    assert {unit.size for unit in units} == {2}
    read = [("a%20b.txt", 0), ("a%20b.txt", 1), ("c%2520d.txt", 0), ("c%2520d.txt", 1), ("f.txt", 0)]
    places: list[dict[str, Any]] = [
        {"file": f"file://{tmp_path}/{name}" if row == 0 or every_row else None, "row": row}
        for name, row in read
    ]
    rows = pa.RecordBatch.from_pydict({"value": [f"{name} {row}" for name, row in read], "__place": places})
    offsets = [None, {"record": 1}, None, task.end_of(units[3], None)]
    found: list[Any] = list(task.batches(units, offsets, iter([rows.slice(0, 1), rows.slice(1)])))
    assert [
        (batch.source_partition["path"], batch.values, batch.source_offset["record"]) for batch in found
    ] == [
        ("a b.txt", ["a%20b.txt 0"], 1),
        ("a b.txt", ["a%20b.txt 1"], 2),
        ("c%20d.txt", ["c%2520d.txt 1"], 2),
    ]
    other = [{"file": f"file://{tmp_path}/z.txt", "row": 0}]
    rows = pa.RecordBatch.from_pydict({"value": ["z"], "__place": other})
    with pytest.raises(DataError, match="was not to read"):
        list(task.batches(units, offsets, iter([rows])))


def test_a_record_that_several_rows_of_a_table_match_is_refused_also_between_two_batches() -> None:
    unit = SparkUnit({}, "orders-0 from 0 to 9", None)
    query = RowQuery("SELECT 1", tables=("customers",))

    def made(*batches: list[int]) -> list[Any]:
        placed = PlacedRows(
            {"": (unit, 2)}, query, spark_reader(may_be_whole=True), "t", lambda _, n: {"n": n}
        )
        rows = [pa.RecordBatch.from_pydict({"id": places, "__place": places}) for places in batches]
        found: list[Any] = [batch for each in rows for batch in placed.batches(each)]
        return [batch.source_offset for batch in found]

    assert made([1, 1, 3], [4, 6]) == [{"n": 4}, {"n": 7}], "what is committed is not looked at again"
    for places in ([[2, 5, 5]], [[2, 5], [5, 6]]):
        with pytest.raises(DataError, match=r"orders-0 from 0 to 9: several rows .* the record at 5"):
            made(*places)
