"""Each type of a PostgreSQL column: what becomes of its values, written at once and one by one."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from typing import Any

import psutil
import psycopg
import pytest
from copycat_connect.data import SourceBatch
from copycat_connect.errors import DataError
from copycat_json.converter import JsonConverter
from copycat_testkit.kafka import wait_until
from copycat_testkit.postgres import Postgres

from tests.integration.plugins.jdbc_reading import config, divided, started
from tests.integration.plugins.jdbc_tables import of_postgres

NOON = 1709208000  # 2024-02-29 12:00:00 UTC
FOREVER, SINCE_EVER = 9223372036825200000, -9223372036832400000


@pytest.fixture(scope="module")
def database(postgres: Postgres) -> Iterator[psycopg.Connection]:
    with psycopg.connect(postgres.conninfo, autocommit=True, prepare_threshold=None) as connection:
        connection.execute("DROP SCHEMA IF EXISTS public CASCADE")
        connection.execute("CREATE SCHEMA public")
        connection.execute("CREATE TYPE mood AS ENUM ('glad', 'très gai')")
        yield connection


def batch_of(server: Postgres, **more: str) -> SourceBatch:
    """Return the first batch of what the keys choose."""
    (task_config,) = divided(config(of_postgres(server), mode="bulk", **more))
    task = started(task_config)
    try:
        return wait_until(task.poll, 60, "a batch")
    finally:
        task.stop()


def decimal(unscaled: int) -> str:
    size = (unscaled + (unscaled < 0)).bit_length() // 8 + 1
    return base64.b64encode(unscaled.to_bytes(size, "big", signed=True)).decode()


PROLEPTIC = {"date_calendar_system": "PROLEPTIC_GREGORIAN"}
BERLIN = {"db_timezone": "Europe/Berlin"}
GRANULARITY, NUMERIC = "timestamp_granularity", "numeric_mapping"
Case = tuple[str, list[str], list[Any], dict[str, str]]
TYPES: list[Case] = [
    ("smallint", ["-32768", "32767"], [-32768, 32767], {}),
    ("int", ["-2147483648", "2147483647"], [-2147483648, 2147483647], {}),
    ("bigint", ["-9223372036854775808", "9223372036854775807"], [-(1 << 63), (1 << 63) - 1], {}),
    ("real", ["0.1", "1e10", "NaN", "-Infinity"], [0.1, 1e10, "NaN", "-Infinity"], {}),
    ("double precision", ["0.1", "1e-7", "NaN", "Infinity"], [0.1, 1e-7, "NaN", "Infinity"], {}),
    ("boolean", ["true", "false"], [True, False], {}),
    ("bit", ["1", "0"], [True, False], {}),
    ("text", ["é😀\t\"\\\\n", ""], ["é😀\t\"\\\\n", ""], {}),
    ("varchar(9)", ["a  "], ["a  "], {}),
    ("char(3)", ["a"], ["a  "], {}),
    ("mood", ["glad", "très gai"], ["glad", "très gai"], {}),
    ("bytea", ["\\x00ff", "\\x"], ["AP8=", ""], {}),
    ("uuid", ["00000000-0000-0000-0000-00000000000A"], ["00000000-0000-0000-0000-00000000000a"], {}),
    ("json", ['{"b" : 1, "a":[]}'], ['{"b" : 1, "a":[]}'], {}),
    ("jsonb", ['{"b" : 1, "a":[]}'], ['{"a": [], "b": 1}'], {}),
    ("inet", ["10.0.0.1/8"], ["10.0.0.1/8"], {}),
    ("macaddr", ["08:00:2B:01:02:03"], ["08:00:2b:01:02:03"], {}),
    ("date", ["2024-02-29", "1969-12-31", "12024-01-01"], [19782, -1, 3672148], {}),
    ("date", ["1582-10-15", "1582-10-04", "1500-03-01"], [-141427, -141428, -171595], {}),
    ("date", ["1582-10-04", "1500-03-01"], [-141438, -171605], PROLEPTIC),
    ("timestamp", ["1582-10-04 12:00", "0044-03-15 12:00 BC"], [-12219336000000, -63517953600000], {}),
    ("timestamp", ["1582-10-04 12:00"], [-12220200000000], PROLEPTIC),
    ("time", ["12:34:56.789012", "00:00"], [45296789, 0], {}),
    ("timestamp", ["2024-02-29 12:00:00.123456"], [NOON * 1000 + 123], {}),
    ("timestamp", ["1969-12-31 23:59:59.9999"], [-1], {}),
    ("timestamp", ["infinity", "-infinity"], [FOREVER, SINCE_EVER], {}),
    ("timestamp", ["12024-02-29 12:00"], [317278728000000], {}),
    ("timestamp", ["2024-02-29 13:00", "2024-07-01 14:00"], [NOON * 1000, 1719835200000], BERLIN),
    ("timestamptz", ["2024-02-29 14:00+02", "infinity"], [NOON * 1000, FOREVER], BERLIN),
    ("timestamptz", ["2024-02-29 12:00:00.123456+00"], [NOON * 1000000 + 123456],
     {GRANULARITY: "micros_long"}),
    ("timestamp", ["2024-02-29 12:00:00.123456"], [f"{NOON}123456000"], {GRANULARITY: "nanos_string"}),
    ("timestamp", ["2024-02-29 12:00"], ["2024-02-29T12:00:00.000000"],
     {GRANULARITY: "micros_iso_datetime_string"}),
    ("numeric(10,2)", ["12.3", "-0.01"], [decimal(1230), decimal(-1)], {}),
    ("numeric(5)", ["-129"], [decimal(-129)], {}),
    ("numeric(5)", ["-129"], [-129], {NUMERIC: "precision_only"}),
    ("numeric(10,2)", ["12.3", "-0.01"], [12.3, -0.01], {NUMERIC: "best_fit"}),
    ("numeric(30,2)", ["12.3"], [decimal(1230)], {NUMERIC: "best_fit"}),
    ("numeric", ["1e-3", "NaN"], [0.001, "NaN"], {NUMERIC: "best_fit_eager_double"}),
]  # fmt: skip


@pytest.mark.parametrize("case", TYPES, ids=[f"{case[0]}-{place}" for place, case in enumerate(TYPES)])
def test_values_become_what_is_published_by_both_ways(
    postgres: Postgres, database: psycopg.Connection, case: Case
) -> None:
    type, given, expected, more = case
    database.execute("DROP TABLE IF EXISTS kinds")
    database.execute(f"CREATE TABLE kinds (n serial, v {type}, gone int[])")
    for value in (*given, None):
        database.execute("INSERT INTO kinds (v) VALUES (%s)", (value,))
    batch = batch_of(postgres, table_whitelist="kinds", **more)
    converter = JsonConverter()
    converter.configure({"schemas.enable": "false"})
    schema, values = batch.value_schema, batch.values

    at_once = converter.from_connect_batch("t", schema, values)

    assert at_once == [converter.from_connect("t", None, schema, value) for value in values]
    rows = [json.loads(each or b"") for each in at_once]
    assert [row["v"] for row in rows] == [*expected, None]
    assert rows[0].keys() == {"n", "v"}, "arrays have no counterpart"
    for value in values:
        value.validate()


@pytest.mark.parametrize(
    ("type", "value", "says"),
    [
        ("date", "infinity", "an infinite date"),
        ("time", "24:00", "24:00:00"),
        ("numeric(5,1)", "NaN", "NaN"),
        ("numeric", "0.5", "numeric.mapping"),
    ],
)
def test_a_value_without_counterpart_is_refused_with_its_column(
    postgres: Postgres, database: psycopg.Connection, type: str, value: str, says: str
) -> None:
    database.execute("DROP TABLE IF EXISTS kinds")
    database.execute(f"CREATE TABLE kinds (v {type})")
    database.execute("INSERT INTO kinds VALUES (%s)", (value,))
    with pytest.raises(DataError, match=f"Column v cannot be read: .*{says}"):
        batch_of(postgres, table_whitelist="kinds")


def test_an_enum_of_a_query_is_a_text_too(postgres: Postgres, database: psycopg.Connection) -> None:
    del database
    batch = batch_of(postgres, query="SELECT 'glad'::mood AS m, 1.5::numeric(4,1) AS n")
    assert [value.values[:1] for value in batch.values] == [["glad"]]


def test_memory_is_flat_however_large_the_table_is(postgres: Postgres, database: psycopg.Connection) -> None:
    rows, width = 200_000, 1_000
    database.execute("DROP TABLE IF EXISTS large")
    database.execute(
        f"CREATE TABLE large AS SELECT n AS id, repeat('x', {width}) AS pad "  # noqa: S608  constants
        f"FROM generate_series(1, {rows}) n"
    )
    process, seen, peak = psutil.Process(), 0, 0
    (task_config,) = divided(config(of_postgres(postgres), mode="bulk", table_whitelist="large"))
    task = started(task_config)
    before = process.memory_info().rss
    while seen < rows:
        seen += len(task.poll() or ())
        peak = max(peak, process.memory_info().rss)
    task.stop()
    database.execute("DROP TABLE large")
    assert peak - before < rows * width / 4
