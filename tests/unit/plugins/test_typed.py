"""Plain values in the data model."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal

import pytest
from copycat_connect.data import (
    BOOLEAN_SCHEMA,
    INT64_SCHEMA,
    STRING_SCHEMA,
    TIMESTAMP_SCHEMA,
    ConnectValue,
    Schema,
    SchemaBuilder,
    Struct,
    decimal_schema,
    validate_value,
)
from copycat_connect.errors import DataError
from copycat_plugins.transforms.schema_ddl import parse_ddl
from copycat_plugins.transforms.typed import fit_to, schema_of

NAMED = SchemaBuilder.struct().field("name", STRING_SCHEMA).build()


@pytest.mark.parametrize(
    ("value", "schema"),
    [
        ("a", STRING_SCHEMA),
        (True, BOOLEAN_SCHEMA),
        (1, INT64_SCHEMA),
        (Decimal("1.20"), decimal_schema(2)),
        (datetime(2026, 1, 1, tzinfo=UTC), TIMESTAMP_SCHEMA),
        ({"a": 1}, None),
        ([1], None),
        (Struct(NAMED), NAMED),
    ],
)
def test_a_value_brings_the_schema_of_its_type(value: ConnectValue, schema: Schema | None) -> None:
    assert schema_of(value) == schema


def test_a_type_that_is_not_in_the_data_model_is_refused() -> None:
    with pytest.raises(DataError, match="complex is no type of the data model; give str"):
        schema_of(1j)


def test_a_map_becomes_the_struct_that_was_declared() -> None:
    schema = parse_ddl(
        "id BIGINT NOT NULL, price DECIMAL(9,2), rate DOUBLE, at TIMESTAMP, day DATE, "
        "tags ARRAY<STRING>, by MAP<STRING, STRUCT<n: INT>>, gone STRING"
    )
    given = {
        "id": 7, "price": Decimal("1.5"), "rate": 2, "at": datetime(2026, 1, 2),  # noqa: DTZ001  # as an author may
        "day": date(2026, 1, 2), "tags": ("a", None), "by": {"x": {"n": 1}},
    }  # fmt: skip

    made = fit_to(schema)(given)

    validate_value(schema, made)
    assert (made["price"], made["rate"], made["at"]) == (
        Decimal("1.50"),
        2.0,
        datetime(2026, 1, 2, tzinfo=UTC),
    )
    assert (made["by"]["x"]["n"], made["tags"], made["gone"]) == (1, ["a", None], None)


def test_a_struct_becomes_another_struct() -> None:
    made = fit_to(parse_ddl("name STRING, age INT"))(Struct(NAMED, {"name": "a"}))
    assert (made["name"], made["age"]) == ("a", None)


@pytest.mark.parametrize(
    ("ddl", "value", "reason"),
    [
        ("a INT NOT NULL", {}, "a is null but NOT NULL"),
        ("a STRUCT<b: INT>", {"a": {"b": "x"}}, "java.lang.String for a.b"),
        ("a INT", {"a": 2**31}, "Invalid Java object for schema with type INT32"),
        ("a INT", {"b": 1}, "fields the schema does not have: b"),
        ("a INT", [1], "value is of type list where dict is wanted"),
        ("a ARRAY<INT>", {"a": "xy"}, "a is of type str where list is wanted"),
        ("a DECIMAL(9,1)", {"a": Decimal("1.25")}, "a has more digits after the point than the schema's 1"),
        ("STRING", 5, "Invalid Java object for schema with type STRING"),
    ],
)
def test_what_does_not_fit_is_refused_by_its_place(ddl: str, value: ConnectValue, reason: str) -> None:
    with pytest.raises(DataError, match=reason):
        fit_to(parse_ddl(ddl))(value)
