"""Transformations and predicates beside Kafka Connect's own, on values that contradict their schema."""

from __future__ import annotations

import json
import re
from itertools import cycle
from typing import Any

import pytest
from copycat_connect.data import SinkRecord
from copycat_testkit.gathered import gathered
from hypothesis import strategies as st

from tests.compat.differential.configurations import CONFIGURATIONS
from tests.compat.differential.differences import surprise
from tests.compat.differential.generated import cases, with_schema
from tests.compat.differential.oracle import Oracle
from tests.compat.differential.our_values import with_width
from tests.compat.differential.test_transformations import CLASSES
from tests.unit.plugins.answers import ENVELOPES, answer_to, record_of

pytestmark = pytest.mark.long

CASES = 300
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
