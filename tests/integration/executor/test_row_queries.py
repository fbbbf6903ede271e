"""Queries over rows that Spark reads: what they give, where each row was, what is refused."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from copycat_connect.errors import ConfigError
from copycat_connect.plugin.row_query import KEY, PLACE, TOPIC, QueryText, RowQuery
from copycat_executor.spark.queries import SparkQueries
from copycat_executor.spark.session import Spark, start_driver
from copycat_executor.spark.unit_jobs import RowQueries
from copycat_testkit.system import SHORT_LIVED_DRIVERS
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame

pytestmark = [pytest.mark.timeout(240), pytest.mark.long]
ROWS = [
    {"id": number, "word": None if number == 2 else f"w{number}", "at": {"x": number}} for number in range(6)
]
#: Queries that are refused before a row is known, whether they have to be repeatable or not.
REFUSED = {
    "SELEC id FROM records": r"\[PARSE_SYNTAX_ERROR\] Syntax error at or near 'SELEC'",
    "SELECT id FROM orders": "There is no table orders",
    "SELECT nofn() AS x FROM records": "UNRESOLVED_ROUTINE",
    "SELECT nofn(id) AS x FROM records": "There is no function nofn",
    "SELECT count(*) AS n FROM records GROUP BY id": "a query is one SELECT over records",
    "SELECT id FROM records ORDER BY id": "a query is one SELECT over records",
    "SELECT r.id FROM records r JOIN records s": "a query is one SELECT over records",
    "SELECT id FROM records WHERE id IN (SELECT id FROM records)": "ListQuery is not allowed",
    "SELECT reflect('java.lang.System', 'exit') AS x FROM records": "reflect is not allowed",
    "SELECT struct(*) AS all FROM records": "A star stands for columns in SELECT",
    "SELECT __place FROM records": "__place is the engine's own column",
    "DROP TABLE records": "a query is one SELECT over records",
}
UNREPEATABLE = (
    "rand()",
    "uuid()",
    "now()",
    "current_timestamp()",
    "current_timestamp",
    "current_date",
    "curdate()",
    "unix_timestamp()",
    "randn(5) + id",
    "monotonically_increasing_id()",
    "input_file_name()",
    "transform(ids, id -> id + rand())",
    "CASE WHEN id > 1 THEN uuid() ELSE word END",
    "date 'today'",
    "TIMESTAMP 'now'",
)
REPEATABLE = (
    "id",
    "concat('orders-', lower(word))",
    "CAST(id AS STRING)",
    "records.current_date",
    "_metadata.file_name",
    "named_struct('id', id, 'word', coalesce(word, 'none'))",
    "transform(ids, id -> abs(id))",
    "unix_timestamp(at)",
    "timestamp '2026-01-01 00:00:00'",
    "a + 1 -- the next one",
)
NO_EXPRESSION = {
    "id,": "PARSE_SYNTAX_ERROR",
    "id AS x": "It is not one expression",
    "*": "It is not one expression",
    "id FROM records": "PARSE_SYNTAX_ERROR",
    "(SELECT 1)": "ScalarSubquery is not allowed",
    "java_method('java.lang.System', 'exit')": "java_method is not allowed",
    "": "PARSE",
}


@pytest.fixture(scope="module")
def spark() -> Iterator[Spark]:
    running = start_driver(SHORT_LIVED_DRIVERS)
    yield running
    running.stop()


@pytest.fixture(scope="module")
def queries(spark: Spark) -> SparkQueries:
    return SparkQueries(spark.session)


@pytest.fixture
def rows(spark: Spark, tmp_path: Path) -> DataFrame:
    pq.write_table(pa.Table.from_pylist(ROWS), tmp_path / "rows.parquet", row_group_size=2)
    frame: DataFrame = spark.session.read.parquet(f"file://{tmp_path}/rows.parquet")
    return frame


def selected(rows: DataFrame, query: RowQuery, *, repeatable: bool = True) -> list[dict[str, Any]]:
    found = RowQueries().select(rows, query, repeatable=repeatable)
    shown: list[dict[str, Any]] = found.toArrow().to_pylist()
    return shown


@pytest.mark.parametrize("sql", REFUSED)
def test_what_is_no_query_of_single_rows_is_refused(queries: SparkQueries, sql: str) -> None:
    with pytest.raises(ConfigError, match=REFUSED[sql]):
        queries.check(sql, kind=QueryText.ROWS, repeatable=False)


@pytest.mark.parametrize("text", NO_EXPRESSION)
def test_what_is_not_one_expression_is_refused(queries: SparkQueries, text: str) -> None:
    with pytest.raises(ConfigError, match=NO_EXPRESSION[text]):
        queries.check(text, kind=QueryText.EXPRESSION, repeatable=False)


@pytest.mark.parametrize("text", UNREPEATABLE)
def test_what_gives_something_else_each_time_is_refused_where_it_has_to_be_the_same(
    queries: SparkQueries, text: str
) -> None:
    column, condition = "SELECT {} AS x FROM records", "SELECT 1 AS x FROM records WHERE {} IS NOT NULL"
    queries.check(text, kind=QueryText.EXPRESSION, repeatable=False)
    queries.check(column.format(text), kind=QueryText.ROWS, repeatable=False)
    for sql in (column.format(text), condition.format(text)):
        with pytest.raises(ConfigError, match="gives something else each time"):
            queries.check(sql, kind=QueryText.ROWS, repeatable=True)
    with pytest.raises(ConfigError, match="gives something else each time"):
        queries.check(text, kind=QueryText.EXPRESSION, repeatable=True)


@pytest.mark.parametrize("text", REPEATABLE)
def test_what_gives_the_same_each_time_passes(queries: SparkQueries, text: str) -> None:
    queries.check(text, kind=QueryText.EXPRESSION, repeatable=True)
    sql = "SELECT {}\n AS x, records.* FROM records"
    queries.check(sql.format(text), kind=QueryText.ROWS, repeatable=True)


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (
            QueryText.STATE,
            "SELECT window.start, count(*) AS n FROM a GROUP BY window(at, '1 minute') HAVING n > 1",
        ),
        (QueryText.STATE, "WITH b AS (SELECT DISTINCT id FROM a) SELECT b.id FROM b JOIN c ON b.id = c.id"),
        (QueryText.STATE, "SELECT id FROM a UNION ALL SELECT id FROM c"),
        (QueryText.COLUMNS, "id BIGINT, at TIMESTAMP, parts ARRAY<STRUCT<x: DOUBLE>>"),
    ],
)
def test_queries_with_state_and_columns_pass(queries: SparkQueries, kind: QueryText, text: str) -> None:
    queries.check(text, kind=kind, repeatable=True)


@pytest.mark.parametrize(
    ("kind", "text", "error"),
    [
        (QueryText.STATE, "DROP TABLE a", "DropTable is not allowed"),
        (QueryText.STATE, "SELECT * FROM range(10)", "UnresolvedTableValuedFunction is not allowed"),
        (QueryText.STATE, "SELECT reflect('a', 'b') FROM a", "reflect is not allowed"),
        (QueryText.STATE, "SELECT id, rand() FROM a", "something else each time"),
        (QueryText.STATE, "SELECT id FROM a WHERE id IN (SELECT id FROM c)", "is not allowed"),
        (QueryText.STATE, "SELECT (id FROM a", "PARSE_SYNTAX_ERROR"),
        (QueryText.COLUMNS, "id BIGINT, at TIMESTAMPP", "TIMESTAMPP"),
    ],
)
def test_other_texts_are_refused(queries: SparkQueries, kind: QueryText, text: str, error: str) -> None:
    with pytest.raises(ConfigError, match=error):
        queries.check(text, kind=kind, repeatable=True)


def test_each_row_tells_its_place_and_what_else_its_record_is_made_of(rows: DataFrame) -> None:
    query = RowQuery(
        "SELECT upper(word) AS word, at.x AS x FROM (SELECT *, id + 1 AS next FROM records) r WHERE next > 3",
        key="id -- the file's",
        topic="concat('t-', lower(word))",
        headers={"a b": "x * 2"},
    )
    assert selected(rows, query) == [
        {"word": f"W{id_}", "x": id_, PLACE: id_, KEY: id_, TOPIC: f"t-w{id_}", "__header_0": id_ * 2}
        for id_ in (3, 4, 5)
    ]


def test_the_hidden_column_of_files_is_there(rows: DataFrame) -> None:
    found = selected(rows, RowQuery(None, headers={"file": "_metadata.file_name"}))
    assert found == [{**row, PLACE: place, "__header_0": "rows.parquet"} for place, row in enumerate(ROWS)]


def test_a_star_is_every_column_of_the_file_and_none_of_the_engine(rows: DataFrame) -> None:
    for sql in (None, "SELECT * FROM records", "SELECT r.* FROM records r", "SELECT records.* FROM records"):
        assert selected(rows, RowQuery(sql, key="id")) == [
            {**row, PLACE: place, KEY: place} for place, row in enumerate(ROWS)
        ]
    (first, *_) = selected(rows, RowQuery("SELECT at.*, word FROM records"))
    assert first == {"x": 0, "word": "w0", PLACE: 0}


def test_a_place_that_the_rows_have_is_kept_and_lets_spark_skip_what_is_not_wanted(rows: DataFrame) -> None:
    numbered = rows.selectExpr("*", f"_metadata.row_index AS {PLACE}")
    found = RowQueries().select(numbered, RowQuery("SELECT id FROM records WHERE id >= 4"), repeatable=True)
    assert found.toArrow().to_pylist() == [{"id": 4, PLACE: 4}, {"id": 5, PLACE: 5}]
    plan = found._jdf.queryExecution().executedPlan().toString()
    assert "GreaterThanOrEqual(id,4)" in plan.partition("PushedFilters")[2]


def test_what_only_the_columns_show_is_refused_once_they_are_known(rows: DataFrame) -> None:
    with pytest.raises(PySparkException, match="nope"):
        selected(rows, RowQuery("SELECT nope FROM records"))
    with pytest.raises(ConfigError, match="a name of its own"):
        selected(rows, RowQuery("SELECT id, id FROM records"))
    with pytest.raises(ConfigError, match=r"topic\.expression gives the type bigint"):
        selected(rows, RowQuery(None, topic="id"))
    with pytest.raises(ConfigError, match="one row for a record"):
        selected(rows, RowQuery("SELECT explode(array(id)) AS x FROM records"))
    shuffled = RowQuery("SELECT shuffle(array(id, 1)) AS x FROM records")
    with pytest.raises(ConfigError, match="gives something else each time"):
        selected(rows, shuffled)
    assert len(selected(rows, shuffled, repeatable=False)) == len(ROWS)
