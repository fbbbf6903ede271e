"""Each type of a PostgreSQL column: what becomes of its values, written at once and one by one."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator
from datetime import date, time
from decimal import Decimal
from typing import Any

import psutil
import psycopg
import pytest
from copycat_connect.data import SourceBatch, SourceRecord, UnreadableRecord
from copycat_connect.errors import ConnectError, DataError
from copycat_jdbc.source.task import JdbcSourceTask
from copycat_json.converter import JsonConverter
from copycat_testkit.conformance import FakeSourceContext
from copycat_testkit.kafka import wait_until
from copycat_testkit.mariadb import MariaDb
from copycat_testkit.postgres import Postgres

from tests.integration.plugins.jdbc_reading import config, divided, started
from tests.integration.plugins.jdbc_tables import of_mariadb, of_postgres

pytestmark = pytest.mark.long

NOON = 1709208000  # 2024-02-29 12:00:00 UTC
FOREVER, SINCE_EVER = 9223372036825200000, -9223372036832400000


@pytest.fixture(scope="module")
def database(postgres: Postgres) -> Iterator[psycopg.Connection]:
    with psycopg.connect(postgres.conninfo, autocommit=True, prepare_threshold=None) as connection:
        connection.execute("DROP SCHEMA IF EXISTS public CASCADE")
        connection.execute("CREATE SCHEMA public")
        connection.execute("CREATE TYPE mood AS ENUM ('glad', 'très gai')")
        connection.execute("CREATE TYPE pair AS (a int, b text)")
        connection.execute("CREATE DOMAIN whole AS int")
        connection.execute("CREATE DOMAIN positive AS whole CHECK (VALUE > 0)")
        connection.execute("CREATE DOMAIN cents AS numeric(9,2)")
        connection.execute("CREATE DOMAIN happy AS mood")
        yield connection


def batch_of(server: Postgres, **more: str) -> SourceBatch:
    """Return the first batch of what the keys choose; raises why a row of it cannot be read."""
    (task_config,) = divided(config(of_postgres(server), mode="bulk", **more))
    return first_of(started(task_config))


def first_of(task: JdbcSourceTask) -> SourceBatch:
    """Return the first batch of a task, and stop it; raises why a row of it cannot be read."""
    kept: list[SourceBatch | list[SourceRecord]] = []

    def has_read() -> bool:
        found = task.poll()
        if found is not None:
            kept.append(found)
        return bool(kept)

    try:
        wait_until(has_read, 60, "a batch")
    finally:
        task.stop()
    found = kept[0]
    if isinstance(found, SourceBatch):
        return found
    raise next(each.error for each in found if isinstance(each, UnreadableRecord))


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
    *(
        ("numeric", ["12.12", "1000000.5", "7", "1e-127", "1e40"],
         [decimal(1212 * 10**125), decimal(10000005 * 10**126), decimal(7 * 10**127), decimal(1),
          decimal(10**167)], {NUMERIC: mapping})
        for mapping in ("none", "precision_only", "best_fit")
    ),
    ("timetz", ["10:00+02", "01:00+02", "23:00:00.5-03:30", "00:00+00"],
     [28800000, 82800000, 9000500, 0], {}),
    ("positive", ["7"], [7], {}),
    ("cents", ["7.5"], [decimal(750)], {}),
    ("happy", ["glad"], ["glad"], {}),
    ("money", ["-0.01", "92233720368547758.07"], [decimal(-1), decimal(9223372036854775807)], {}),
    ("money", ["12.5"], [12.5], {NUMERIC: "best_fit_eager_double"}),
    ("xml", ["<a>é</a>"], ["<a>é</a>"], {}),
    ("oid", ["4294967295"], [4294967295], {}),
    ("interval", ["1 year 2 mons -3 days 04:05:06.7"], ["1 year 2 mons -3 days +04:05:06.7"], {}),
    ("point", ["(1,2.5)"], ["(1,2.5)"], {}),
    ("bit(3)", ["101"], ["101"], {}),
    ("varbit", ["10"], ["10"], {}),
    ("macaddr8", ["08:00:2b:01:02:03:04:05"], ["08:00:2b:01:02:03:04:05"], {}),
    ("int4range", ["[1,5)"], ["[1,5)"], {}),
    ("tsvector", ["a b"], ["'a' 'b'"], {}),
    ('"char"', ["x"], ["x"], {}),
    ("pg_lsn", ["16/B374D848"], ["16/B374D848"], {}),
    ("regclass", ["pg_class"], ["pg_class"], {}),
    ("xid", ["42"], ["42"], {}),
    ("jsonpath", ["$.a"], ['$."a"'], {}),
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
        ("timetz", "24:00+00", "24:00:00"),
        ("numeric", "1e-128", "numeric.mapping"),
        ("numeric", "NaN", "NaN"),
    ],
)
def test_a_value_without_counterpart_is_refused_with_its_column(
    postgres: Postgres, database: psycopg.Connection, type: str, value: str, says: str
) -> None:
    database.execute("DROP TABLE IF EXISTS kinds")
    database.execute(f"CREATE TABLE kinds (n serial, v {type})")
    database.execute("INSERT INTO kinds (v) VALUES (NULL), (%s)", (value,))
    where = "Column v of table public.kinds cannot be read in row 2 of the result"
    with pytest.raises(DataError, match=f"{where}: .*{says}"):
        batch_of(postgres, table_whitelist="kinds")
    (task_config,) = divided(config(of_postgres(postgres), mode="incrementing", table_whitelist="kinds"))
    with pytest.raises(DataError, match=f"{where} \\(number 2\\): .*{says}"):
        first_of(started(task_config))


def test_columns_without_a_counterpart_are_named_or_fail_the_task(
    postgres: Postgres, database: psycopg.Connection, caplog: pytest.LogCaptureFixture
) -> None:
    database.execute("DROP TABLE IF EXISTS kinds")
    database.execute("CREATE TABLE kinds (n serial, many int[], two pair, at point)")
    database.execute("INSERT INTO kinds (many) VALUES ('{1}')")
    (task_config,) = divided(config(of_postgres(postgres), mode="bulk", table_whitelist="kinds"))
    task, context = JdbcSourceTask(), FakeSourceContext(task_config)
    task.initialize(context)
    task.start(task_config)
    wait_until(task.poll, 60, "a batch")
    wait_until(task.poll, 60, "the next look")
    named = "columns of table public.kinds are left out, .*: many (integer[]), two (pair)."
    assert re.match(re.escape(named).replace(r"\.\*", ".*"), context.waits_for or "")
    assert len([each for each in caplog.records if "are left out" in each.message]) == 1
    database.execute("ALTER TABLE kinds DROP many, DROP two, ADD later int")
    fields = wait_until(
        lambda: [
            batch.value_schema
            for batch in [task.poll()]
            if isinstance(batch, SourceBatch) and not context.waits_for
        ],
        60,
        "none",
    )
    assert fields[0] is not None
    assert [field.name for field in fields[0].fields] == ["n", "at", "later"]
    task.stop()
    database.execute("ALTER TABLE kinds ADD two pair")
    with pytest.raises(ConnectError, match=r"two \(pair\).*unreadable.columns"):
        batch_of(postgres, table_whitelist="kinds", unreadable_columns="fail")


def test_a_query_has_no_digit_less_than_the_server(postgres: Postgres, database: psycopg.Connection) -> None:
    del database
    query = "SELECT avg(v), sum(v), 1::numeric / 3, 2.5::money FROM (VALUES (1.5), (2.25), (3)) t(v)"
    batch = batch_of(postgres, query=query.replace(" / 3,", " / 3 AS third,"))
    exact = ["2.25", "6.75", "0.33333333333333333333", "2.50"]
    assert [value.values for value in batch.values] == [[*map(Decimal, exact)]]


def test_an_enum_of_a_query_is_a_text_too(postgres: Postgres, database: psycopg.Connection) -> None:
    del database
    batch = batch_of(postgres, query="SELECT 'glad'::mood AS m, 1.5::numeric(4,1) AS n")
    assert [value.values[:1] for value in batch.values] == [["glad"]]


def of_mariadb_table(server: MariaDb, value: str, type: str, options: str = "") -> SourceBatch:
    """Return the row of a table with such a column, read by the connector."""
    place = of_mariadb(server)
    place.run(
        "SET sql_mode = ''",
        "DROP TABLE IF EXISTS kinds",
        f"CREATE TABLE kinds (n int AUTO_INCREMENT PRIMARY KEY, v {type})",
        f"INSERT INTO kinds (v) VALUES ({value})",  # noqa: S608  constants
    )
    settings = config(place, mode="incrementing", table_whitelist="kinds")
    (task_config,) = divided({**settings, "connection.url": f"{settings['connection.url']}{options}"})
    return first_of(started(task_config))


@pytest.mark.parametrize(
    ("type", "value", "expected", "options"),
    [
        ("year", "2155", 2155, ""),
        ("inet6", "'::1'", "::1", ""),
        ("inet4", "'10.0.0.1'", "10.0.0.1", ""),
        ("point", "PointFromText('POINT(1 2)')", b"\0\0\0\0\1\1", ""),
        ("time", "'23:59:59'", time(23, 59, 59), ""),
        ("datetime NOT NULL", "'0000-00-00'", None, "?zeroDateTimeBehavior=convertToNull"),
        ("date", "'0000-00-00'", None, "?zeroDateTimeBehavior=CONVERT_TO_NULL"),
        ("date", "'9999-12-31'", date(9999, 12, 31), ""),
    ],
)
def test_values_of_mariadb_are_read(
    mariadb: MariaDb, type: str, value: str, expected: Any, options: str
) -> None:
    (found,) = of_mariadb_table(mariadb, value, type, options).values
    found.validate()
    read = found.values[1]
    assert read[:6] == expected if isinstance(expected, bytes) else read == expected


UNSIGNED = {
    "tinyint unsigned": (255, "int16"),
    "smallint unsigned": (65535, "int32"),
    "mediumint unsigned": (16777215, "int32"),
    "int unsigned": (4294967295, "int64"),
    "bigint unsigned": ((1 << 63) - 1, "int64"),
    "bit(1)": (1, "int8"),
    "bit(7)": (127, "int8"),
    "decimal(18)": (-(10**17), "int64"),
    "decimal(18) unsigned": (10**17, "int64"),
    "decimal(4,1)": (Decimal("-12.5"), "bytes"),
}


def test_a_query_of_mariadb_has_the_types_of_its_table(mariadb: MariaDb) -> None:
    place = of_mariadb(mariadb)
    columns = {f"c{number}": type for number, type in enumerate(UNSIGNED)}
    place.run(
        "DROP TABLE IF EXISTS kinds",
        f"CREATE TABLE kinds ({', '.join(f'{name} {type} NOT NULL' for name, type in columns.items())})",
        f"INSERT INTO kinds VALUES ({', '.join(str(number) for number, _ in UNSIGNED.values())})",  # noqa: S608
    )
    for source in ({"table_whitelist": "kinds"}, {"query": "SELECT * FROM kinds"}):
        settings = config(place, mode="bulk", numeric_mapping="precision_only", **source)
        batch = first_of(started(divided(settings)[0]))
        (found,) = batch.values
        found.validate()
        assert found.values == [number for number, _ in UNSIGNED.values()]
        types = [field.schema.type.value for field in found.schema.fields]
        assert types == [type for _, type in UNSIGNED.values()], source


@pytest.mark.parametrize(("type", "value"), [("bigint unsigned", 1 << 63), ("bit(8)", 128)])
def test_a_number_that_its_type_cannot_hold_is_named(mariadb: MariaDb, type: str, value: int) -> None:
    with pytest.raises(DataError, match=f"Column v of table shop.kinds .*: {value} is more than an INT"):
        of_mariadb_table(mariadb, str(value), type)
    settings = config(of_mariadb(mariadb), mode="bulk", query="SELECT v FROM kinds")
    with pytest.raises(DataError, match=f"Column v of the query .* in row 1 .*: {value} is more than an INT"):
        first_of(started(divided(settings)[0]))


@pytest.mark.parametrize(
    ("type", "value", "says"),
    [
        ("time", "'-794:59:59'", "-794:59:59 is no time of a day"),
        ("time", "'24:00:00'", "24:00:00 is no time of a day"),
        ("date", "'0000-00-00'", "0000-00-00 is no day of a calendar; set zeroDateTimeBehavior"),
        (
            "timestamp",
            "'0000-00-00'",
            "0000-00-00 00:00:00 is no day of a calendar; set zeroDate",
        ),
        ("datetime", "'2024-00-15'", "2024-00-15 00:00:00 is no day of a calendar"),
    ],
)
def test_values_of_mariadb_without_counterpart_are_refused(
    mariadb: MariaDb, type: str, value: str, says: str
) -> None:
    where = r"Column v of table shop.kinds cannot be read in row 1 of the result \(number 1\): "
    with pytest.raises(DataError, match=where + says):
        of_mariadb_table(mariadb, value, type)


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
