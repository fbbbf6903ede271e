"""PythonFunction: what functions of the user's may be, get and return."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from copycat_connect.data import (
    INT64_SCHEMA,
    STRING_SCHEMA,
    ConnectRecord,
    ConnectValue,
    SinkRecord,
    SourceRecord,
    Struct,
)
from copycat_connect.errors import ConfigError, DataError
from copycat_connect.plugin import Transformation, load_plugins
from copycat_connect.plugin.transformations import Remaining
from copycat_plugins.transforms.schema_ddl import parse_ddl

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
