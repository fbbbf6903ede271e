"""Columns of Iceberg tables in their files: known by number, whatever they are called there."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from copycat_connect.errors import ConnectError
from copycat_connect.plugin import SparkUnit
from copycat_objects.spark.iceberg_columns import IcebergColumns, spark_columns
from copycat_objects.spark.settings import SparkSourceSettings
from copycat_objects.spark.task import followed_table
from copycat_objects.stores.local import LocalStore
from pyiceberg.schema import Schema
from pyiceberg.types import (
    BinaryType,
    DateType,
    DecimalType,
    ListType,
    LongType,
    NestedField,
    StructType,
    TimestampNanoType,
    TimestamptzType,
)

from tests.unit.plugins.objects.iceberg_lake import BY_KIND, COLUMNS, Lake


def columns_of(lake: Lake, *units: SparkUnit) -> list[tuple[list[str], list[str]]]:
    """The names that Spark reads of each file, and the columns made of these."""
    table = followed_table(SparkSourceSettings.parse(lake.config), LocalStore(lake.root)).table
    found = [table.columns_of(unit.content) for unit in units]
    return [([field["name"] for field in json.loads(own)["fields"]], [*columns]) for own, columns in found]


def test_columns_are_known_by_number_whatever_they_are_called(tmp_path: Path) -> None:
    lake = Lake(tmp_path)
    table = lake.make(COLUMNS, BY_KIND)
    table.append(pa.table({"id": [1], "kind": ["it's"]}))
    with table.update_schema() as change:
        change.rename_column("id", "number").rename_column("kind", "id")
    with table.update_schema() as change:
        change.add_column("kind", DateType())
    table.append(pa.table({"number": [2], "id": ["b"], "kind": pa.array([1], pa.date32())}))
    before, after = (unit for unit in lake.source().plan() if not unit.is_mark)
    old = [
        "CAST(`id` AS long) AS `number`",
        "CAST(`kind` AS string) AS `id`",
        "CAST(NULL AS date) AS `kind`",
    ]
    assert columns_of(lake, before, after) == [
        (["id", "kind"], old),
        (["number", "id", "kind"], ["`number`", "`id`", "`kind`"]),
    ]

    # Of another writer, without the column of its partition and without numbers.
    place = lake.root / before.content.file.path
    pq.write_table(pa.table({"id": [1]}), place)
    stored = replace(before.content.file, size=place.stat().st_size)
    foreign = replace(before, content=replace(before.content, file=stored))
    with pytest.raises(ConnectError, match=r"files have no numbers of columns, and the table no names"):
        columns_of(lake, foreign)
    names = COLUMNS.name_mapping.model_dump_json()
    known = replace(before.content.columns, names=names)
    foreign = replace(foreign, content=replace(foreign.content, columns=known))
    assert columns_of(lake, foreign) == [(["id"], [old[0], "CAST('it\\'s' AS string) AS `id`", old[2]])]


def test_parts_of_columns_are_known_by_number_and_what_is_absent_has_its_default() -> None:
    inner = StructType(
        NestedField(4, "new", LongType(), required=False), NestedField(5, "more", DateType(), required=False)
    )
    schema = Schema(
        NestedField(1, "items", ListType(3, inner, element_required=False), required=False),
        NestedField(6, "raw", BinaryType(), required=False, initial_default=b"\0'"),
        NestedField(7, "at", TimestamptzType(), required=False, initial_default=1),
        NestedField(8, "price", DecimalType(9, 2), required=False),
    )
    item = pa.struct([numbered(4, "old", pa.int32()), numbered(9, "absent 5", pa.string())])
    file = pa.schema(
        [
            numbered(1, "list", pa.list_(numbered(3, "element", item))),
            numbered(8, "price", pa.decimal128(5, 2)),
        ]
    )
    own, sql = spark_columns(IcebergColumns(schema.model_dump_json(), None, ()), (), file)
    items, price = json.loads(own)["fields"]
    assert items["name"] == "list"
    assert [(each["name"], each["type"]) for each in items["type"]["elementType"]["fields"]] == [
        ("old", "integer"),
        ("absent 5_", "date"),
    ]
    assert price["type"] == "decimal(5,2)"
    assert sql == (
        "CAST(`list` AS array<struct<`new`: long, `more`: date>>) AS `items`",
        "unbase64('ACc=') AS `raw`",
        "CAST('1970-01-01 00:00:00.000001+00:00' AS timestamp) AS `at`",
        "CAST(`price` AS decimal(9,2)) AS `price`",
    )


def numbered(number: int, name: str, type_: pa.DataType) -> pa.Field:
    """A field as a Parquet file has it."""
    return pa.field(name, type_, metadata={"PARQUET:field_id": str(number)})


def test_types_that_spark_has_not_are_refused_by_the_columns_name() -> None:
    schema = Schema(NestedField(1, "at", TimestampNanoType(), required=False))
    file = pa.schema([numbered(1, "at", pa.timestamp("ns"))])
    with pytest.raises(ConnectError, match="the column at has the type timestamp_ns"):
        spark_columns(IcebergColumns(schema.model_dump_json(), None, ()), (), file)
