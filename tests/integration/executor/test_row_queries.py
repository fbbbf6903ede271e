"""Queries over rows that Spark reads: what they give, where each row was, what is refused."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from copycat_connect.errors import ConfigError
from copycat_connect.plugin.row_query import KEY, PLACE, TOPIC, QueryText, RowQuery, StateQuery
from copycat_executor.spark.queries import SparkQueries
from copycat_executor.spark.session import Spark
from copycat_executor.spark.unit_jobs import RowQueries
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
    "SELECT count(*) AS n FROM records GROUP BY id": r"with state\.url SparkQuery also groups",
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
#: Queries that join a table {n, name} with the rows 1, 3, 4 and 9, and what they give.
JOINS = {
    "id, name FROM records LEFT JOIN words ON id = n": [
        (0, None), (1, "one"), (2, None), (3, "three"), (4, "four"), (5, None),
    ],
    "r.*, w.name FROM records r JOIN words w ON r.id = w.n WHERE r.id > 3": [(4, "w4", {"x": 4}, "four")],
    "id FROM records JOIN (SELECT n AS id FROM words) USING (id)": [(1,), (3,), (4,)],
    "id FROM records LEFT ANTI JOIN words ON id = n": [(0,), (2,), (5,)],
    "id, most FROM records, (SELECT max(n) AS most FROM words) WHERE id < 2": [(0, 9), (1, 9)],
    "id, m FROM records JOIN (SELECT n % 3 AS k, max(name) AS m FROM words GROUP BY 1) w ON id = k": [
        (0, "three"), (1, "one"),
    ],
}  # fmt: skip
REFUSED_JOINS = {
    "id FROM records FULL JOIN words ON id = n": "This FULL OUTER JOIN does not give one row for each",
    "id FROM words JOIN records ON id = n": "This INNER JOIN does not give .* write records first",
    "a.id FROM records a JOIN records b ON a.id = b.id": "This INNER JOIN does not give one row",
    "id FROM records NATURAL JOIN words": "This NATURAL INNER JOIN does not give one row",
    "id FROM records JOIN others ON id = n": "There is no table others; there are records, words",
    "id FROM records JOIN words ON id = n GROUP BY id": "Aggregate is not allowed: a query is one SELECT",
    "id FROM records JOIN (SELECT rand() AS n FROM words) w ON id = n": "gives something else each time",
    "id FROM records JOIN (SELECT n FROM words ORDER BY n) w ON id = n": "Sort is not allowed: a query is a",
}
NO_EXPRESSION = {
    "id,": "PARSE_SYNTAX_ERROR",
    "id AS x": "It is not one expression",
    "*": "It is not one expression",
    "id FROM records": "PARSE_SYNTAX_ERROR",
    "(SELECT 1)": "ScalarSubquery is not allowed",
    "java_method('java.lang.System', 'exit')": "java_method is not allowed",
    "": "PARSE",
}


#: What a query with state reads: a topic with times, another, and a table whose columns nobody knows.
COUNTED = StateQuery({"a": "id BIGINT, at TIMESTAMP", "c-d": "id BIGINT, word STRING"}, "append")
TIMED = replace(COUNTED, watermark="at")
UPDATED = replace(COUNTED, mode="update")
GIVEN = replace(UPDATED, sql="SELECT id, count(*) AS n FROM a GROUP BY id")
PLANNED = [
    (
        TIMED,
        QueryText.STATE,
        "SELECT window.start AS s, count(*) AS n FROM a GROUP BY window(at, '1 minute')",
    ),
    (UPDATED, QueryText.STATE, "SELECT id, count(*) AS n FROM a GROUP BY id"),
    (
        TIMED,
        QueryText.STATE,
        "WITH b AS (SELECT id, at FROM a) SELECT b.id FROM b JOIN `c-d` c ON b.id = c.id",
    ),
    (COUNTED, QueryText.STATE, "SELECT words.any FROM a LEFT JOIN words ON a.id = words.n"),
    (COUNTED, QueryText.STATE, "SELECT a.id FROM a JOIN (SELECT max(n) AS n FROM words) w ON a.id = w.n"),
    (TIMED, QueryText.WATERMARK, "at"),
    (GIVEN, QueryText.EXPRESSION, "n + id -- both"),
    (replace(GIVEN, sql="SELECT * FROM a JOIN words ON id = n"), QueryText.EXPRESSION, "any"),
    (None, QueryText.INTERVAL, "10 seconds"),
    (None, QueryText.INTERVAL, "INTERVAL 1 DAY 12 HOURS"),
]
UNPLANNED = [
    (COUNTED, QueryText.STATE, GIVEN.sql, "set watermark.column to a TIMESTAMP and GROUP BY it"),
    (TIMED, QueryText.STATE, GIVEN.sql, "set watermark.column to a TIMESTAMP and GROUP BY it"),
    (COUNTED, QueryText.STATE, "SELECT DISTINCT a.id FROM a JOIN words ON id = n", "set watermark.column"),
    (UPDATED, QueryText.STATE, "SELECT a.nope FROM a", "`a`.`nope` cannot be resolved"),
    (UPDATED, QueryText.STATE, "SELECT id, count(*) AS n FROM a", "MISSING_GROUP_BY"),
    (UPDATED, QueryText.STATE, "SELECT id FROM orders", "There is no table orders; there are a, c-d, words"),
    (COUNTED, QueryText.STATE, "SELECT a.id FROM a LEFT JOIN `c-d` c ON a.id = c.id", "without a watermark"),
    (UPDATED, QueryText.STATE, "WITH b AS (SELECT reflect('a', 'b') AS r FROM a) SELECT r FROM b", "reflect"),
    (replace(TIMED, watermark="id"), QueryText.WATERMARK, "id", "The column id is no TIMESTAMP"),
    (replace(TIMED, watermark="t"), QueryText.WATERMARK, "t", "input.columns has no column t"),
    (GIVEN, QueryText.EXPRESSION, "at", "`at` cannot be resolved"),
    (None, QueryText.INTERVAL, "5 bananas", "no interval; write numbers with their units, e.g. 30 seconds"),
    (None, QueryText.INTERVAL, "-5 minutes", "below zero; write numbers with their units"),
]


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


def test_spark_looks_for_data_sources_with_the_python_of_this_process(spark: Spark) -> None:
    jvm: Any = spark.context._jvm
    utils = getattr(jvm.org.apache.spark.api.python, "PythonUtils$")
    assert getattr(utils, "MODULE$").defaultPythonExec() == sys.executable


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


@pytest.mark.parametrize(("sql", "expected"), JOINS.items())
def test_tables_are_joined_to_records_which_keep_their_order(
    queries: SparkQueries, spark: Spark, rows: DataFrame, sql: str, expected: list[tuple[Any, ...]]
) -> None:
    sql = f"SELECT {sql}"
    queries.check(sql, kind=QueryText.ROWS, repeatable=True, tables=["words"])
    words = spark.session.createDataFrame(
        [(1, "one"), (3, "three"), (4, "four"), (9, None)], "n INT, name STRING"
    )
    words.createOrReplaceTempView("words")
    query = RowQuery(sql, key="id", tables=("words",))
    found = selected(rows, query)
    assert [tuple(row.values())[:-2] for row in found] == expected
    assert [row[PLACE] for row in found] == [row[KEY] for row in found]


@pytest.mark.parametrize("sql", REFUSED_JOINS)
def test_joins_that_give_no_single_row_for_a_record_are_refused(queries: SparkQueries, sql: str) -> None:
    with pytest.raises(ConfigError, match=REFUSED_JOINS[sql]):
        queries.check(f"SELECT {sql}", kind=QueryText.ROWS, repeatable=True, tables=["words"])


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


@pytest.mark.parametrize(("state", "kind", "text"), PLANNED)
def test_queries_with_state_that_spark_can_run_pass(
    queries: SparkQueries, state: StateQuery | None, kind: QueryText, text: str
) -> None:
    queries.check(text, kind=kind, repeatable=True, tables=["words"], state=state)


@pytest.mark.parametrize(("state", "kind", "text", "error"), UNPLANNED)
def test_queries_with_state_that_spark_cannot_run_are_refused_before_they_run(
    queries: SparkQueries, state: StateQuery | None, kind: QueryText, text: str, error: str
) -> None:
    with pytest.raises(ConfigError, match=error):
        queries.check(text, kind=kind, repeatable=True, tables=["words"], state=state)


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
    with pytest.raises(ConfigError, match=r"Spark refuses the query: .*nope"):
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
