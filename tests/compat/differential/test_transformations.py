"""Transformations and predicates beside Kafka Connect's own classes, on generated and on recorded records."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import cycle
from typing import Any, Final

import pytest
from copycat_connect.errors import ConfigError, ConnectError, DataError
from copycat_testkit.gathered import gathered
from hypothesis import strategies as st

from tests.compat.differential.configurations import CONFIGURATIONS, TRANSFORMS
from tests.compat.differential.differences import surprise
from tests.compat.differential.generated import cases
from tests.compat.differential.oracle import Oracle
from tests.unit.plugins.answers import KINDS, PLUGINS, answer_to
from tests.unit.plugins.test_transformations import RECORDED

pytestmark = pytest.mark.long

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
