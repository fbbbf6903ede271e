"""PythonFunction: what functions of the user's may be, get and return, and the schemas of that."""

from __future__ import annotations

import sys
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path

import pytest
from copycat_connect.data import (
    BOOLEAN_SCHEMA,
    INT64_SCHEMA,
    OPTIONAL_FLOAT64_SCHEMA,
    OPTIONAL_INT64_SCHEMA,
    OPTIONAL_STRING_SCHEMA,
    STRING_SCHEMA,
    TIMESTAMP_SCHEMA,
    ConnectRecord,
    ConnectValue,
    Schema,
    SchemaBuilder,
    SchemaType,
    SinkRecord,
    SourceRecord,
    Struct,
    decimal_schema,
    validate_value,
)
from copycat_connect.errors import ConfigError, DataError
from copycat_connect.plugin import Transformation, load_plugins
from copycat_connect.plugin.transformations import Remaining
from copycat_plugins.transforms.schema_ddl import DdlError, parse_ddl, schema_ddl
from copycat_plugins.transforms.typed import fit_to, schema_of

CLASS = "copycat_plugins.transforms.python_function.PythonFunction"
ROW = "id BIGINT NOT NULL"
FUNCTIONS = """
calls = []

def parse(value):
    calls.append(value)
    return None if value == "" else {"id": int(value)}

def length(text):
    return len(text)

def route(record):
    if record.value is None:
        return None
    record.topic = "routed"
    record.value["seen"] = True
    return record

def forget(record):
    return record.value

def mixed(value):
    calls.append(value)
    return value if value == "a" else len(value)

def pair(first, second):
    return first

async def later(value):
    return value

class Cleaner:
    @staticmethod
    def clean(value):
        return value.strip()

number = 5
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of Python's path with a file of functions."""
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "own_functions.py").write_text(FUNCTIONS)
    monkeypatch.delitem(sys.modules, "own_functions", raising=False)
    return tmp_path


def made(function: str, part: str = "$Value", **config: str) -> Transformation:
    step: Transformation = load_plugins().find(f"{CLASS}{part}").make()
    step.configure({"function": function, **{key.replace("_", "."): text for key, text in config.items()}})
    return step


def applied(step: Transformation, value: ConnectValue) -> ConnectRecord | None:
    return step.apply(SinkRecord("t", 0, 0, value=value, value_schema=STRING_SCHEMA))


def refusal(function: str) -> str:
    found = load_plugins().find(CLASS).config.validate({"function": function})
    (error,) = found[0].errors
    with pytest.raises(ConfigError) as refused:
        made(function)
    assert refused.value.message == error
    prefix = f"Invalid value {function} for configuration function: "
    assert error.startswith(prefix)
    return error.removeprefix(prefix)


def test_a_result_takes_the_place_of_the_value_with_the_schema_of_its_type(folder: Path) -> None:
    record = applied(made("own_functions:length"), "abc")
    assert record is not None
    assert (record.value_schema, record.value) == (INT64_SCHEMA, 3)


def test_a_dict_is_schemaless_unless_a_schema_is_declared(folder: Path) -> None:
    plain = applied(made("own_functions:parse"), "7")
    typed = applied(made("own_functions:parse", result_schema=ROW), "7")
    assert plain is not None
    assert typed is not None
    assert (plain.value_schema, plain.value) == (None, {"id": 7})
    assert (typed.value_schema, typed.value) == (parse_ddl(ROW), Struct(parse_ddl(ROW), {"id": 7}))


def test_none_drops_the_record(folder: Path) -> None:
    assert applied(made("own_functions:parse"), "") is None


def test_a_function_of_keys_leaves_the_value_alone(folder: Path) -> None:
    record = made("own_functions:length", "$Key").apply(SinkRecord("t", 0, 0, "key", "value"))
    assert record is not None
    assert (record.key, record.key_schema, record.value) == (3, INT64_SCHEMA, "value")


def test_a_function_of_records_changes_its_own_copy(folder: Path) -> None:
    given = SourceRecord(None, None, "t", {"a": 1})
    record = made("own_functions:route", "").apply(given)
    assert record is not None
    assert (record.topic, record.value) == ("routed", {"a": 1, "seen": True})
    assert (given.topic, given.value) == ("t", {"a": 1})
    assert made("own_functions:route", "").apply(SourceRecord(None, None, "t", None)) is None


def test_a_function_of_records_that_returns_something_else_is_told_so(folder: Path) -> None:
    with pytest.raises(DataError, match="The function returned str; it returns the record it was given"):
        made("own_functions:forget", "").apply(SinkRecord("t", 0, 0, value="x"))


def test_a_batch_costs_one_call_a_value_drops_included(folder: Path) -> None:
    step = made("own_functions:parse")
    changed = step.apply_to_values(STRING_SCHEMA, ["1", "", "2"])
    assert changed == Remaining(None, [{"id": 1}, {"id": 2}], [0, 2])
    assert sys.modules["own_functions"].calls == ["1", "", "2"]
    assert made("own_functions:length").apply_to_values(STRING_SCHEMA, ["a", "bc"]) == (INT64_SCHEMA, [1, 2])


def test_a_batch_of_structs_has_the_declared_schema(folder: Path) -> None:
    changed = made("own_functions:parse", result_schema=ROW).apply_to_values(STRING_SCHEMA, ["1"])
    assert changed == (parse_ddl(ROW), [Struct(parse_ddl(ROW), {"id": 1})])


def test_results_of_several_types_go_one_by_one_from_then_on(folder: Path) -> None:
    step = made("own_functions:mixed")
    with pytest.raises(DataError, match="several types"):
        step.apply_to_values(STRING_SCHEMA, ["a", "b"])
    sys.modules["own_functions"].calls.clear()
    assert step.apply_to_values(STRING_SCHEMA, ["a", "b"]) is None
    assert sys.modules["own_functions"].calls == []


def test_keys_and_records_are_not_taken_for_values(folder: Path) -> None:
    assert made("own_functions:length", "$Key").apply_to_values(STRING_SCHEMA, ["a"]) is None
    assert made("own_functions:route", "").apply_to_values(None, [{}]) is None


def test_a_file_is_named_by_its_path_and_read_anew_each_time(folder: Path) -> None:
    file = folder / "deep" / "clean.py"
    file.parent.mkdir()
    file.write_text("def clean(value): return value + '1'")
    first = made(f"{file}:clean")
    file.write_text("def clean(value): return value + '2'")
    second = made(f"{file}:clean")
    results = [applied(step, "a") for step in (first, second)]
    assert [record and record.value for record in results] == ["a1", "a2"]


def test_a_function_may_be_inside_a_class(folder: Path) -> None:
    record = applied(made("own_functions:Cleaner.clean"), " a ")
    assert record is not None
    assert record.value == "a"


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        ("own_functions", "Write module:function, or /path/to/file.py:function"),
        ("no_such_module:f", "There is no module no_such_module; install it where the worker runs"),
        ("own_functions.deep:f", "There is no module own_functions.deep"),
        (
            "own_functions:gone",
            "own_functions has no gone; its functions: forget, later, length, mixed, pair",
        ),
        ("own_functions:number", "number is a int and not a function"),
        (
            "own_functions:pair",
            r"pair(first, second) cannot be called with one argument; write def pair(value)",
        ),
        ("own_functions:later", "later is asynchronous or a generator; it must return its result"),
    ],
)
def test_what_is_no_usable_function_is_refused_with_the_fix(folder: Path, function: str, reason: str) -> None:
    assert refusal(function).startswith(reason)


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("torn", "def f(value)\n    return 1", "torn has a syntax error in"),
        (
            "needy",
            "import nothing_of_that_name",
            "Module needy needs nothing_of_that_name, which is not installed",
        ),
        ("failing", "1 / 0", "failing fails when it is loaded: ZeroDivisionError: division by zero"),
        ("leaving", "raise SystemExit(3)", "leaving fails when it is loaded: SystemExit: 3"),
    ],
)
def test_a_module_that_cannot_be_loaded_is_refused(folder: Path, name: str, text: str, reason: str) -> None:
    (folder / f"{name}.py").write_text(text)
    assert refusal(f"{name}:f").startswith(reason)


def test_a_file_outside_of_pythons_path_is_not_run(
    folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    outside = tmp_path_factory.mktemp("outside") / "f.py"
    outside.write_text("raise SystemExit('it was run')")
    (folder / "link.py").symlink_to(outside)
    for file in (outside, folder / "link.py", Path("relative.py")):
        assert "add its folder to the worker's PYTHONPATH" in refusal(f"{file}:f")


def test_a_file_with_a_syntax_error_or_none_at_all_is_refused(folder: Path) -> None:
    torn = folder / "torn.py"
    torn.write_text("\ndef f(value)\n    return 1")
    assert refusal(f"{torn}:f").startswith(f"{torn} has a syntax error in line 2")
    assert refusal(f"{folder}/gone.py:f").endswith(
        "(No such file or directory); it must be there on every worker"
    )


def test_a_wrong_result_schema_names_its_key(folder: Path) -> None:
    with pytest.raises(ConfigError, match=r"for configuration result\.schema: BIGNIT stands where a type"):
        made("own_functions:length", result_schema="id BIGNIT")


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
