"""Spark sessions of one process, and queries over records: what they may be and give, how they fail."""

from __future__ import annotations

import os
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import pyarrow as pa
import pytest
from copycat_connect.errors import ConfigError, DataError
from copycat_executor.spark.queries import CONF, SparkQueries
from copycat_executor.spark.session import start_spark
from copycat_executor.spark.worker import idle

pytestmark = [pytest.mark.timeout(240), pytest.mark.long]


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of temporary files for this test alone."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def test_a_process_may_start_spark_again_after_it_stopped_or_was_killed(
    temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYSPARK_PYTHON", "/of/another/program")
    for how in ("killed", "stopped"):
        spark = start_spark({"spark.master": "local[2]"})
        codes: SimpleQueue[int] = SimpleQueue()
        spark.jvm.when_ended(codes.put)
        try:
            found = spark.context.parallelize(["spec"], 1).mapPartitions(idle).collect()
            (scratch,) = temporary.iterdir()
            inside = {each.name.partition("-")[0] for each in scratch.iterdir()}
            if how == "killed":
                os.kill(spark.jvm.pid, signal.SIGKILL)
                codes.get(timeout=60)
                assert list(temporary.iterdir()) == [], "all that a killed JVM leaves goes at once"
        finally:
            spark.stop()
        assert found == ["spec"]
        assert {"blockmgr", "spark"} <= inside, "Spark keeps its files in our folder and nowhere else"
        assert list(temporary.iterdir()) == []
    left = {name: value for name, value in os.environ.items() if name.startswith("PYSPARK_")}
    assert left == {"PYSPARK_PYTHON": "/of/another/program"}, "later programs must not meet ours"


COLUMNS = "value STRUCT<id: BIGINT, name: STRING, price: DECIMAL(9,2), tags: ARRAY<STRING>>, topic STRING"
VALUES = pa.struct(
    [
        ("id", pa.int64()),
        ("name", pa.string()),
        ("price", pa.decimal128(38, 2)),
        ("tags", pa.list_(pa.string())),
    ]
)
ONE_SELECT = "a query is one SELECT over records"
REFUSED = {
    "SELEC value FROM records": r"\[PARSE_SYNTAX_ERROR\] Syntax error at or near 'SELEC'",
    "SELECT value.id FROM records; SELECT 1": "PARSE_SYNTAX_ERROR",
    "SELECT nope FROM records": r"`nope` cannot be resolved. .*following\? \[`\w+`, `\w+`\]",
    "SELECT nofn(value.id) AS x FROM records": "UNRESOLVED_ROUTINE",
    "SELECT 1/0 AS x FROM records": "DIVIDE_BY_ZERO",
    "SELECT 1 AS x": ONE_SELECT,
    "SELECT value.id FROM records ORDER BY 1": ONE_SELECT,
    "SELECT value.id FROM records LIMIT 1": ONE_SELECT,
    "SELECT DISTINCT value.id FROM records": ONE_SELECT,
    "SELECT a.topic FROM records a JOIN records b": ONE_SELECT,
    "SELECT topic FROM records UNION ALL SELECT topic FROM records": ONE_SELECT,
    "WITH r AS (SELECT topic FROM records) SELECT topic FROM r": ONE_SELECT,
    "DROP VIEW records": ONE_SELECT,
    "SET spark.sql.runSQLOnFiles=true": ONE_SELECT,
    "SELECT value FROM text.`/etc/passwd`": "There is no table",
    "SELECT topic FROM records WHERE topic IN (SELECT topic FROM records)": "ListQuery is not allowed",
    "SELECT (SELECT 1) AS x FROM records": "ScalarSubquery is not allowed",
    "SELECT count(*) AS n FROM records": "Aggregates work across records",
    "SELECT row_number() OVER (ORDER BY topic) AS n FROM records": "Window works across records",
    "SELECT explode(value.tags) AS tag FROM records": "gives one row for a record, or none",
    "SELECT rand() AS r FROM records": "gives something else each time",
    "SELECT topic FROM records WHERE uuid() > 'a'": "gives something else each time",
    "SELECT now() AS t FROM records": "gives something else each time",
    "SELECT reflect('java.lang.System', 'exit') AS x FROM records": "reflect is not allowed",
    "SELECT java_method('java.lang.System', 'exit') AS x FROM records": "java_method is not allowed",
    "SELECT IDENTIFIER('reflect')('java.lang.System', 'exit') AS x FROM records": "is not allowed",
    "SELECT * FROM records": r"value\.\* stands for the fields of the value",
    "SELECT r.* FROM records r": "a name of its own",
    "SELECT value.id, value.id FROM records": "a name of its own",
    "SELECT __place FROM records": "__place is the engine's own column",
}


@pytest.fixture(scope="module")
def queries() -> Iterator[SparkQueries]:
    spark = start_spark(CONF)
    yield SparkQueries(spark.session)
    spark.stop()


def run(queries: SparkQueries, sql: str, *values: dict[str, Any]) -> list[dict[str, Any]]:
    table = pa.table({"value": pa.array(values, VALUES), "topic": pa.array(["t"] * len(values), pa.string())})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    answer = queries.run(sql, COLUMNS, bytes(sink.getvalue()))
    rows: list[dict[str, Any]] = pa.ipc.open_stream(answer).read_all().to_pylist()
    return rows


@pytest.mark.parametrize("sql", REFUSED)
def test_what_is_no_query_of_one_record_is_refused(queries: SparkQueries, sql: str) -> None:
    with pytest.raises(ConfigError, match=REFUSED[sql]):
        queries.prepare(sql, COLUMNS)


@pytest.mark.parametrize(
    ("sql", "schema"),
    [
        (
            "SELECT value.id, upper(value.name) AS big, 1 AS one FROM records",
            "id BIGINT,big STRING,one INT NOT NULL",
        ),
        ("SELECT value.* FROM records", "id BIGINT,name STRING,price DECIMAL(9,2),tags ARRAY<STRING>"),
        ("SELECT value.price * 2 AS twice FROM records", "twice DECIMAL(11,2)"),
        (
            "SELECT topic, named_struct('n', value.id) AS value FROM records",
            "topic STRING,value STRUCT<n: BIGINT> NOT NULL",
        ),
    ],
)
def test_spark_says_what_a_query_gives(queries: SparkQueries, sql: str, schema: str) -> None:
    assert queries.prepare(sql, COLUMNS) == schema


def test_each_row_tells_the_place_of_its_record_through_every_select(queries: SparkQueries) -> None:
    sql = (
        "SELECT r.n AS name FROM (SELECT value.name AS n, value.id AS id FROM records WHERE topic = 't') r "
        "WHERE id > 1"
    )
    found = run(queries, sql, *({"id": number, "name": f"n{number}"} for number in (3, 1, 2)))
    assert found == [{"name": "n3", "__place": 0}, {"name": "n2", "__place": 2}]


def test_a_batch_without_rows_is_one_with_their_columns(queries: SparkQueries) -> None:
    assert run(queries, "SELECT value.id FROM records WHERE value.id > 9", {"id": 1}) == []


def test_a_record_spark_cannot_compute_is_a_bad_record(queries: SparkQueries) -> None:
    with pytest.raises(DataError, match="CAST_INVALID_INPUT"):
        run(queries, "SELECT CAST(value.name AS INT) AS n FROM records", {"id": 1, "name": "x"})


def test_queries_do_not_see_each_others_records(queries: SparkQueries) -> None:
    other = queries.prepare("SELECT value AS v FROM records", "value STRING")
    assert other == "v STRING"
    assert run(queries, "SELECT value.id FROM records", {"id": 5}) == [{"id": 5, "__place": 0}]
