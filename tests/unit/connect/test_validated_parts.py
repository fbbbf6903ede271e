"""What a validation says of the guarantee of delivery, of queries over rows, of whole transformations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

import pytest
from copycat_connect.config import HIGH, STRING, ConfigDef, ConfigKey, ConfigValue, non_empty
from copycat_connect.config.delivery import (
    ExactlyOnceSources,
    Guarantee,
    guarantee_of_sink,
    guarantee_of_source,
)
from copycat_connect.config.framework_names import (
    DLQ_CONTEXT_HEADERS,
    DLQ_REPLICATION_FACTOR,
    DLQ_TOPIC,
)
from copycat_connect.data import ConnectRecord
from copycat_connect.errors import ConfigError
from copycat_connect.plugin import (
    PluginKind,
    Plugins,
    PluginSpec,
    QueryEngine,
    RowQuery,
    Transformation,
    TransformationContext,
    load_plugins,
)
from copycat_connect.plugin.row_query import QueryText, StateQuery
from copycat_connect.validation import WorkerRules, connector_plugin, plugin_keys, validate_connector

PLUGINS = load_plugins()
STRING_CONVERTER = "org.apache.kafka.connect.storage.StringConverter"
CLUSTER = {"group.id": "g", "key.converter": STRING_CONVERTER, "value.converter": STRING_CONVERTER}
SOURCE = {"name": "a", "connector.class": "FileStreamSource", "topic": "t", "file": "f"}
SINK = {"name": "a", "connector.class": "FileStreamSink", "topics": "t", "file": "f"}
KEY = "delivery.guarantee"


def errors_of_delivery(
    config: Mapping[str, str], worker: Mapping[str, str] = CLUSTER
) -> Mapping[str, list[str]]:
    """Validate and return what is wrong, by key."""
    spec = connector_plugin(config, PLUGINS)
    found = validate_connector(config, spec, PLUGINS, WorkerRules.of(worker), spec.make())
    return {info.value.name: list(info.value.errors) for info in found.infos if info.value.errors}


@pytest.mark.parametrize(
    ("worker", "connector", "expected"),
    [
        ({}, {}, Guarantee.AT_LEAST_ONCE),
        ({}, {"exactly.once.support": "requested"}, Guarantee.AT_LEAST_ONCE),
        ({}, {"exactly.once.support": "REQUIRED"}, Guarantee.EXACTLY_ONCE),
        ({}, {KEY: " Exactly_Once "}, Guarantee.EXACTLY_ONCE),
        ({}, {KEY: "at_most_once"}, Guarantee.AT_MOST_ONCE),
        ({"exactly.once.source.support": "enabled"}, {}, Guarantee.EXACTLY_ONCE),
        ({"exactly.once.source.support": "enabled"}, {KEY: "at_least_once"}, Guarantee.AT_LEAST_ONCE),
        ({"exactly.once.source.support": "preparing"}, {}, Guarantee.AT_LEAST_ONCE),
    ],
)
def test_a_source_gets_what_it_or_its_worker_asks_for(
    worker: Mapping[str, str], connector: Mapping[str, str], expected: Guarantee
) -> None:
    sources = ExactlyOnceSources.of({**CLUSTER, **worker})
    assert guarantee_of_source(connector, sources) is expected


def test_a_sink_gets_what_it_asks_for_whatever_the_worker_says_about_sources() -> None:
    assert guarantee_of_sink({}) is Guarantee.AT_LEAST_ONCE
    assert guarantee_of_sink({KEY: "at_most_once"}) is Guarantee.AT_MOST_ONCE


@pytest.mark.row("K26-49")
@pytest.mark.parametrize("guarantee", ["at_least_once", "at_most_once", "exactly_once", "EXACTLY_ONCE"])
def test_a_file_source_may_have_any_guarantee(guarantee: str) -> None:
    assert errors_of_delivery(SOURCE | {KEY: guarantee}) == {}


def test_at_most_once_is_refused_where_spark_reads_the_records() -> None:
    lake = {"name": "a", "connector.class": "SparkSource", "topic": "t", "format": "text"}
    lake["store.url"] = "file:///lake"
    assert (
        errors_of_delivery(lake | {KEY: "exactly_once"})
        == errors_of_delivery(lake | {KEY: "at_least_once"})
        == {}
    )
    (text,) = errors_of_delivery(lake | {KEY: "at_most_once"})[KEY]
    assert text.startswith(f"Invalid value at_most_once for configuration {KEY}: Spark moves")
    assert "use exactly_once or at_least_once" in text


def test_a_guarantee_that_is_none_is_refused_with_the_choices() -> None:
    (text,) = errors_of_delivery(SOURCE | {KEY: "twice"})[KEY]
    assert "AT_LEAST_ONCE, AT_MOST_ONCE, EXACTLY_ONCE" in text


def test_the_key_is_shown_only_where_it_is_set_since_kafka_connect_has_none() -> None:
    spec = connector_plugin(SOURCE, PLUGINS)
    for config, shown in ((SOURCE, False), (SOURCE | {KEY: "at_least_once"}, True)):
        found = validate_connector(config, spec, PLUGINS, WorkerRules.of(CLUSTER), spec.make())
        assert (KEY in {info.value.name for info in found.infos}) is shown


@pytest.mark.parametrize(
    ("connector", "listed"),
    [("ObjectSource", True), ("FileStreamSource", False), ("FileStreamSink", True), ("ObjectSink", True)],
)
def test_dead_letters_are_listed_but_for_sources_of_kafka_connect_which_has_none(
    connector: str, listed: bool
) -> None:
    names = {key.name for key in plugin_keys(PLUGINS.find(connector))}
    dead_letters = {DLQ_TOPIC, DLQ_REPLICATION_FACTOR, DLQ_CONTEXT_HEADERS}
    assert names & dead_letters == (dead_letters if listed else set())


@pytest.mark.row("K26-49", "K26-56")
def test_a_connector_that_does_not_prove_exactly_once_is_refused_with_what_would_be_needed() -> None:
    from_stdin = {key: value for key, value in SOURCE.items() if key != "file"}
    (text,) = errors_of_delivery(from_stdin | {KEY: "exactly_once"})[KEY]
    assert text.startswith(f"Invalid value exactly_once for configuration {KEY}: ")
    assert "exactly_once_support must return SUPPORTED" in text
    assert "use at_least_once, or leave delivery.guarantee out" in text


@pytest.mark.parametrize(
    "worker",
    [
        CLUSTER | {"exactly.once.source.support": "disabled"},
        {key: value for key, value in CLUSTER.items() if key != "group.id"},
    ],
    ids=["a cluster that forbids it", "a standalone worker"],
)
def test_a_worker_that_cannot_deliver_exactly_once_refuses_it_by_name(worker: Mapping[str, str]) -> None:
    (text,) = errors_of_delivery(SOURCE | {KEY: "exactly_once"}, worker)[KEY]
    assert "exactly.once.source.support=enabled or no such setting" in text


@pytest.mark.parametrize("guarantee", ["at_least_once", "at_most_once"])
def test_the_two_keys_may_not_contradict_each_other(guarantee: str) -> None:
    (text,) = errors_of_delivery(SOURCE | {KEY: guarantee, "exactly.once.support": "required"})[KEY]
    assert "exactly.once.support is required" in text


def test_both_keys_may_agree() -> None:
    assert errors_of_delivery(SOURCE | {KEY: "exactly_once", "exactly.once.support": "required"}) == {}


@pytest.mark.parametrize("worker", [{}, {"exactly.once.source.support": "enabled"}])
def test_exactly_once_is_accepted_of_a_worker_that_has_it_or_does_not_forbid_it(
    worker: Mapping[str, str],
) -> None:
    assert errors_of_delivery(SOURCE | {"exactly.once.support": "REQUIRED"}, {**CLUSTER, **worker}) == {}


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
        self.asked: list[tuple[str, QueryText, bool]] = []
        self.tables: Sequence[str] = ()
        self.states: dict[QueryText, StateQuery | None] = {}
        self._refused = refused

    def __call__(
        self,
        text: str,
        *,
        kind: QueryText,
        repeatable: bool,
        tables: Sequence[str] = (),
        state: StateQuery | None = None,
    ) -> None:
        self.tables, self.states[kind] = tables, state
        self.asked.append((text, kind, repeatable))
        if text in self._refused:
            raise ConfigError("[PARSE_SYNTAX_ERROR]")


def errors_of_query(spark: Spark, **config: str) -> dict[str, list[str]]:
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
    assert errors_of_query(spark, **LAKE, **QUERY, **{"delivery.guarantee": guarantee}) == {}
    kinds = [QueryText.ROWS, *[QueryText.EXPRESSION] * (len(QUERY) - 1)]
    assert spark.asked == [(text, kind, repeatable) for text, kind in zip(QUERY.values(), kinds, strict=True)]


def test_spark_knows_the_tables_that_a_query_may_join() -> None:
    spark = Spark()
    query = {"connector.class": "SparkQuery", "topic": "t", "input.topics": "o", "input.columns": "id INT"}
    tables = {
        f"table.{name}.{key}": value
        for name in ("a", "b")
        for key, value in (("format", "csv"), ("url", "file:///d"))
    }
    assert errors_of_query(spark, **query, **tables, sql="SELECT 1", tables="a, b") == {}
    assert list(spark.tables) == ["a", "b"]
    assert errors_of_query(spark, **LAKE, **QUERY, tables="a") == {}
    assert not spark.tables


STATE = {
    "connector.class": "SparkQuery",
    "topic": "t",
    "input.topics": "a, b, c",
    "input.columns": "id INT, at TIMESTAMP",
    "input.columns.b": "id INT",
    "sql": "SELECT 1",
    "key.expression": "id",
    "watermark.column": "at",
    "watermark.delay": "5 minutes",
    "state.url": "file:///state",
}


def test_spark_knows_what_a_query_with_state_reads_and_gives() -> None:
    spark = Spark()
    assert errors_of_query(spark, **STATE) == {}
    sql = QueryText.STATE
    assert [kind for _, kind, _ in spark.asked] == [
        *(QueryText.COLUMNS, QueryText.COLUMNS, QueryText.WATERMARK, QueryText.INTERVAL),
        *(sql, QueryText.EXPRESSION),
    ]
    tables = {"records": "id INT, at TIMESTAMP", "b": "id INT"}
    known = StateQuery(tables, "append", "at", "SELECT 1")
    assert [state == known for state in spark.states.values()] == [True] * 5
    errors_of_query(spark, **STATE, **{"output.mode": "update"})
    assert spark.states[sql] == StateQuery(tables, "update", "at", "SELECT 1")


@pytest.mark.parametrize(
    ("refused", "planned"),
    [
        ("5 minutes", {QueryText.STATE, QueryText.EXPRESSION}),
        ("id INT", set()),
        ("at", set()),
        ("SELECT 1", {QueryText.STATE}),
    ],
)
def test_what_is_wrong_about_a_query_with_state_is_said_once(refused: str, planned: set[QueryText]) -> None:
    spark = Spark(refused)
    assert len(errors_of_query(spark, **STATE)) == 1
    texts = (QueryText.STATE, QueryText.EXPRESSION)
    assert {each for each in texts if (state := spark.states[each]) and state.sql} == planned


def test_a_query_without_state_has_no_watermark() -> None:
    spark = Spark()
    errors_of_query(spark, **{name: text for name, text in STATE.items() if name != "state.url"})
    kinds = {kind for _, kind, _ in spark.asked}
    assert not kinds & {QueryText.WATERMARK, QueryText.INTERVAL}
    assert not any(spark.states.values())


@pytest.mark.parametrize("key", QUERY)
def test_what_spark_refuses_is_an_error_of_its_key(key: str) -> None:
    found = errors_of_query(Spark(QUERY[key]), **LAKE, **QUERY)
    assert found == {key: [f"Invalid value for configuration {key}: [PARSE_SYNTAX_ERROR]"]}


def test_what_is_wrong_without_spark_is_not_asked_about() -> None:
    spark = Spark()
    found = errors_of_query(spark, **LAKE, **{"sql": "", "headers.expression.": "id"})
    assert list(found) == ["headers.expression.", "sql"]
    assert "lacks the name of the header" in found["headers.expression."][0]
    assert spark.asked == []


def test_a_connector_without_such_keys_has_no_query() -> None:
    spark = Spark()
    errors_of_query(spark, **{"connector.class": "FileStreamSource", "topic": "t", "file": "/a"}, **QUERY)
    assert spark.asked == []


R = TypeVar("R", bound=ConnectRecord)


class Paired(Transformation):
    """Wants its two settings to be alike."""

    def initialize(self, context: TransformationContext) -> None:
        self._context = context

    def validate(self, config: Mapping[str, str | None]) -> list[ConfigValue]:
        assert self._context is not None
        same = config["left"] == config["right"]
        return [] if same else [ConfigValue("right", errors=[f"is not {config['left']}"])]

    def apply(self, record: R) -> R | None:
        return record


class NoEngine:
    """Is never asked."""

    queries: QueryEngine


KEYS = (ConfigKey(name, STRING, HIGH, validator=non_empty, doc="One.") for name in ("left", "right"))
SPEC = PluginSpec("a.Paired", PluginKind.TRANSFORMATION, "1", "Pairs.", ConfigDef(*KEYS), Paired)
WITH_PAIRED = Plugins([SPEC, *load_plugins().all()])


def errors_of_steps(context: TransformationContext | None, **settings: str) -> dict[str, list[str]]:
    step = {f"transforms.p.{key}": value for key, value in settings.items()}
    return errors_of(
        context,
        **{"connector.class": "FileStreamSource", "topic": "t", "transforms": "p"},
        **{"transforms.p.type": "Paired", **step},
    )


def errors_of(context: TransformationContext | None, **config: str) -> dict[str, list[str]]:
    config["name"] = "a"
    spec = connector_plugin(config, WITH_PAIRED)
    rules = WorkerRules.of({"key.converter": "StringConverter", "value.converter": "StringConverter"})
    found = validate_connector(config, spec, WITH_PAIRED, rules, spec.make(), context=context)
    return {info.name: info.value.errors for info in found.infos if info.value.errors}


def test_a_transformation_checks_its_settings_together() -> None:
    assert errors_of_steps(NoEngine(), left="a", right="a") == {}
    assert errors_of_steps(NoEngine(), left="a", right="b") == {"transforms.p.right": ["is not a"]}


def test_it_is_not_asked_while_a_single_key_is_wrong_or_without_a_context() -> None:
    wrong = errors_of_steps(NoEngine(), left="", right="b")
    assert list(wrong) == ["transforms.p.left"]
    assert errors_of_steps(None, left="a", right="b") == {}


def test_a_transformation_by_sql_is_refused_where_spark_reads_the_records() -> None:
    found = errors_of(
        NoEngine(),
        **{"connector.class": "SparkSource", "topic": "t", "format": "text", "store.url": "file:///lake"},
        **{"transforms": "p", "transforms.p.type": "SparkSql", "transforms.p.value.schema": "a INT"},
        **{"transforms.p.sql": "SELECT value FROM records"},
    )
    assert list(found) == ["transforms.p.sql"]
    assert "Spark reads the records of this connector" in found["transforms.p.sql"][0]
