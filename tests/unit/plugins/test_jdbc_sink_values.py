"""What the JDBC sink's drivers get for values: texts of PostgreSQL, points in time, numbers of SQLite."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pytest
from copycat_connect.data import (
    DATE_SCHEMA,
    FLOAT64_SCHEMA,
    INT64_SCHEMA,
    TIMESTAMP_SCHEMA,
    ConnectValue,
    FarTimestamp,
    Schema,
    SchemaBuilder,
    Struct,
    decimal_schema,
)
from copycat_connect.errors import DataError
from copycat_jdbc.sink.layout import SinkColumn, layout_of
from copycat_jdbc.sink.settings import JdbcSinkSettings
from copycat_jdbc.sink.values import array_literal, bound, copy_block

VALUE = SchemaBuilder.struct().field("id", INT64_SCHEMA).build()


def settings(**keys: str) -> JdbcSinkSettings:
    config = {"name": "sink", "connection.url": "jdbc:sqlite:x"}
    return JdbcSinkSettings.parse({**config, **{key.replace("_", "."): value for key, value in keys.items()}})


def column(name: str, schema: Schema) -> SinkColumn:
    return layout_of(settings(), "orders", None, SchemaBuilder.struct().field(name, schema).build()).columns[
        0
    ]


def test_rows_of_copy_keep_every_character() -> None:
    columns: list[list[Any]] = [
        [1, None, 3],
        ["a\tb", "\\N", "c\r\nd\\"],
        [Decimal("1E+3"), True, None],
        [b"\x00\xff", None, b""],
    ]
    assert copy_block(columns).decode() == (
        "1\ta\\tb\t1E+3\t\\\\x00ff\n\\N\t\\\\N\tTrue\t\\N\n3\tc\\r\\nd\\\\\t\\N\t\\\\x\n"
    )


@pytest.mark.parametrize(
    ("values", "literal"),
    [
        ([], "{}"),
        ([1, 2], "{1,2}"),
        ([1, None], '{"1",NULL}'),
        (["a", "b,c"], '{"a","b,c"}'),
        (['"', "\\", None, "NULL"], '{"\\"","\\\\",NULL,"NULL"}'),
        ([b"\xff"], '{"\\\\xff"}'),
        ([date(2024, 2, 29), None], '{"2024-02-29",NULL}'),
    ],
)
def test_arrays_of_postgresql_quote_what_they_must(values: list[Any], literal: str) -> None:
    assert array_literal(values) == literal


def test_a_value_without_a_text_is_a_data_error() -> None:
    with pytest.raises(DataError, match="Struct"):
        copy_block([[Struct(VALUE)]])


def test_points_in_time_are_on_the_clock_of_the_zone_and_dates_shift_where_that_is_asked() -> None:
    moment, day = column("at", TIMESTAMP_SCHEMA), column("day", DATE_SCHEMA)
    value, west = datetime(2024, 7, 1, 10, tzinfo=UTC), settings(db_timezone="America/New_York")
    (found,) = bound(moment, [value], west, "postgresql")
    assert str(found) == "2024-07-01 06:00:00-04:00"
    assert bound(moment, [value, None], west, "mysql") == [datetime(2024, 7, 1, 6), None]  # noqa: DTZ001
    assert bound(moment, [value], west, "sqlite") == [1719828000000]
    assert bound(day, [date(2024, 7, 1)], west, "postgresql") == [date(2024, 6, 30)]
    utc = settings(db_timezone="America/New_York", date_timezone="UTC")
    assert bound(day, [date(2024, 7, 1)], utc, "postgresql") == [date(2024, 7, 1)]
    with pytest.raises(DataError, match=r"Column at: .* outside of the years 1 to 9999"):
        bound(moment, [FarTimestamp(10**16)], west, "mariadb")


@pytest.mark.parametrize(
    ("schema", "type", "value", "kept"),
    [
        (FLOAT64_SCHEMA, "REAL", 1.5, 1.5),
        (FLOAT64_SCHEMA, "REAL", float("nan"), None),
        (decimal_schema(2), "NUMERIC", Decimal("12.34"), "12.34"),
        (decimal_schema(0), "NUMERIC", Decimal((1 << 63) - 1), str((1 << 63) - 1)),
        (decimal_schema(2), "NUMERIC", Decimal("99999999999999.99"), None),
        (decimal_schema(2), "TEXT", Decimal("99999999999999.99"), "99999999999999.99"),
        (decimal_schema(0), "NUMERIC", Decimal(10**19 + 1), None),
    ],
)
def test_sqlite_keeps_a_number_or_its_column_is_named(
    schema: Schema, type: str, value: ConnectValue, kept: ConnectValue
) -> None:
    if kept is not None:
        assert bound(column("n", schema), [value], settings(), "sqlite", type) == [kept]
        return
    with pytest.raises(DataError, match=r"Column n: .*SQLite"):
        bound(column("n", schema), [value], settings(), "sqlite", type)
