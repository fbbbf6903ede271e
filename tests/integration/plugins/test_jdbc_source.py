"""The JDBC source on a real PostgreSQL."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from datetime import UTC, date, datetime, time
from decimal import Decimal

import psycopg
import pytest
from copycat_connect.data import Struct
from copycat_connect.errors import ConnectError, RetriableError
from copycat_jdbc.source.connector import JdbcSourceConnector
from copycat_testkit.conformance import FakeConnectorContext
from copycat_testkit.kafka import wait_until
from copycat_testkit.postgres import SECRET, Postgres

from tests.integration.plugins import jdbc_reading as reading
from tests.integration.plugins.jdbc_reading import divided, read, started, values
from tests.integration.plugins.jdbc_tables import of_postgres

(REAL,) = struct.unpack("f", struct.pack("f", 0.1))
"""What 32 bits hold of 0.1."""


@pytest.fixture
def server(postgres: Postgres) -> Postgres:
    return postgres


@pytest.fixture
def database(server: Postgres) -> Iterator[psycopg.Connection]:
    with psycopg.connect(server.conninfo, autocommit=True) as connection:
        connection.execute("DROP SCHEMA IF EXISTS public CASCADE")
        connection.execute("CREATE SCHEMA public")
        yield connection


def config(server: Postgres, **more: str) -> dict[str, str]:
    return reading.config(of_postgres(server), topic_prefix="pg-", **more)


def test_every_type_of_a_column_has_the_published_schema(
    server: Postgres, database: psycopg.Connection
) -> None:
    database.execute(
        "CREATE TABLE kinds (a smallint NOT NULL, b int, c bigint, d real, e double precision, "
        "f numeric(10,2) NOT NULL, g boolean, h text, i varchar(9), j char(3), k bytea, l date, m time, "
        "n timestamp, o timestamptz, p uuid, q jsonb, r int[])"
    )
    database.execute(
        "INSERT INTO kinds VALUES (1, 2, 3, 0.1, 0.2, 12.30, true, 'é😀', 'v', 'c', '\\x00ff', '2024-02-29', "
        "'12:34:56.789', '2024-02-29 12:00:00.123456', '2024-02-29 12:00:00.123+02', "
        "'00000000-0000-0000-0000-000000000001', '{\"x\": 1}', '{1,2}')"
    )
    database.execute("INSERT INTO kinds (a, f) VALUES (1, 0)")
    (task_config,) = divided(config(server, mode="bulk", db_timezone="Europe/Berlin"))

    full, empty = read(started(task_config), 2)

    assert (full.topic, full.source_partition, full.source_offset) == ("pg-kinds", {"table": "kinds"}, None)
    assert isinstance(full.value, Struct)
    assert full.value.schema.name == "kinds"
    schemas = {field.name: field.schema for field in full.value.schema.fields}
    kinds = {name: (each.type.value, (each.name or "").rpartition(".")[2]) for name, each in schemas.items()}
    assert kinds == {
        "a": ("int16", ""), "b": ("int32", ""), "c": ("int64", ""),
        "d": ("float32", ""), "e": ("float64", ""), "f": ("bytes", "Decimal"),
        "g": ("boolean", ""), "h": ("string", ""), "i": ("string", ""), "j": ("string", ""),
        "k": ("bytes", ""), "l": ("int32", "Date"), "m": ("int32", "Time"),
        "n": ("int64", "Timestamp"), "o": ("int64", "Timestamp"), "p": ("string", ""), "q": ("string", ""),
    }  # fmt: skip
    assert [name for name, schema in schemas.items() if not schema.optional] == ["a", "f"]
    assert schemas["f"].parameters == {"scale": "2", "connect.decimal.precision": "10"}
    assert full.value.values == [
        1, 2, 3, REAL, 0.2, Decimal("12.30"), True, "é😀", "v", "c  ", b"\x00\xff", date(2024, 2, 29),
        time(12, 34, 56, 789000), datetime(2024, 2, 29, 11, 0, 0, 123456, UTC),
        datetime(2024, 2, 29, 10, 0, 0, 123000, UTC), "00000000-0000-0000-0000-000000000001", '{"x": 1}',
    ]  # fmt: skip
    assert isinstance(empty.value, Struct)
    assert empty.value.values == [1, *[None] * 4, Decimal("0.00"), *[None] * 11]
    full.value.validate()
    empty.value.validate()


def test_offsets_have_the_published_form_and_stored_ones_go_on(
    server: Postgres, database: psycopg.Connection
) -> None:
    database.execute("CREATE TABLE rows (id serial NOT NULL, at timestamp(6) NOT NULL)")
    database.execute(
        "INSERT INTO rows (at) SELECT '2024-01-01 00:00:00.000250'::timestamp FROM generate_series(1, 4)"
    )
    (task_config,) = divided(config(server, mode="timestamp+incrementing", timestamp_column_name="at"))

    records = read(started(task_config), 4)

    assert records[1].source_partition == {"protocol": "1", "table": "public.rows"}
    offset = {"incrementing": 2, "timestamp": 1704067200000, "timestamp_nanos": 250000}
    assert records[1].source_offset == offset
    for partition in (
        {"protocol": "1", "table": "public.rows"},
        {"protocol": "1", "table": "postgres.public.rows"},
        {"table": "rows"},
    ):
        assert values(read(started(task_config, (partition, offset)), 2), "id") == [3, 4]


def test_rows_with_one_timestamp_share_the_offset_before_it_until_the_last(
    server: Postgres, database: psycopg.Connection
) -> None:
    database.execute("CREATE TABLE rows (id int, at timestamptz NOT NULL)")
    database.execute(
        "INSERT INTO rows VALUES (1, 'epoch'::timestamptz + '1 s'), (2, 'epoch'::timestamptz + '2 s')"
    )
    database.execute("INSERT INTO rows SELECT 3, 'epoch'::timestamptz + '2 s'")
    (task_config,) = divided(config(server, mode="timestamp", timestamp_column_name="at", batch_max_rows="1"))
    records = read(started(task_config), 3)
    assert [record.source_offset for record in records] == [
        {"timestamp": 1000, "timestamp_nanos": 0},
        {"timestamp": 1000, "timestamp_nanos": 0},
        {"timestamp": 2000, "timestamp_nanos": 0},
    ]


def test_a_query_reads_on_by_its_incrementing_column(server: Postgres, database: psycopg.Connection) -> None:
    database.execute("CREATE TABLE rows (id int, word text, n numeric(4,1))")
    database.execute("INSERT INTO rows VALUES (1, '100%', 1.5), (2, 'b', 2.5)")
    query = "SELECT * FROM (SELECT id, word || '%' AS w, n FROM rows WHERE word LIKE '%') AS q"
    (task_config,) = divided(
        config(
            server,
            mode="incrementing",
            incrementing_column_name="id",
            query=query,
            numeric_mapping="best_fit",
        )
    )
    task = started(task_config)
    first = read(task, 2)
    database.execute("INSERT INTO rows VALUES (3, 'c', 3.5)")
    (third,) = read(task, 1)
    assert [record.value.values for record in (*first, third)] == [
        [1, "100%%", 1.5], [2, "b%", 2.5], [3, "c%", 3.5],
    ]  # fmt: skip
    assert (third.topic, third.source_partition, third.source_offset) == (
        "pg-", {"query": "query"}, {"incrementing": 3},
    )  # fmt: skip
    assert third.value_schema is not None
    assert third.value_schema.name is None


@pytest.mark.row("K26-17", "K26-22", "K26-62")
def test_tables_that_come_and_go_divide_the_tasks_anew(
    server: Postgres, database: psycopg.Connection
) -> None:
    engine, connector = FakeConnectorContext(), JdbcSourceConnector()
    connector.initialize(engine)
    connector.start(config(server, mode="bulk", table_poll_interval_ms="20"))
    assert [json.loads(each["tables"]) for each in connector.task_configs(2)] == [[]]
    for number in range(3):
        database.execute(f"CREATE TABLE t{number} (id int)")
    wait_until(
        lambda: (
            [json.loads(each["tables"]) for each in connector.task_configs(2)]
            == [[[None, "public", "t0"], [None, "public", "t1"]], [[None, "public", "t2"]]]
        ),
        60,
        "two groups",
    )
    asked = engine.reconfigurations
    assert asked > 0
    database.execute("DROP TABLE t1")
    wait_until(lambda: engine.reconfigurations > asked, 60, "another division")
    groups = [json.loads(each["tables"]) for each in connector.task_configs(2)]
    assert groups == [[[None, "public", "t0"]], [[None, "public", "t2"]]]
    assert engine.errors == []
    connector.stop()


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        (
            {"incrementing_column_name": "nothing"},
            "Incrementing column: nothing does not exist in table 'public.rows'",
        ),
        (
            {"incrementing_column_name": "maybe"},
            "Cannot make incremental queries using incrementing column maybe on public.rows because this "
            "column is nullable.",
        ),
        ({"connection_password": "wrong-9c1"}, "connection.password"),
    ],
)
def test_what_cannot_work_fails_the_task_and_says_why(
    server: Postgres, database: psycopg.Connection, changes: dict[str, str], says: str
) -> None:
    database.execute("CREATE TABLE rows (id int NOT NULL, maybe int)")
    (task_config,) = divided(config(server, mode="incrementing", incrementing_column_name="id"))
    task = started({**task_config, **{key.replace("_", "."): value for key, value in changes.items()}})
    with pytest.raises(ConnectError, match=says) as raised:
        read(task, 1)
    assert not isinstance(raised.value, RetriableError)
    assert SECRET not in raised.value.message
    assert "wrong-9c1" not in raised.value.message


@pytest.mark.long
def test_a_restart_of_the_server_in_the_middle_of_a_result_loses_and_repeats_nothing(
    server: Postgres, database: psycopg.Connection
) -> None:
    database.execute("CREATE TABLE rows (id int NOT NULL, pad text)")
    database.execute("INSERT INTO rows SELECT n, repeat('x', 100) FROM generate_series(1, 20000) n")
    (task_config,) = divided(
        config(server, mode="incrementing", incrementing_column_name="id", batch_max_rows="500")
    )
    task = started(task_config)
    seen = values(read(task, 500), "id")
    server.stop()
    away = []

    def fails() -> bool:
        try:
            seen.extend(values([*(task.poll() or ())], "id"))
        except RetriableError as error:
            away.append(error.message)
        return bool(away)

    wait_until(fails, 60, "the task notices")
    assert SECRET not in away[0]
    server.start()

    def all_there() -> bool:
        try:
            seen.extend(values([*(task.poll() or ())], "id"))
        except RetriableError:
            return False
        return len(seen) >= 20000

    wait_until(all_there, 60, "all rows")
    task.stop()
    assert seen == [*range(1, 20001)]


def test_patterns_and_kinds_choose_schemas_and_relations(
    server: Postgres, database: psycopg.Connection
) -> None:
    for schema in ("sales_de", "sales_fr", "stock"):
        database.execute(f"DROP SCHEMA IF EXISTS {schema} CASCADE")
        database.execute(f"CREATE SCHEMA {schema}")
        database.execute(f"CREATE TABLE {schema}.of_{schema} (id int, day date) PARTITION BY LIST (day)")
        database.execute(f"CREATE TABLE {schema}.{schema}_one PARTITION OF {schema}.of_{schema} DEFAULT")
        database.execute(f"CREATE VIEW {schema}.{schema}_seen AS SELECT 1 AS one")

    def names(**keys: str) -> list[str]:
        (only,) = divided(config(server, mode="bulk", **keys))
        return [name for _, _, name in json.loads(only["tables"])]

    assert names(schema_pattern="sales%") == ["sales_de_one", "sales_fr_one"]
    assert names(schema_pattern="stoc_", table_types="VIEW,PARTITIONED TABLE") == ["of_stock", "stock_seen"]
    assert names(schema_pattern="st%", catalog_pattern="postgre_") == ["stock_one"]
    assert names(catalog_pattern="other") == []
    assert names(table_include_list=r"(postgres\.)?stock\..*") == ["stock_one"]
    for schema in ("sales_de", "sales_fr", "stock"):
        database.execute(f"DROP SCHEMA {schema} CASCADE")
