"""An Iceberg table that Spark reads: what arrives is what pyiceberg reads of it, once, as snapshots come."""

from __future__ import annotations

import json
from base64 import b64encode
from collections import Counter
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from copycat_testkit.kafka import unique, wait_until
from pyiceberg.catalog import load_catalog
from pyiceberg.io.pyarrow import schema_to_pyarrow
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.table import Table
from pyiceberg.transforms import IdentityTransform
from pyiceberg.types import (
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    IntegerType,
    ListType,
    LongType,
    NestedField,
    StringType,
    StructType,
    TimestamptzType,
)

from tests.integration.plugins.spark.lake import SECONDS, Lake

pytestmark = [pytest.mark.timeout(500), pytest.mark.long]

NAME = "shop.orders"
EPOCH = date(1970, 1, 1)
ITEM = StructType(NestedField(20, "count", IntegerType(), required=False))
COLUMNS = Schema(
    NestedField(1, "id", IntegerType(), required=False),
    NestedField(2, "kind", StringType(), required=False),
    NestedField(3, "day", DateType(), required=False),
    NestedField(4, "price", DecimalType(8, 2), required=False),
    NestedField(5, "weight", FloatType(), required=False),
    NestedField(6, "at", TimestamptzType(), required=False),
    NestedField(7, "items", ListType(21, ITEM, element_required=False), required=False),
)
DIVIDED = PartitionSpec(PartitionField(2, 1000, IdentityTransform(), "kind"))


def add(table: Table, first: int, count: int, **more: Any) -> None:
    """Add rows, under the names that columns have now."""
    names = {field.field_id: field.name for field in table.schema().fields}
    part = "count" if "items.element.count" in table.schema().column_names else "pieces"
    rows = [
        {
            names[1]: number,
            "kind": ("a b", "ü/=%'\\\\", None)[number % 3],
            "day": date(1969 + number % 2, 12, 31),
            "price": Decimal(number % 9) / 4,
            "weight": number / 2,
            "at": datetime(2024, 1, 1, 12, 0, number % 60, tzinfo=UTC),
            "items": None if number % 5 == 0 else [{part: number}, None],
            **more,
        }
        for number in range(first, first + count)
    ]
    columns = schema_to_pyarrow(table.schema(), include_field_ids=False)
    table.append(pa.Table.from_pylist(rows, columns))


def as_json(value: Any) -> Any:
    """Return a value of pyiceberg's as the converter writes it."""
    match value:
        case dict():
            return {name: as_json(each) for name, each in value.items()}
        case list():
            return [as_json(each) for each in value]
        case Decimal():
            unscaled = int(value * 100)
            size = unscaled.bit_length() // 8 + 1
            return b64encode(unscaled.to_bytes(size, "big", signed=True)).decode()
        case datetime():
            return int(value.timestamp() * 1000)
        case date():
            return (value - EPOCH).days
        case _:
            return value


def scanned(table: Table, condition: str) -> list[str]:
    """The rows that pyiceberg reads, as texts."""
    return [json.dumps(as_json(row)) for row in table.scan(condition).to_arrow().to_pylist()]


def test_rows_of_an_iceberg_table_arrive_as_they_are_added_until_some_are_deleted(lake: Lake) -> None:
    name = unique("iceberg")
    catalog = load_catalog("default", type="sql", uri=f"sqlite:///{lake.folder}/catalog.db")
    catalog.create_namespace("shop")
    table = catalog.create_table(
        NAME, COLUMNS, location=f"file://{lake.folder}/orders", partition_spec=DIVIDED
    )
    add(table, 0, 20)
    with table.update_schema() as change:
        change.rename_column("id", "number").rename_column(("items", "element", "count"), "pieces")
        change.update_column("weight", DoubleType())
    with table.update_schema() as change:
        change.add_column("id", StringType()).add_column(("items", "element", "cost"), LongType())
    add(table, 20, 20, id="new")

    def is_read() -> bool:
        snapshot = table.refresh().current_snapshot()
        assert snapshot is not None
        reply = lake.ask("GET", f"{name}/offsets")
        assert isinstance(reply, dict)
        return {"snapshot": str(snapshot.snapshot_id), "done": True} in [
            each["offset"] for each in reply["offsets"]
        ]

    lake.put(
        name,
        **{
            "connector.class": "SparkSource",
            "tasks.max": "2",
            "delivery.guarantee": "exactly_once",
            "format": "iceberg",
            "iceberg.table": NAME,
            "iceberg.catalog.uri": f"sqlite:///{lake.folder}/catalog.db",
            "value.converter.schemas.enable": "false",
        },
    )
    wait_until(is_read, SECONDS, "the first snapshot is read")
    add(table, 40, 10, id="newer")
    wait_until(is_read, SECONDS, "the next snapshot is read")
    everything = scanned(table, "number < 50")
    assert len(everything) == 50
    assert Counter(json.dumps(json.loads(each)) for each in lake.values(name)) == Counter(everything)

    table.delete("number = 7")
    wait_until(lambda: lake.state(name) == "FAILED", SECONDS, "a row was deleted")
    status = lake.ask("GET", f"{name}/status")
    assert "changes or deletes rows (overwrite)" in status["tasks"][0]["trace"]  # type: ignore[index]
    assert len(lake.values(name)) == len(everything)
    lake.ask("DELETE", name)
