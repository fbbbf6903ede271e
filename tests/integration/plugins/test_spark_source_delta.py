"""Delta tables that delta-rs writes and Spark reads: each row once, through maintenance and kills."""

from __future__ import annotations

import json
from collections import Counter
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from copycat_testkit.kafka import unique, wait_until
from deltalake import DeltaTable, write_deltalake

from tests.integration.plugins.spark_lake import SECONDS, Lake

pytestmark = [pytest.mark.timeout(500), pytest.mark.long]
SPARK = {
    "connector.class": "SparkSource",
    "tasks.max": "2",
    "format": "delta",
    "prefix": "orders",
    "value.converter.schemas.enable": "false",
}
EPOCH = date(1970, 1, 1)
BY = ["day", "kind", "paid", "price"]
"""Columns of partitions, of types that the log writes as texts."""


def rows(first: int, count: int, **more: list[Any]) -> pa.Table:
    ids = range(first, first + count)
    return pa.table(
        {
            "id": [*ids],
            "day": [EPOCH + timedelta(days=each % 2 * 20_000) for each in ids],
            "kind": [("a b", "ü/=%'\\\\", None)[each % 3] for each in ids],
            "paid": [each % 2 == 0 for each in ids],
            "price": pa.array([Decimal(each % 2) + Decimal("0.25") for each in ids], pa.decimal128(8, 2)),
            "word": [f"w{each}" for each in ids],
            **more,
        }
    )


def found(lake: Lake, topic: str) -> list[tuple[Any, ...]]:
    """The records, without the price, which JSON has as bytes."""
    values = [json.loads(value) for value in lake.values(topic)]
    return [(v["id"], v["day"], v["kind"], v["paid"], v["word"], v.get("added")) for v in values]


def expected(first: int, count: int, added: list[int] | None = None) -> list[tuple[Any, ...]]:
    table = rows(first, count).to_pylist()
    return [
        (row["id"], (row["day"] - EPOCH).days, row["kind"], row["paid"], row["word"], added and added[at])
        for at, row in enumerate(table)
    ]


def test_rows_of_a_delta_table_arrive_as_they_are_added_until_some_are_deleted(lake: Lake) -> None:
    name, table = unique("delta"), lake.folder / "orders"
    lake.put(name, **SPARK)
    write_deltalake(table, rows(0, 600), partition_by=BY)
    wait_until(lambda: lake.version(name) == 0, SECONDS, "the first version is read")
    assert Counter(found(lake, name)) == Counter(expected(0, 600))

    write_deltalake(table, rows(600, 60), mode="append")
    DeltaTable(table).optimize.compact()
    DeltaTable(table).create_checkpoint()
    more = [*range(30)]
    write_deltalake(table, rows(660, 30, added=more), mode="append", schema_mode="merge")
    wait_until(lambda: lake.version(name) == 3, SECONDS, "what was added is read")
    everything = [*expected(0, 660), *expected(660, 30, more)]
    assert Counter(found(lake, name)) == Counter(everything)

    write_deltalake(table, rows(690, 3, added=[1, 2, 3]), mode="append")
    DeltaTable(table).delete("id = 5")
    everything += expected(690, 3, [1, 2, 3])
    wait_until(lambda: lake.state(name) == "FAILED", SECONDS, "rows were deleted")
    status = lake.ask("GET", f"{name}/status")
    assert "Version 5 of" in status["tasks"][0]["trace"]  # type: ignore[index]
    assert lake.version(name) == 4
    assert Counter(found(lake, name)) == Counter(everything)

    lake.put(name, **SPARK, **{"delta.changes": "skip"})
    write_deltalake(table, rows(700, 1, added=[9]), mode="append")
    wait_until(lambda: lake.version(name) == 6, SECONDS, "it goes on behind them")
    assert Counter(found(lake, name)) == Counter([*everything, *expected(700, 1, [9])])
    lake.ask("DELETE", name)


def test_each_row_of_a_delta_table_arrives_exactly_once_though_driver_and_partition_are_killed(
    lake: Lake,
) -> None:
    name, table, versions, count = unique("delta"), lake.folder / "orders", 12, 4_000
    for version in range(versions // 2):
        write_deltalake(table, rows(version * count, count), mode="append", partition_by=BY)
    lake.put(name, **SPARK, **{"delivery.guarantee": "exactly_once"})
    files = len(DeltaTable(table).file_uris())
    for done, what in ((1, "partition"), (files // 3, "driver")):
        wait_until(lambda: len(lake.done(name)) >= done, SECONDS, f"{done} files are done")  # noqa: B023
        assert lake.version(name) == -1
        lake.kill(what)
    DeltaTable(table).optimize.compact()  # the version that was begun is read as it was
    wait_until(lambda: lake.version(name) == versions // 2, SECONDS, "the first version is read")
    for version in range(versions // 2, versions):
        write_deltalake(table, rows(version * count, count), mode="append")
    wait_until(lambda: len(lake.done(name)) > files, SECONDS, "later versions are read")
    lake.kill("driver")
    wait_until(lambda: lake.version(name) == versions, SECONDS, "all versions are read")
    assert Counter(each[0] for each in found(lake, name)) == Counter(range(versions * count))
    lake.ask("DELETE", name)
