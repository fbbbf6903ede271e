"""Transformations and predicates beside Kafka Connect's: generated, recorded, contradictory records.

Where Copycat's answer is another one, on purpose, it is computed from the case, so that no entry accepts
more than one text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import cycle
from typing import Any, Final

import pytest
from copycat_connect.data import SinkRecord
from copycat_connect.errors import ConfigError, ConnectError, DataError
from copycat_testkit.gathered import gathered
from hypothesis import strategies as st

from tests.compat.differential.generated import CONFIGURATIONS, TRANSFORMS, cases, with_schema
from tests.compat.differential.java_values import with_width
from tests.compat.differential.kafka_classes import Oracle
from tests.unit.plugins.answers import ENVELOPES, KINDS, PLUGINS, answer_to, record_of
from tests.unit.plugins.test_transformations import RECORDED

pytestmark = pytest.mark.long

Case = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Difference:
    """A failure that is worded otherwise."""

    reason: str
    """Why the texts differ."""
    java: str
    """What Java's text matches as a whole."""
    ours: Callable[[Case], str]
    """What our text must be for a case."""


def _missing_field(case: Case) -> str:
    """Return how the first field is named that HeaderFrom does not find."""
    side = case[case["class"].rpartition("$")[2].lower()]
    known = {each["field"] for each in json.loads(side)["schema"]["fields"]}
    first = next(name for name in case["config"]["fields"].split(",") if name not in known)
    return f"{first} is not a valid field name"


DIFFERENCES = (
    Difference(
        "Java prints the address of an object where the field's name should stand.",
        r"Invalid value null for configuration static\.value: No value specified for static field: "
        r"org\.apache\.kafka\.connect\.transforms\.InsertField\$InsertionSpec@[0-9a-f]+",
        lambda case: (
            "Invalid value null for configuration static.value: No value specified for static field: "
            + case["config"]["static.field"]
        ),
    ),
    Difference(
        "Java fails with a NullPointerException; we name the field that is missing.",
        r'Cannot invoke "org\.apache\.kafka\.connect\.data\.Field\.schema\(\)" because the return value of '
        r'"org\.apache\.kafka\.connect\.data\.Schema\.field\(String\)" is null',
        _missing_field,
    ),
    Difference(
        "Java fails where it takes the last step of a path without steps; we name the key.",
        r"fromIndex\(0\) > toIndex\(-1\)",
        lambda _: "The path of ExtractField is empty: give the key field a name or a path",
    ),
    Difference(
        "Java reads beyond the parts of a mapping that has none.",
        r"Index 1 out of bounds for length 0",
        lambda case: (
            f"Invalid value [{case['config']['spec']}] for configuration renames: "
            f"Invalid rename mapping: {case['config']['spec']}"
        ),
    ),
)


def surprise(case: Case, java: Case, ours: Case) -> str | None:
    """Return how two answers differ, unless that is listed; None when all is well."""
    if ours == java or (
        "error" in java
        and any(
            re.fullmatch(each.java, java["error"]) and ours.get("error") == each.ours(case)
            for each in DIFFERENCES
        )
    ):
        return None
    return f"{case}\nKafka Connect: {java}\nCopycat: {ours}"


CASES = 300
#: Classes of failures that both have; Java's others, such as NullPointerException, have no counterpart.
CLASSES: Final[dict[type, str]] = {
    DataError: "DataException",
    ConfigError: "ConfigException",
    ConnectError: "ConnectException",
}


@cache
def _records() -> list[dict[str, Any]]:
    """Return the records that every plugin is put to: making them takes longer than the comparison."""
    return gathered(cases("", st.just({})), CASES)


def _compare(oracle: Oracle, found: Sequence[dict[str, Any]]) -> list[str]:
    """Return the surprises of some cases."""
    surprises = []
    for case, java in zip(found, oracle.ask("transformed", found), strict=True):
        ours = answer_to(case, CLASSES)
        if java.get("class") not in CLASSES.values():
            java.pop("class", None)
            ours.pop("class", None)
        surprises.append(surprise(case, java, ours))
    return [each for each in surprises if each is not None]


def test_every_transformation_and_predicate_of_kafka_connect_is_compared() -> None:
    ours = {spec.class_name for spec in PLUGINS.all() if spec.kind in KINDS}
    assert set(CONFIGURATIONS) == {name for name in ours if name.startswith(TRANSFORMS)}


@pytest.mark.parametrize("name", sorted(CONFIGURATIONS), ids=lambda name: name.rpartition(".")[2])
def test_generated_records_come_out_as_from_kafka_connect(name: str, oracle: Oracle) -> None:
    configs = cycle(gathered(CONFIGURATIONS[name], CASES))
    found = [
        {**record, "class": name, "config": config}
        for record, config in zip(_records(), configs, strict=False)
    ]
    surprises = _compare(oracle, found)
    assert not surprises, "\n".join(surprises[:3])


def test_recorded_records_come_out_as_from_kafka_connect(oracle: Oracle) -> None:
    surprises = _compare(oracle, RECORDED)
    assert not surprises, "\n".join(surprises[:3])


ODD = (
    *(("ExtractField", {"field": field, "field.syntax.version": version})
      for field in ("", ".", "a.", "``", "`a") for version in ("V1", "V2")),
    *(("ReplaceField", {"renames": renames})
      for renames in ("a:", ":x", ":", "a:b:", "a: b , c :d", "a", "a:b:c")),
    *(("Cast", {"spec": spec})
      for spec in ("a:", ":", "a:int8:", ":int8", "a:b:c", "a:int8,a:string", "", "int8,a:int8")),
    ("HoistField", {"field": ""}),
)  # fmt: skip
ODD_WHOLE = (
    *(("ValueToKey", {"fields": fields, "field.syntax.version": version})
      for fields in (".", "a.", "``", "`a", "a,a.", "`a`,a", "a,") for version in ("V1", "V2", "v2", "V3")),
    *(("TimestampRouter", {"timestamp.format": each}) for each in ("", "''", "bogus", "'", "yyyy")),
    *(("TimestampRouter", {"topic.format": each}) for each in ("", "${x}")),
    *(("RegexRouter", {"regex": regex, "replacement": each})
      for regex in (".*", "(o).*", "(?<x>o)(?<y>z)?.*", "nothing")
      for each in ("$", "a\\", "$x", "${", "${}", "${1}", "${x", "${x}", "${y}", "$1", "$2", "$11",
                   "\\$\\a", "")),
)  # fmt: skip
SIDES = (
    None,
    '{"schema": null, "payload": 5}',
    '{"schema": null, "payload": {"a": 1, "": {"": 3}, "c ": "x"}}',
    '{"schema": {"type": "struct", "fields": [{"type": "int32", "field": "a"}]}, "payload": {"a": 1}}',
)


def _odd(name: str, config: dict[str, str], side: str | None) -> dict[str, Any]:
    case = {"class": f"{TRANSFORMS}.{name}", "config": config, "key": side, "value": side}
    return {**case, "topic": "orders", "ts": 5, "headers": []}


def test_odd_settings_are_answered_as_by_kafka_connect(oracle: Oracle) -> None:
    both = [
        _odd(f"{name}${part}", config, side)
        for name, config in ODD
        for part in ("Key", "Value")
        for side in SIDES
    ]
    whole = [_odd(name, config, side) for name, config in ODD_WHOLE for side in SIDES]
    surprises = _compare(oracle, [*both, *whole])
    assert not surprises, "\n".join(surprises[:3])


NAMES = sorted(name for name in CONFIGURATIONS if not name.endswith("$Key"))
#: What Kafka Connect's classes fail with when they do not look first: an error about data here.
UNPLANNED = frozenset({"ClassCastException", "NullPointerException", "ArrayIndexOutOfBoundsException"})
#: Java's numbers have widths, Python's do not: what fits the type is no contradiction.
WIDTH = re.compile(
    r"Invalid Java object for schema (\"\S+\" )?with type "
    r"(INT\d+: class java\.lang\.(Byte|Short|Integer|Long)|FLOAT\d+: class java\.lang\.(Float|Double)) for .*"
)
#: Java has one class for points in time, days and times of day; Python distinguishes them.
OTHER_TIME = re.compile(
    r'Invalid Java object for schema "\S+\.(Date|Time|Timestamp)" with type INT\d\d: '
    r"class java\.util\.Date for .*"
)


IDENTITY = re.compile(r"\[B@[0-9a-f]+")


def contradicted(case: dict[str, Any]) -> SinkRecord:
    """Make a record whose value has the schema of another."""
    record = record_of(case)
    schema = ENVELOPES.to_connect("t", None, case["value_schema"].encode()).schema
    return record.with_value(schema, with_width(record.value_schema, record.value))


@pytest.fixture(scope="module")
def records() -> list[dict[str, Any]]:
    """Return records that have the schema of another value, but for bare numbers, which have no width."""
    schemas = cycle(gathered(with_schema, CASES))
    found = []
    for record in gathered(cases("", st.just({})), CASES):
        value = json.loads(record["value"] or "null")
        if type(value and value["payload"]) not in (int, float):
            # Sorted, as are the names in a HashMap of Java's: the values become text.
            text = None if value is None else json.dumps(value, sort_keys=True)
            found.append({**record, "value": text, "value_schema": next(schemas)})
    return found


def _comparable(answer: dict[str, Any]) -> dict[str, Any]:
    """Leave out how JsonConverter refuses what comes out: its own test compares that."""
    parts = {part: "!!" for part in ("key", "value") if str(answer.get(part)).startswith("!!")}
    # Java prints the address of bytes.
    told = {"error": IDENTITY.sub("[B@", answer["error"])} if "error" in answer else {}
    return answer | parts | told


def _surprise(case: dict[str, Any], java: dict[str, Any], ours: dict[str, Any]) -> str | None:
    if WIDTH.fullmatch(java.get("error", "")) or OTHER_TIME.fullmatch(ours.get("error", "")):
        return None
    if java.get("class") in UNPLANNED and ours.get("class") == "DataException":
        return None
    if java.get("class") not in CLASSES.values():
        java.pop("class", None)
        ours.pop("class", None)
    return surprise(case, _comparable(java), _comparable(ours))


@pytest.mark.parametrize("name", NAMES, ids=lambda name: name.rpartition(".")[2])
def test_values_that_contradict_their_schema_come_out_as_from_kafka_connect(
    name: str, records: list[dict[str, Any]], oracle: Oracle
) -> None:
    configs = cycle(gathered(CONFIGURATIONS[name], 100))
    found = [
        {**record, "class": name, "config": config} for record, config in zip(records, configs, strict=False)
    ]
    surprises = [
        _surprise(case, java, answer_to(case, CLASSES, contradicted))
        for case, java in zip(found, oracle.ask("transformed", found), strict=True)
    ]
    told = [each for each in surprises if each is not None]
    assert not told, "\n".join(told[:3])
