"""Schema projection: a value as another version of its schema has it."""

from __future__ import annotations

from datetime import date

import pytest
from copycat_connect.data import (
    DATE_SCHEMA,
    FLOAT32_SCHEMA,
    INT8_SCHEMA,
    INT32_SCHEMA,
    INT64_SCHEMA,
    OPTIONAL_INT32_SCHEMA,
    OPTIONAL_STRING_SCHEMA,
    STRING_SCHEMA,
    Schema,
    SchemaBuilder,
    SchemaProjectionError,
    Struct,
    project,
)
from copycat_connect.errors import DataError

OLD = (
    SchemaBuilder.struct()
    .name("Order")
    .version(1)
    .field("id", INT32_SCHEMA)
    .field("gone", STRING_SCHEMA)
    .build()
)
STATE = SchemaBuilder(STRING_SCHEMA.type).default_value("new").build()
NEW = (
    SchemaBuilder.struct()
    .name("Order")
    .version(2)
    .field("id", INT64_SCHEMA)
    .field("state", STATE)
    .field("note", OPTIONAL_STRING_SCHEMA)
    .build()
)


def test_a_struct_of_an_older_schema_gets_the_newer_ones_fields() -> None:
    projected = project(OLD, Struct(OLD, {"id": 7, "gone": "x"}), NEW)
    assert projected == Struct(NEW, {"id": 7, "state": "new"})


def test_a_required_field_without_default_that_is_missing_is_named() -> None:
    with pytest.raises(SchemaProjectionError) as refused:
        project(NEW, Struct(NEW, {"id": 7}), OLD)
    assert refused.value.message == "Error projecting id"
    assert str(refused.value.__cause__) == "Schema type mismatch. source type: INT64 and target type: INT32"
    with pytest.raises(
        SchemaProjectionError,
        match=r"^Required field `z` is missing from source schema: Schema\{Order:STRUCT\}$",
    ):
        project(
            OLD,
            Struct(OLD, {"id": 7, "gone": "x"}),
            SchemaBuilder.struct().name("Order").field("z", INT8_SCHEMA).build(),
        )


def test_null_becomes_the_default_where_the_target_requires_a_value() -> None:
    assert project(OPTIONAL_STRING_SCHEMA, None, STATE) == "new"
    with pytest.raises(SchemaProjectionError, match="Writer schema is optional, however, target schema"):
        project(OPTIONAL_INT32_SCHEMA, 5, INT32_SCHEMA)


def test_a_long_becomes_the_nearest_float_in_one_rounding() -> None:
    # By way of a double it would be rounded twice, to 2**60.
    assert project(INT64_SCHEMA, 2**60 + 2**36 + 1, FLOAT32_SCHEMA) == 2.0**60 + 2.0**37
    assert project(INT64_SCHEMA, -(2**60) - 2**36 - 1, FLOAT32_SCHEMA) == -(2.0**60) - 2.0**37


def test_values_of_logical_types_and_schemas_of_other_names_stay_apart() -> None:
    assert project(DATE_SCHEMA, date(2026, 1, 2), DATE_SCHEMA) == date(2026, 1, 2)
    with pytest.raises(
        SchemaProjectionError, match=r"source name: org\.apache\.\S+Date and target name: null$"
    ):
        project(DATE_SCHEMA, date(2026, 1, 2), INT32_SCHEMA)


@pytest.mark.parametrize(
    "schema",
    [OLD, SchemaBuilder.array(INT8_SCHEMA).build(), SchemaBuilder.map(INT8_SCHEMA, INT8_SCHEMA).build()],
)
def test_a_value_that_is_not_of_the_source_schema_is_refused(schema: Schema) -> None:
    with pytest.raises(DataError, match=r"^class java\.lang\.String cannot be cast to class "):
        project(schema, "text", schema)
