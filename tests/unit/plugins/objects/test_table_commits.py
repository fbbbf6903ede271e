"""Versions of a table, or of a folder of files, as SparkSink makes them: what is in them, and whose count."""

from __future__ import annotations

from datetime import UTC, date, datetime, time
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from copycat_connect.data import (
    BOOLEAN_SCHEMA,
    BYTES_SCHEMA,
    DATE_SCHEMA,
    FLOAT32_SCHEMA,
    INT8_SCHEMA,
    INT32_SCHEMA,
    INT64_SCHEMA,
    OPTIONAL_DATE_SCHEMA,
    OPTIONAL_STRING_SCHEMA,
    STRING_SCHEMA,
    TIME_SCHEMA,
    TIMESTAMP_SCHEMA,
    SchemaBuilder,
    Struct,
    TopicPartition,
)
from copycat_connect.data.logical import decimal_schema
from copycat_connect.errors import ConnectError, RetriableError
from copycat_objects.commit_log import CommitLog, FencedError
from copycat_objects.spark_sink.delta_commits import DeltaCommits, TablePlace
from copycat_objects.spark_sink.file_commits import FileCommits
from copycat_objects.spark_sink.iceberg_commits import IcebergCommits
from copycat_objects.spark_sink.table_commits import TableCommits
from copycat_objects.spark_sink.task import SparkTableTask
from copycat_testkit.conformance.contexts import FakeSinkContext

from tests.unit.plugins.objects.sink_tables import (
    FORMATS,
    DeltaSinkTable,
    IcebergSinkTable,
    OrcSinkFiles,
    SinkTable,
    struct,
)

A, B = TopicPartition("t", 0), TopicPartition("t-1", 0)


@pytest.fixture(params=FORMATS)
def kind(request: pytest.FixtureRequest) -> type[SinkTable]:
    """Give each format."""
    found: type[SinkTable] = request.param
    return found


@pytest.fixture
def table(kind: type[SinkTable], tmp_path: Path) -> SinkTable:
    return kind(tmp_path)


def row(number: int) -> Struct:
    return struct(id=(INT32_SCHEMA, number))


def test_values_of_all_types_are_read_back(kind: type[SinkTable], table: SinkTable) -> None:
    place = SchemaBuilder.struct().field("x", FLOAT32_SCHEMA).build()
    written = struct(
        id=(INT8_SCHEMA, -128),
        flag=(BOOLEAN_SCHEMA, True),
        raw=(BYTES_SCHEMA, b"\0\xff"),
        word=(OPTIONAL_STRING_SCHEMA, None),
        price=(decimal_schema(2), Decimal("12.34")),
        day=(DATE_SCHEMA, date(1969, 12, 31)),
        at=(TIMESTAMP_SCHEMA, datetime(2024, 1, 2, 3, 4, 5, 6000, tzinfo=UTC)),
        hour=(TIME_SCHEMA, time(1, 2, 3, 4000)),
        place=(place, Struct(place, {"x": 0.5})),
        words=(SchemaBuilder.array(STRING_SCHEMA).build(), ["a", "b"]),
        times=(
            SchemaBuilder.map(STRING_SCHEMA, TIMESTAMP_SCHEMA).build(),
            {"a": datetime(2024, 1, 1, tzinfo=UTC)},
        ),
    )
    table.commits().add(table.write(written), {A: 1})
    assert table.rows() == [
        {
            "id": -128,
            "flag": True,
            "raw": b"\0\xff",
            "word": None,
            "price": Decimal("12.34"),
            "day": date(1969, 12, 31),
            "at": datetime(2024, 1, 2, 3, 4, 5, 6000, tzinfo=UTC),
            "hour": 3_723_004 if kind in (DeltaSinkTable, OrcSinkFiles) else time(1, 2, 3, 4000),
            "place": {"x": 0.5},
            "words": ["a", "b"],
            "times": [("a", datetime(2024, 1, 1, tzinfo=UTC))],
        }
    ]
    assert all(field.nullable for field in table.schema())


def test_values_that_are_no_structs_are_the_column_value(table: SinkTable) -> None:
    table.commits().add(table.write("a", "b", schema=STRING_SCHEMA), {A: 2})
    assert sorted(row["value"] for row in table.rows()) == ["a", "b"]


def test_new_fields_become_columns_and_values_are_converted_where_nothing_is_lost(table: SinkTable) -> None:
    commits = table.commits()
    commits.add(table.write(struct(id=(INT64_SCHEMA, 1))), {A: 1})
    later = [
        struct(id=(INT32_SCHEMA, 2), word=(STRING_SCHEMA, "two")),
        struct(word=(STRING_SCHEMA, "none")),
        struct(id=(STRING_SCHEMA, "4")),
        struct(id=(STRING_SCHEMA, "five")),
    ]
    commits.add(table.write(*later), {A: 5})
    found = sorted((row["id"] or 0, row["word"]) for row in table.rows())
    assert found == [(0, "none"), (1, None), (2, "two"), (4, None)]
    ((offset, error),) = table.reported
    assert offset == 3
    assert "The field id is string, and does not fit the table's column, which is int64" in error


def test_fields_of_two_types_that_are_new_at_once_are_named(table: SinkTable) -> None:
    files = table.write(row(1), struct(id=(STRING_SCHEMA, "x")))
    with pytest.raises(ConnectError, match="have a field id of two types, int32 and string"):
        table.commits().add(files, {A: 1})


def test_one_record_that_does_not_fit_is_reported_and_the_others_are_written(table: SinkTable) -> None:
    commits = table.commits()
    commits.add(table.write(row(0)), {A: 1})
    values = [struct(id=(INT64_SCHEMA, 2**40 if number == 5 else number)) for number in range(1, 10)]
    commits.add(table.write(*values), {A: 10})
    assert table.ids() == [0, 1, 2, 3, 4, 6, 7, 8, 9]
    assert [offset for offset, _ in table.reported] == [4]


@pytest.mark.parametrize("ignore", [False, True])
def test_records_without_a_value_are_reported_or_left_out(
    kind: type[SinkTable], tmp_path: Path, ignore: bool
) -> None:
    table = kind(tmp_path, ignore_nulls=ignore)
    table.commits().add(table.write(row(0), None, row(2)), {A: 3})
    assert table.ids() == [0, 2]
    assert [offset for offset, _ in table.reported] == ([] if ignore else [1])


def test_values_without_a_schema_are_reported_with_what_to_do(table: SinkTable) -> None:
    assert table.write({"id": 1}) == []
    assert "use a converter that gives one" in table.reported[0][1]


def test_a_table_is_divided_by_fields_whatever_they_hold(kind: type[SinkTable], tmp_path: Path) -> None:
    table = kind(tmp_path, "day", "word")
    words = ["a", "ü/=% &", None, "a", ""]
    days = [date(2024, 1, 1), None, date(1, 1, 1), date(2024, 1, 1), date(2024, 1, 1)]
    values = [
        struct(
            id=(INT32_SCHEMA, number), word=(OPTIONAL_STRING_SCHEMA, word), day=(OPTIONAL_DATE_SCHEMA, day)
        )
        for number, (word, day) in enumerate(zip(words, days, strict=True))
    ]
    table.commits().add(table.write(*values), {A: 5})
    # An empty text is null in a partition column of Delta Lake, as its protocol has it, and as a folder.
    empty = "" if kind is IcebergSinkTable else None
    expected = sorted(
        (number, word or (None if word is None else empty), day)
        for number, (word, day) in enumerate(zip(words, days, strict=True))
    )
    assert sorted((row["id"], row["word"], row["day"]) for row in table.rows()) == expected
    assert len(list(table.folder.rglob("part-*"))) == 4
    table.write(row(9), struct(word=(STRING_SCHEMA, "a"), day=(STRING_SCHEMA, "no day")))
    assert "has no field day, by which the table is divided" in table.reported[0][1]
    assert "does not fit the table's column" in table.reported[1][1]


def test_a_new_table_is_divided_by_texts_integers_booleans_and_dates_alone(
    kind: type[SinkTable], tmp_path: Path
) -> None:
    table = kind(tmp_path, "ratio")
    assert table.write(struct(ratio=(FLOAT32_SCHEMA, 0.5))) == []
    assert "a table is divided by texts, integers, booleans and dates" in table.reported[0][1]


def test_positions_are_in_the_commit_of_their_rows(table: SinkTable) -> None:
    commits = table.commits()
    assert commits.positions([A, B]) == {}
    commits.add([], {A: 5})
    assert not table.is_there(), "nothing but positions makes no table"
    commits.add(table.write(row(0)), {A: 1, B: 7})
    assert table.commits().positions([A, B]) == {A: 1, B: 7}
    commits = table.commits()
    commits.add([], {A: 3})
    assert table.commits().positions([A, B]) == {A: 3, B: 7}
    assert table.commits("other").positions([A, B]) == {}


def test_positions_are_changed_and_taken_away_one_by_one_and_all_at_once(table: SinkTable) -> None:
    running = table.commits()
    running.add(table.write(row(0)), {A: 1, B: 7})
    stopped = table.opened()
    stopped.change({A: 9, B: None})
    assert table.commits().positions([A, B]) == {A: 9}
    stopped.change({})
    assert table.commits().positions([A, B]) == {}
    with pytest.raises(FencedError):
        running.add(table.write(row(1)), {A: 2})
    assert table.ids() == [0]


def test_a_task_that_was_replaced_commits_nothing_whenever_it_goes_on(table: SinkTable) -> None:
    frozen, before = table.commits(), table.commits()
    successor = table.commits()
    successor.add(table.write(row(0)), {A: 1})
    with pytest.raises(FencedError, match="Another task or connector of this name"):
        frozen.add(table.write(row(99)), {A: 1})  # since there was no table when it began
    late = table.commits()
    late.add(table.write(row(1)), {A: 2})
    for each in (before, successor):
        with pytest.raises(FencedError):
            each.add(table.write(row(99)), {A: 2})
    late.add(table.write(row(2)), {A: 3})
    assert table.ids() == [0, 1, 2]
    assert table.commits().positions([A]) == {A: 3}


def test_a_task_claims_a_table_though_the_one_before_commits_meanwhile(
    table: SinkTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, successor = table.commits(), table.opened()
    before.add(table.write(row(0)), {A: 1})
    reads: dict[type[TableCommits], tuple[Any, str]] = {
        DeltaCommits: (TablePlace, "table"),
        IcebergCommits: (IcebergCommits, "_load"),
        FileCommits: (CommitLog, "read"),
    }
    place, name = reads[type(successor)]
    load = getattr(place, name)

    def load_and_be_late(of: object) -> object:
        found = load(of)
        monkeypatch.undo()
        before.add(table.write(row(1)), {A: 2})
        return found

    monkeypatch.setattr(place, name, load_and_be_late)
    successor.claim()
    assert successor.positions([A, B]) == {A: 2}
    with pytest.raises(FencedError):
        before.add(table.write(row(99)), {A: 3})
    successor.add(table.write(row(2)), {A: 3})
    assert table.ids() == [0, 1, 2]


def test_others_may_write_the_table_and_change_its_columns_meanwhile(table: SinkTable) -> None:
    commits = table.commits()
    commits.add(table.write(row(0)), {A: 1})
    table.commits("other").add(table.write(row(1)), {A: 1})
    more = pa.table({"id": pa.array([2], pa.int32()), "more": ["x"]})
    table.append(more)
    commits.add(table.write(row(3)), {A: 2})
    assert table.ids() == [0, 1, 2, 3]
    assert table.commits().positions([A]) == {A: 2}
    assert table.commits("other").positions([A]) == {A: 1}


def test_a_task_that_does_not_know_whether_its_commit_failed_goes_on_at_what_the_table_has(
    table: SinkTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    config, commits = table.config, type(table.opened())
    task, context = SparkTableTask(), FakeSinkContext(config, [A])
    task.initialize(context)
    task.start(config)
    task.open([A])
    assert context.seeks == {}
    add = commits.add

    def add_and_fail(commits: TableCommits, *given: Any) -> None:
        add(commits, *given)
        raise RetriableError("no answer")

    with monkeypatch.context() as patched:
        patched.setattr(commits, "add", add_and_fail)
        task.take([table.write(row(0))])
        with pytest.raises(RetriableError):
            task.pre_commit({A: 1})
    task.take([table.write(row(0))])  # the engine has gone back to what the consumer group has
    assert task.pre_commit({A: 1}) == {}
    assert context.seeks == {A: 1}
    task.take([table.write(row(1))])
    assert task.pre_commit({A: 2}) == {A: 2}
    assert table.ids() == [0, 1]
    task.stop()
