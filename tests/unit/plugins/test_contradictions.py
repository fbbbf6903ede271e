"""Values that contradict the schema of their record: an error about data, which errors.tolerance covers."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date

import pytest
from copycat_connect.data import (
    FLOAT32_SCHEMA,
    INT32_SCHEMA,
    STRING_SCHEMA,
    ConnectValue,
    Schema,
    SchemaBuilder,
    SinkRecord,
    Struct,
)
from copycat_connect.data.logical import DATE_SCHEMA, TIME_SCHEMA, TIMESTAMP_SCHEMA
from copycat_connect.errors import DataError
from copycat_plugins.transforms.typed import fit_to

from tests.unit.plugins.answers import KINDS, PLUGINS

PACKAGE = "org.apache.kafka.connect.transforms"
SHORT = SchemaBuilder.struct().field("b", STRING_SCHEMA).build()
LONG = SchemaBuilder.struct().field("a", INT32_SCHEMA).field("b", STRING_SCHEMA).build()
SWAPPED = SchemaBuilder.struct().field("b", STRING_SCHEMA).field("a", INT32_SCHEMA).build()
OF_SHORT = Struct(SHORT, {"b": "x"})
OF_LONG = Struct(LONG, {"a": 1, "b": "x"})
OF_SWAPPED = Struct(SWAPPED, {"b": "x", "a": 1})
AS_IT_IS = {"replace.null.with.default": "false"}


def plugin(name: str, config: Mapping[str, str]) -> ConnectValue:
    made = PLUGINS.find(f"{PACKAGE}.{name}", KINDS).make()
    made.configure(config)
    return made


def record(schema: Schema, value: ConnectValue) -> SinkRecord:
    return SinkRecord("t", 0, 0, None, value, None, schema)


@pytest.mark.parametrize(
    ("name", "config", "reason"),
    [
        ("Cast$Value", {"spec": "b:int32"}, "Value \\(x\\) was out of range"),
        ("HeaderFrom$Value", {"fields": "a", "headers": "h", "operation": "copy"}, "A null value requires"),
        ("HeaderFrom$Value", {"fields": "b", "headers": "h", "operation": "move"}, "a is not a valid field"),
        ("SetSchemaMetadata$Value", {"schema.name": "n"}, "class java.lang.String for field"),
        ("SetSchemaMetadata$Value", {"schema.name": "n"} | AS_IT_IS, "a is not a valid field name"),
        ("ValueToKey", {"fields": "a"}, "Field does not exist: a"),
    ],
)
def test_a_struct_of_a_shorter_schema_is_a_bad_record(name: str, config: dict[str, str], reason: str) -> None:
    with pytest.raises(DataError, match=reason):
        plugin(name, config).apply(record(LONG, OF_SHORT))


@pytest.mark.parametrize(
    ("name", "config", "reason"),
    [
        ("Cast$Value", {"spec": "b:string"}, "field cannot be null"),
        ("HeaderFrom$Value", {"fields": "a", "headers": "h", "operation": "copy"}, "a is not a valid field"),
        (
            "TimestampConverter$Value",
            {"field": "n", "target.type": "string", "format": "yyyy"},
            "a is not a valid field name",
        ),
        ("HoistField$Value", {"field": "f"}, "Struct schemas do not match"),
        ("ExtractField$Value", {"field": "a"}, "Unknown field: a"),
    ],
)
def test_a_struct_of_a_longer_schema_is_a_bad_record(name: str, config: dict[str, str], reason: str) -> None:
    with pytest.raises(DataError, match=reason):
        plugin(name, config).apply(record(SHORT, OF_LONG))


@pytest.mark.parametrize(
    ("name", "config", "text"),
    [
        ("InsertField$Value", {"static.field": "s", "static.value": "y"}, "Struct{b=x,s=y}"),
        ("MaskField$Value", {"fields": "a,b"}, "Struct{b=}"),
        ("ReplaceField$Value", {"renames": "b:c"}, "Struct{c=x}"),
        ("Flatten$Value", {}, "Struct{b=x}"),
    ],
)
def test_what_works_on_a_structs_own_schema_does_not_look_at_its_records(
    name: str, config: dict[str, str], text: str
) -> None:
    assert str(plugin(name, config).apply(record(LONG, OF_SHORT)).value) == text


@pytest.mark.parametrize(
    ("name", "config"),
    [
        ("Cast$Value", {"spec": "a:string"}),
        ("InsertField$Value", {"static.field": "s", "static.value": "y"}),
        ("MaskField$Value", {"fields": "a"}),
        ("ReplaceField$Value", {"exclude": "a"}),
    ],
)
def test_fields_of_another_schema_are_not_taken_by_their_places_in_a_batch(
    name: str, config: dict[str, str]
) -> None:
    assert plugin(name, config).apply_to_values(LONG, [OF_LONG, OF_SWAPPED]) is None


@pytest.mark.parametrize(
    ("name", "config"),
    [
        ("Cast$Value", {"spec": "a:string"}),
        ("Flatten$Value", {}),
        ("HeaderFrom$Value", {"fields": "a", "headers": "h", "operation": "copy"}),
        ("InsertField$Value", {"static.field": "s", "static.value": "y"}),
        ("MaskField$Value", {"fields": "a"}),
        ("ReplaceField$Value", {"exclude": "a"}),
        ("ExtractField$Value", {"field": "a"}),
        ("ValueToKey", {"fields": "a"}),
        ("TimestampConverter$Value", {"field": "a", "target.type": "unix"}),
    ],
)
@pytest.mark.parametrize("value", ["x", 5, [1], {"a": 1}, b"x"])
def test_what_is_no_struct_is_a_bad_record_where_the_schema_says_struct(
    name: str, config: dict[str, str], value: ConnectValue
) -> None:
    with pytest.raises(DataError, match="Only Struct objects supported"):
        plugin(name, config).apply(record(LONG, value))


@pytest.mark.parametrize("schema", [DATE_SCHEMA, TIME_SCHEMA, TIMESTAMP_SCHEMA])
@pytest.mark.parametrize("value", ["x", 5, {}, OF_LONG])
def test_a_cast_of_what_is_no_point_in_time_is_refused(schema: Schema, value: ConnectValue) -> None:
    with pytest.raises(DataError, match=r"Invalid Java object for schema .* for what is cast"):
        plugin("Cast$Value", {"spec": "int64"}).apply(record(schema, value))


def test_a_cast_to_text_takes_what_is_no_float_as_it_is() -> None:
    cast = plugin("Cast$Value", {"spec": "string"})
    assert cast.apply(record(FLOAT32_SCHEMA, [1, None])).value == "[1, null]"


@pytest.mark.parametrize(
    ("name", "config"),
    [
        ("DropHeaders", {"headers": "h"}),
        ("InsertHeader", {"header": "h", "value.literal": "1"}),
        ("RegexRouter", {"regex": "t", "replacement": "u"}),
        ("predicates.HasHeaderKey", {"name": "h"}),
        ("predicates.RecordIsTombstone", {}),
        ("predicates.TopicNameMatches", {"pattern": "t"}),
    ],
)
def test_what_does_not_touch_the_value_does_not_look_at_it(name: str, config: dict[str, str]) -> None:
    made, odd = plugin(name, config), record(LONG, date(2026, 1, 2))
    result = made.test(odd) if hasattr(made, "test") else made.apply(odd)
    assert result is (name.endswith("Matches")) if hasattr(made, "test") else result.value is odd.value


def test_a_number_too_large_for_a_declared_float_is_a_bad_record() -> None:
    schema = SchemaBuilder.struct().field("f", FLOAT32_SCHEMA).build()
    with pytest.raises(DataError, match="f is too large for a floating-point number"):
        fit_to(schema)({"f": 10**400})


def test_a_struct_refuses_fields_that_are_not_its_own() -> None:
    struct, foreign = Struct(SHORT), LONG.fields[1]
    with pytest.raises(DataError, match="field cannot be null"):
        struct.put(None, 1)
    with pytest.raises(
        DataError, match='"b" is of another schema: it has place 1 there, and this struct has 1'
    ):
        struct.put(foreign, "x")
    with pytest.raises(DataError, match='"b" is of another schema'):
        struct.get(foreign)


def test_a_header_that_contradicts_its_schema_is_refused_in_javas_words() -> None:
    with pytest.raises(DataError, match=r"The value \[1, null\] is not compatible with the schema"):
        record(LONG, OF_LONG).headers.add("h", [1, None], LONG)
