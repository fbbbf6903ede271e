"""Many values at once become what they become one by one."""

import copy
import json
from collections.abc import Callable
from functools import cache

import pytest
from copycat_connect.data import (
    FLOAT64_SCHEMA,
    INT32_SCHEMA,
    OPTIONAL_INT32_SCHEMA,
    OPTIONAL_STRING_SCHEMA,
    STRING_SCHEMA,
    ConnectValue,
    MapColumns,
    Schema,
    SchemaBuilder,
    SchemaType,
    SourceRecord,
    Struct,
    Texts,
)
from copycat_connect.data.java import to_text
from copycat_connect.data.java_lines import line_bytes, to_lines
from copycat_connect.errors import DataError
from copycat_connect.plugin import PluginKind, Transformation, load_plugins
from copycat_json.converter import JsonConverter
from hypothesis import given
from hypothesis import strategies as st

SCHEMA = (
    SchemaBuilder.struct()
    .name("Line")
    .field("n", INT32_SCHEMA)
    .field("s", STRING_SCHEMA)
    .field("f", FLOAT64_SCHEMA)
    .field("o", OPTIONAL_STRING_SCHEMA)
    .field("d", SchemaBuilder(SchemaType.STRING).optional().default_value("default").build())
    .build()
)
FULL: dict[str, ConnectValue] = {"n": 1, "s": "x", "f": 1.5, "o": "y", "d": "z"}
ROWS: tuple[tuple[dict[str, ConnectValue], ...], ...] = (
    (FULL, {**FULL, "n": -7, "s": "50%s é😀"}),
    (FULL, {**FULL, "o": None}),
    ({**FULL, "d": None}, FULL),
    ({**FULL, "f": -0.0}, {**FULL, "f": 1e300}),
)
STEPS = (
    ("HoistField", {"field": "whole"}),
    ("InsertField", {"static.field": "site", "static.value": "north"}),
    ("InsertField", {"static.field": "site!", "static.value": "north", "topic.field": "t"}),
    ("MaskField", {"fields": "s,o"}),
    ("MaskField", {"fields": "n,s", "replacement": "7"}),
    ("ReplaceField", {"exclude": "s,d"}),
    ("ReplaceField", {"include": "n,d"}),
    ("ReplaceField", {"renames": "n:number"}),
    ("Cast", {"spec": "n:string,f:string,s:boolean"}),
    ("Cast", {"spec": "n:int8,f:int64"}),
    ("Cast", {"spec": "string"}),
)


_plugins = cache(load_plugins)


def made(name: str, config: dict[str, str]) -> Transformation:
    spec = _plugins().find(f"org.apache.kafka.connect.transforms.{name}$Value", (PluginKind.TRANSFORMATION,))
    step: Transformation = spec.make()
    step.configure(config)
    return step


def one_by_one(step: Transformation, schema: Schema | None, values: list[ConnectValue]) -> list[object]:
    results = (step.apply(SourceRecord({}, {}, "t", value, value_schema=schema)) for value in values)
    return [(each.value_schema, each.value, list(map(type, _parts(each.value)))) for each in results if each]


def _parts(value: ConnectValue) -> list[ConnectValue]:
    if isinstance(value, dict):  # in no order, as in Java
        return [value[name] for name in sorted(value)]
    return getattr(value, "values", [value])


def struct(row: dict[str, ConnectValue]) -> Struct:
    return Struct(SCHEMA, {name: value for name, value in row.items() if value is not None})


@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize(("name", "config"), STEPS)
@pytest.mark.parametrize("with_schema", [True, False])
def test_a_column_becomes_what_its_values_become(
    name: str, config: dict[str, str], with_schema: bool, rows: tuple[dict[str, ConnectValue], ...]
) -> None:
    if config.get("spec") == "string":
        rows = ()
    schema = SCHEMA if with_schema else None
    values: list[ConnectValue] = [struct(row) if with_schema else dict(row) for row in rows]
    expected = one_by_one(made(name, config), schema, values)

    changed = made(name, config).apply_to_values(schema, copy.deepcopy(values))

    if changed is not None:
        assert isinstance(changed, tuple)
        found = [(changed[0], value, list(map(type, _parts(value)))) for value in changed[1]]
        assert found == expected


_NAMES = st.lists(st.sampled_from(("n", "s", "f", "o", "number", "site")), max_size=4, unique=True)
_ITEMS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-300, 300),
    st.floats(-300, 300),
    st.sampled_from(("7", "true", "x", "")),
)
_ALIKE = _NAMES.flatmap(
    lambda names: st.lists(st.fixed_dictionaries(dict.fromkeys(names, _ITEMS)), min_size=1, max_size=3)
)


@pytest.mark.parametrize(("name", "config"), STEPS)
@given(values=_ALIKE)
def test_columns_of_maps_become_what_the_maps_become(
    name: str, config: dict[str, str], values: list[ConnectValue]
) -> None:
    step, columns = made(name, config), MapColumns.of(copy.deepcopy(values))

    def in_columns() -> list[object]:
        changed = None if columns is None else step.apply_to_columns(columns)
        if changed is None:
            return one_by_one(step, None, values)
        return [(None, value, list(map(type, _parts(value)))) for value in changed]

    assert outcome(in_columns) == outcome(lambda: one_by_one(step, None, values))
    assert columns is None or [*columns] == values


def outcome(operation: Callable[[], list[object]]) -> list[object] | None:
    try:
        return operation()
    except DataError:
        return None


@given(values=_ALIKE)
def test_lines_of_columns_are_the_lines_of_maps(values: list[ConnectValue]) -> None:
    columns = MapColumns.of(values)
    if columns is not None:
        assert line_bytes(columns.with_columns(columns.columns), "\n") == to_lines(values, "\n").encode()


@pytest.mark.parametrize("values", [
    [], [{"a": 1}, None], [{"a": 1}, {"b": 1}], [{"a": 1}, {"a": 1, "b": 2}],
    [{"a": 1, "b": 2}, {"b": 2, "a": 1}],
])  # fmt: skip
def test_maps_that_differ_in_their_keys_are_no_columns(values: list[ConnectValue]) -> None:
    assert MapColumns.of(values) is None


def test_maps_may_lose_all_they_hold() -> None:
    columns = MapColumns.of([{"a": 1}, {"a": 2}])
    assert columns is not None
    empty = columns.with_columns({})
    assert (len(empty), empty.maps, line_bytes(empty, "\n")) == (2, [{}, {}], b"{}\n{}\n")


@pytest.mark.parametrize("column", [
    ["50%s"] * 3, ["%"] * 3, [None] * 3, [1.5] * 3, [{"x%": 1}] * 3, [True] * 3,
    [True, 1, True], [1, True, 1], ["a", "b", "a"], [0.0, -0.0, 0.0],
])  # fmt: skip
@pytest.mark.parametrize("others", [{}, {"other": [1, 2, 3]}, {"100%": ["%s", "%%", ""]}])
def test_a_field_that_is_mostly_the_same_is_written_as_each_map_has_it(
    column: list[ConnectValue], others: dict[str, list[ConnectValue]]
) -> None:
    columns = MapColumns({"%s %": column, **others}, 3)
    assert line_bytes(columns, "\n") == "".join(to_text(each) + "\n" for each in columns).encode()


def test_texts_are_written_as_they_came() -> None:
    texts = Texts([b"a", "é".encode()])
    assert (line_bytes(texts, "\r\n"), [*texts], texts[1], len(texts)) == (
        "a\r\né\r\n".encode(),
        ["a", "é"],
        "é",
        2,
    )


@pytest.mark.parametrize("odd", [None, "text", 7])
@pytest.mark.parametrize(("name", "config"), STEPS[1:])
def test_what_is_no_map_is_left_to_the_records_untouched(
    name: str, config: dict[str, str], odd: ConnectValue
) -> None:
    values: list[ConnectValue] = [dict(FULL), odd]

    assert made(name, config).apply_to_values(None, values) is None
    assert values == [FULL, odd]


@pytest.mark.parametrize("step", STEPS[:2])
def test_lines_with_a_schema_go_through_as_columns(step: tuple[str, dict[str, str]]) -> None:
    hoisted = made(*STEPS[0]).apply_to_values(STRING_SCHEMA, ["a", "b"])
    assert isinstance(hoisted, tuple)
    changed = hoisted if step is STEPS[0] else made(*step).apply_to_values(*hoisted)

    assert isinstance(changed, tuple)
    assert [value["whole"] for value in changed[1]] == ["a", "b"]


@pytest.mark.parametrize("rows", ROWS)
def test_lines_are_the_texts_of_their_values(rows: tuple[dict[str, ConnectValue], ...]) -> None:
    batches: tuple[list[ConnectValue], ...] = (
        list(rows),
        list(map(struct, rows)),
        [*rows, {"%s": None, 7: True}],
        [{"a%": 1, "b": "%d"}, {"a%": True, "b": "x"}],
        [struct(rows[0]), None, "text"],
        [],
    )
    for values in batches:
        assert to_lines(values, "\n") == "".join(to_text(value) + "\n" for value in values)


PAYLOADS = (
    ('{"n":1,"s":"x","f":1.5,"o":"y","d":"z"}', '{"s":"\\u00e9","n":2,"f":2.5,"o":null,"d":"z","more":1}'),
    ('{"n":1,"s":"x","f":1.5,"o":"y","d":"z"}', '{"n":2,"s":"x","f":3,"d":null}'),
    ('{"n":3000000000,"s":"x","f":-0.0,"o":"y","d":"z"}', '{"n":1,"s":"x","f":1e3,"o":7,"d":"z"}'),
    ('{"n":99999999999999999999,"s":"x","f":1.5,"o":"y","d":"z"}', '{"n":true,"s":"x","f":1.5,"d":"z"}'),
)


def converter(**config: str) -> JsonConverter:
    json_converter = JsonConverter()
    json_converter.configure({name.replace("_", "."): value for name, value in config.items()})
    return json_converter


def envelope(payload: str) -> bytes:
    names = ("n:int32", "s:string", "f:double", "o:string", "d:string")
    fields: list[dict[str, object]] = [
        {"type": each[2:], "optional": each[0] in "od", "field": each[0]} for each in names
    ]
    fields[-1]["default"] = "default"
    schema = json.dumps({"type": "struct", "fields": fields, "optional": False}, separators=(",", ":"))
    return f'{{"schema":{schema},"payload":{payload}}}'.encode()


@pytest.mark.parametrize("payloads", PAYLOADS)
def test_envelopes_read_together_hold_what_they_hold_alone(payloads: tuple[str, ...]) -> None:
    datas = list(map(envelope, payloads))
    expected = [converter().to_connect("t", None, data) for data in datas]

    decoded = converter().to_connect_batch("t", datas)

    assert decoded is not None
    assert [(decoded[0], repr(value)) for value in decoded[1]] == [
        (each.schema, repr(each.value)) for each in expected
    ]


def test_messages_that_are_not_alike_are_not_taken_for_such() -> None:
    same, other = envelope(PAYLOADS[0][0]), b'{"schema":{"type":"string"},"payload":"x"}'

    assert converter().to_connect_batch("t", [same, None]) is None
    assert converter().to_connect_batch("t", [same, other]) is None


@pytest.mark.parametrize("enabled", ["true", "false"])
@pytest.mark.parametrize("rows", ROWS)
def test_structs_written_together_read_as_written_alone(
    enabled: str, rows: tuple[dict[str, ConnectValue], ...]
) -> None:
    structs: list[ConnectValue] = list(map(struct, rows))

    written = converter(schemas_enable=enabled).from_connect_batch("t", SCHEMA, structs)

    alone = converter(schemas_enable=enabled)
    assert written == [alone.from_connect("t", None, SCHEMA, value) for value in structs]


def test_structs_whose_number_is_null_in_all_are_written_together() -> None:
    schema = SchemaBuilder.struct().field("n", OPTIONAL_INT32_SCHEMA).build()
    converter = JsonConverter()
    converter.configure({"schemas.enable": "false"})
    assert converter.from_connect_batch("t", schema, [Struct(schema), Struct(schema)]) == [b'{"n":null}'] * 2
