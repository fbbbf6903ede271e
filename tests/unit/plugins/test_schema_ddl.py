"""Schemas as text."""

from __future__ import annotations

import pytest
from copycat_connect.data import (
    INT64_SCHEMA,
    OPTIONAL_FLOAT64_SCHEMA,
    OPTIONAL_INT64_SCHEMA,
    OPTIONAL_STRING_SCHEMA,
    STRING_SCHEMA,
    Schema,
    SchemaBuilder,
    SchemaType,
    decimal_schema,
)
from copycat_connect.errors import ConfigError
from copycat_plugins.transforms.schema_ddl import DdlError, parse_ddl, schema_ddl

POINT = SchemaBuilder.struct().field("lat", OPTIONAL_FLOAT64_SCHEMA).optional().build()
TAGS = SchemaBuilder.array(OPTIONAL_STRING_SCHEMA).optional().build()
COUNTS = SchemaBuilder.map(STRING_SCHEMA, OPTIONAL_INT64_SCHEMA).optional().build()


@pytest.mark.parametrize(
    ("text", "schema"),
    [
        ("STRING", STRING_SCHEMA),
        ("decimal(10, 2)", decimal_schema(2)),
        ("ARRAY<STRING>", SchemaBuilder.array(OPTIONAL_STRING_SCHEMA).build()),
        ("id BIGINT NOT NULL", SchemaBuilder.struct().field("id", INT64_SCHEMA).build()),
        (
            "`a ``b` string, tags array<string>",
            SchemaBuilder.struct().field("a `b", OPTIONAL_STRING_SCHEMA).field("tags", TAGS).build(),
        ),
        (
            "STRUCT<at: STRUCT<lat: DOUBLE>, counts: MAP<STRING, BIGINT>>",
            SchemaBuilder.struct().field("at", POINT).field("counts", COUNTS).build(),
        ),
        ("date STRING", SchemaBuilder.struct().field("date", OPTIONAL_STRING_SCHEMA).build()),
    ],
)
def test_a_text_stands_for_a_schema(text: str, schema: Schema) -> None:
    assert parse_ddl(text) == schema


def test_a_schema_itself_is_required_and_its_members_are_not() -> None:
    schema = parse_ddl("a INT, b DATE")
    assert (schema.type, schema.optional) == (SchemaType.STRUCT, False)
    assert all(field.schema.optional for field in schema.fields)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "the end stands where a field is expected"),
        ("id BIGNIT", "BIGNIT stands where a type is expected, one of BOOLEAN, TINYINT"),
        ("id BIGINT,", "the end stands where a field is expected"),
        ("id INT id2 INT", "id2 stands where the end is expected"),
        ("id INT NOT", "NOT is followed by NULL"),
        ("ARRAY<STRING", "the end stands where > is expected"),
        ("a INT, a INT", "field name duplication a"),
        ("d DECIMAL(x)", "DECIMAL takes numbers"),
        ("a INT; b", "cannot be read from '; b' on"),
    ],
)
def test_what_is_no_schema_is_refused_with_the_place(text: str, reason: str) -> None:
    with pytest.raises(DdlError, match=reason):
        parse_ddl(text)


def test_a_setting_that_is_no_schema_names_its_key() -> None:
    schema_ddl("result.schema", None)
    with pytest.raises(
        ConfigError, match=r"Invalid value BIGNIT x for configuration result\.schema: X stands"
    ):
        schema_ddl("result.schema", "BIGNIT x")
