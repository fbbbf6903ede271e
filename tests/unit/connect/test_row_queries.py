"""Queries over the rows that Spark reads: their keys, and how a validation answers for them."""

from __future__ import annotations

import pytest
from copycat_connect.errors import ConfigError
from copycat_connect.plugin import RowQuery, load_plugins
from copycat_connect.validation import WorkerRules, connector_plugin, validate_connector

PLUGINS = load_plugins()
LAKE = {"connector.class": "SparkSource", "topic": "t", "format": "parquet", "store.url": "file:///lake"}
QUERY = {
    "sql": "SELECT id FROM records",
    "key.expression": "id",
    "topic.expression": "concat('t-', id)",
    "headers.expression.a b": "1",
}


class Spark:
    """Checks texts as a test says."""

    def __init__(self, *refused: str) -> None:
        self.asked: list[tuple[str, bool, bool]] = []
        self._refused = refused

    def __call__(self, text: str, *, is_expression: bool, repeatable: bool) -> None:
        self.asked.append((text, is_expression, repeatable))
        if text in self._refused:
            raise ConfigError("[PARSE_SYNTAX_ERROR]")


def errors(spark: Spark, **config: str) -> dict[str, list[str]]:
    given = {"name": "a", **config}
    spec = connector_plugin(given, PLUGINS)
    worker = {"group.id": "g", "exactly.once.source.support": "enabled"}
    converters = {"key.converter": "StringConverter", "value.converter": "StringConverter"}
    rules = WorkerRules.of({**worker, **converters})
    found = validate_connector(given, spec, PLUGINS, rules, spec.make(), check_row_text=spark)
    return {info.name: info.value.errors for info in found.infos if info.value.errors}


def test_the_keys_of_a_connector_are_its_query() -> None:
    query = RowQuery.of({**LAKE, **QUERY})
    assert query is not None
    assert dict(query.texts()) == QUERY
    assert query.expressions == {"__key": "id", "__topic": "concat('t-', id)", "__header_0": "1"}
    assert RowQuery.of(LAKE) is None


@pytest.mark.parametrize("repeatable", [True, False])
def test_spark_checks_each_text_which_exactly_once_has_to_be_repeatable(repeatable: bool) -> None:
    spark = Spark()
    guarantee = "exactly_once" if repeatable else "at_least_once"
    assert errors(spark, **LAKE, **QUERY, **{"delivery.guarantee": guarantee}) == {}
    assert spark.asked == [(text, text != QUERY["sql"], repeatable) for text in QUERY.values()]


@pytest.mark.parametrize("key", QUERY)
def test_what_spark_refuses_is_an_error_of_its_key(key: str) -> None:
    found = errors(Spark(QUERY[key]), **LAKE, **QUERY)
    assert found == {key: [f"Invalid value for configuration {key}: [PARSE_SYNTAX_ERROR]"]}


def test_what_is_wrong_without_spark_is_not_asked_about() -> None:
    spark = Spark()
    found = errors(spark, **LAKE, **{"sql": "", "headers.expression.": "id"})
    assert list(found) == ["headers.expression.", "sql"]
    assert "lacks the name of the header" in found["headers.expression."][0]
    assert spark.asked == []


def test_a_connector_without_such_keys_has_no_query() -> None:
    spark = Spark()
    errors(spark, **{"connector.class": "FileStreamSource", "topic": "t", "file": "/a"}, **QUERY)
    assert spark.asked == []
