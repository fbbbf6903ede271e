"""JsonConverter at its edges: many structs at once, and JSON that nests deep."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any

import pytest
from copycat_connect.data import (
    DATE_SCHEMA,
    TIME_SCHEMA,
    TIMESTAMP_SCHEMA,
    ConnectValue,
    FarTimestamp,
    Field,
    Schema,
    SchemaType,
    Struct,
    StructColumns,
    decimal_schema,
)
from copycat_connect.data.logical import (
    DATE,
    TIME,
    TIMESTAMP,
    date_to_days,
    time_to_millis,
    timestamp_to_millis,
)
from copycat_connect.errors import DataError
from copycat_json.converter import JsonConverter
from copycat_json.decoding import (
    NotStrictError,
    read,
    read_batch,
    read_batch_strictly,
    read_for_schema,
    read_strictly,
)
from hypothesis import given
from hypothesis import strategies as st

ENCODERS: dict[str | None, Callable[[ConnectValue], int]] = {
    DATE: date_to_days,
    TIME: time_to_millis,
    TIMESTAMP: timestamp_to_millis,
}
KINDS: Sequence[tuple[Schema, st.SearchStrategy[ConnectValue]]] = (
    (Schema(SchemaType.INT8), st.integers(-128, 127)),
    (Schema(SchemaType.INT64), st.integers(-(1 << 63), (1 << 63) - 1)),
    (Schema(SchemaType.FLOAT64), st.floats()),
    (Schema(SchemaType.FLOAT32), st.floats(width=32)),
    (Schema(SchemaType.BOOLEAN), st.booleans()),
    (Schema(SchemaType.STRING), st.text(st.characters(codec=None, categories=None))),
    (Schema(SchemaType.BYTES), st.binary(max_size=9)),
    (DATE_SCHEMA, st.dates()),
    (TIME_SCHEMA, st.times()),
    (TIMESTAMP_SCHEMA, st.datetimes(timezones=st.just(UTC)) | st.builds(FarTimestamp, st.just(1 << 60))),
    (decimal_schema(2), st.decimals(places=2, allow_nan=False, allow_infinity=False)),
)


@st.composite
def structs(draw: st.DrawFn) -> tuple[Schema, list[Struct]]:
    chosen = draw(st.lists(st.sampled_from(KINDS), min_size=1, max_size=4))
    optional = [draw(st.booleans()) for _ in chosen]
    fields = [
        Field(
            f'f"é{place}',
            place,
            Schema(kind.type, optional=may, name=kind.name, version=kind.version, parameters=kind.parameters),
        )
        for place, ((kind, _), may) in enumerate(zip(chosen, optional, strict=True))
    ]
    schema = Schema(SchemaType.STRUCT, name="rows", field_list=tuple(fields))
    row = st.tuples(
        *(values | st.none() if may else values for (_, values), may in zip(chosen, optional, strict=True))
    )
    return schema, [Struct.of_valid(schema, [*each]) for each in draw(st.lists(row, min_size=1, max_size=5))]


def as_columns(schema: Schema, rows: Sequence[Struct]) -> StructColumns:
    columns = list(zip(*(row.values for row in rows), strict=True))
    encoded = [
        [None if value is None else ENCODERS[field.schema.name](value) for value in column]
        if field.schema.name in ENCODERS
        else column
        for field, column in zip(schema.fields, columns, strict=True)
    ]
    return StructColumns(schema, len(rows), lambda: columns, encoded)


def converter(config: dict[str, str]) -> JsonConverter:
    made = JsonConverter()
    made.configure(config)
    return made


@pytest.mark.parametrize(
    "config",
    [{}, {"schemas.enable": "false"}, {"decimal.format": "NUMERIC", "replace.null.with.default": "false"}],
    ids=["envelopes", "plain", "numeric"],
)
@given(structs())
def test_a_batch_is_written_like_each_of_its_records(
    config: dict[str, str], rows: tuple[Schema, list[Struct]]
) -> None:
    schema, values = rows
    made = converter(config)
    expected = [made.from_connect("t", None, schema, value) for value in values]
    assert made.from_connect_batch("t", schema, values) == expected
    columns = as_columns(schema, values)
    assert made.from_connect_batch("t", schema, columns) == expected
    assert [*columns] == values or any(value != value for row in values for value in row.values)  # noqa: PLR0124


def test_a_null_with_a_default_is_written_as_the_default() -> None:
    field = Schema(SchemaType.INT32, optional=True, default=7)
    schema = Schema(SchemaType.STRUCT, field_list=(Field("a", 0, field),))
    rows = [Struct.of_valid(schema, [value]) for value in (1, None)]
    assert converter({"schemas.enable": "false"}).from_connect_batch("t", schema, rows) == [
        b'{"a":1}',
        b'{"a":7}',
    ]


@pytest.mark.parametrize(
    ("type", "value"),
    [
        (SchemaType.INT8, 128),
        (SchemaType.INT32, True),
        (SchemaType.INT32, None),
        (SchemaType.STRING, b"a"),
        (SchemaType.FLOAT64, 1),
        (SchemaType.BOOLEAN, 1),
    ],
)
def test_a_value_that_does_not_fit_its_field_is_refused_among_others(
    type: SchemaType, value: ConnectValue
) -> None:
    schema = Schema(SchemaType.STRUCT, field_list=(Field("a", 0, Schema(type)),))
    with pytest.raises(DataError):
        converter({}).from_connect_batch("t", schema, [Struct.of_valid(schema, [value])] * 2)


def test_structs_are_made_of_columns_once_and_only_when_wanted() -> None:
    asked = []
    schema = Schema(SchemaType.STRUCT, field_list=(Field("at", 0, TIMESTAMP_SCHEMA),))

    def columns() -> list[list[datetime]]:
        asked.append(True)
        return [[datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 1, 2, tzinfo=UTC)]]

    rows = StructColumns(schema, 2, columns, [[1767225600000, 1767312000000]])
    written = converter({"schemas.enable": "false"}).from_connect_batch("t", schema, rows)
    assert written == [b'{"at":1767225600000}', b'{"at":1767312000000}']
    assert (len(rows), asked) == (2, [])
    assert [row["at"] for row in rows[1:]] == [datetime(2026, 1, 2, tzinfo=UTC)]
    assert rows[0] is rows[0]
    assert asked == [True]


DEEPEST = b"[" * 1000 + b"]" * 1000
TOO_DEEP = b"[" * 1001 + b"]" * 1001
BROAD = b"[" + b",".join([b"[]"] * 2000) + b"]"


def levels(node: Any) -> int:
    found = 0
    while isinstance(node, list):
        found, node = found + 1, node[0] if node else None
    return found


def test_a_thousand_levels_are_read() -> None:
    single = [levels(node) for node in (read(DEEPEST), read_for_schema(DEEPEST), read_strictly(DEEPEST))]
    many = [levels(node) for node in (*read_batch([BROAD, DEEPEST]), *read_batch_strictly([DEEPEST]))]

    assert (single, many) == ([1000, 1000, 1000], [2, 1000, 1000])


def test_one_level_more_is_refused() -> None:
    for refused in (
        lambda: read(TOO_DEEP),
        lambda: read_for_schema(TOO_DEEP),
        lambda: read_batch([b"1", TOO_DEEP]),
    ):
        with pytest.raises(DataError, match="failed due to serialization error"):
            refused()
    for refused in (lambda: read_strictly(TOO_DEEP), lambda: read_batch_strictly([b"1", TOO_DEEP])):
        with pytest.raises(NotStrictError):
            refused()
