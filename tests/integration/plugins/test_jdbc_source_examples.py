"""The examples on the JDBC sources' pages, run as they are written but for addresses and logins."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from copycat_connect.data import SinkRecord, Struct
from copycat_connect.plugin import CONNECTORS, load_plugins
from copycat_jdbc.kip26.connector import JDBCSourceConnector
from copycat_json.converter import JsonConverter
from copycat_testkit.mariadb import MariaDb
from copycat_testkit.postgres import SECRET, USER, Postgres

from tests.integration.plugins.jdbc_reading import divided, read, started, values
from tests.integration.plugins.jdbc_tables import (
    TOPIC,
    Place,
    of_mariadb,
    of_postgres,
    of_sqlite,
    put,
)
from tests.integration.plugins.jdbc_tables import started as sink_started

EVERY_TABLE, SQLITE, JOIN = (
    dict(example) for example in load_plugins().find("JdbcSource", CONNECTORS).examples.values()
)
(SAMPLE,) = load_plugins().find("org.apache.kafka.copycat.JDBCSourceConnector", CONNECTORS).examples.values()


@pytest.fixture
def pg(postgres: Postgres) -> Place:
    found = of_postgres(postgres)
    found.run("DROP SCHEMA IF EXISTS public CASCADE", "CREATE SCHEMA public")
    return found


def example(written: Mapping[str, str], place: Place) -> dict[str, str]:
    """Return an example where address and login are those of a place."""
    return {**written, **place.config}


def test_new_rows_of_every_table_with_the_time_of_their_last_change(pg: Place) -> None:
    for name in ("orders", "customers"):
        pg.run(
            f"CREATE TABLE {name} (id serial PRIMARY KEY, updated_at timestamptz DEFAULT now())",
            f"INSERT INTO {name} DEFAULT VALUES",
        )
    (task_config,) = divided(example(EVERY_TABLE, pg))
    task = started(task_config)
    records = read(task, 2)
    task.stop()
    assert {record.topic for record in records} == {"shop-orders", "shop-customers"}
    assert values(records, "id") == [1, 1]


def test_one_table_of_sqlite(tmp_path: Path) -> None:
    place = of_sqlite(tmp_path / "shop.db")
    place.run("CREATE TABLE orders (id INTEGER PRIMARY KEY)", "INSERT INTO orders VALUES (1), (2)")
    (task_config,) = divided(example(SQLITE, place))
    task = started(task_config)
    records = read(task, 2)
    task.stop()
    assert [(record.topic, record.source_offset) for record in records] == [
        ("shop-orders", {"incrementing": 1}),
        ("shop-orders", {"incrementing": 2}),
    ]


def test_a_join(mariadb: MariaDb) -> None:
    place = of_mariadb(mariadb)
    place.run(
        "DROP TABLE IF EXISTS orders",
        "DROP TABLE IF EXISTS customers",
        "CREATE TABLE orders (id int NOT NULL, customer int)",
        "CREATE TABLE customers (id int, name varchar(20))",
        "INSERT INTO customers VALUES (1, 'Ada')",
        "INSERT INTO orders VALUES (7, 1)",
    )
    (task_config,) = divided(example(JOIN, place), 20)
    task = started(task_config)
    (record,) = read(task, 1)
    task.stop()
    assert isinstance(record.value, Struct)
    assert (record.topic, record.value.values) == ("orders-with-names", [7, "Ada"])


def test_the_sample_of_kip_26(pg: Place, postgres: Postgres) -> None:
    pg.run("CREATE TABLE some_table (id serial PRIMARY KEY)", "INSERT INTO some_table DEFAULT VALUES")
    url = f"{postgres.url()}?user={USER}&password={SECRET}"
    (task_config,) = divided({**SAMPLE, "jdbc.connection": url}, 20, JDBCSourceConnector())
    task = started(task_config)
    records = read(task, 1)
    task.stop()
    assert [(record.topic, record.source_offset) for record in records] == [
        ("my-database-some_table", {"incrementing": 1})
    ]


def test_a_wrong_key_of_the_sample_is_told_by_its_own_name() -> None:
    found = {
        value.name: value.errors
        for value in JDBCSourceConnector().validate({**SAMPLE, "jdbc.connection": "x"})
    }
    assert "jdbc.connection" in found["jdbc.connection"][0]
    assert [name for name, errors in found.items() if errors] == ["jdbc.connection"]
    assert not {"connection.url", "topic.prefix", "table.whitelist"} & {*found}


@pytest.mark.row("K26-06", "K26-15")
def test_the_schema_of_a_table_is_kept_through_json_into_another_table(pg: Place) -> None:
    columns = (
        "id bigint NOT NULL, small smallint, word text, price numeric(10,2), paid boolean NOT NULL, "
        "half double precision, made date, open time, at timestamp, raw bytea"
    )
    row = "7, 8, 'é', 12.30, true, 0.5, '2026-01-02', '03:04:05', '2026-01-02 03:04:05.678', '\\x00ff'"
    pg.run(f"CREATE TABLE things ({columns})", f"INSERT INTO things VALUES ({row})")  # noqa: S608  constants
    (task_config,) = divided({**pg.config, "mode": "bulk", "topic.prefix": "t-", "table.whitelist": "things"})
    task = started(task_config)
    (record,) = read(task, 1)
    task.stop()
    converter = JsonConverter()
    converter.configure({"schemas.enable": "true"})
    (data,) = converter.from_connect_batch(record.topic, record.value_schema, [record.value])
    arrived = converter.to_connect(record.topic, None, data)
    assert arrived.schema == record.value_schema

    sink, _ = sink_started(pg, table_name_format="copies")
    put(sink, [SinkRecord(TOPIC, 0, 0, None, arrived.value, value_schema=arrived.schema)])
    sink.stop()
    described = (
        "SELECT column_name, data_type, is_nullable FROM information_schema.columns "
        "WHERE table_name = '{}' AND column_name <> 'price' ORDER BY column_name"
    )
    assert pg.run(described.format("copies")) == pg.run(described.format("things"))
    assert pg.run("SELECT * FROM copies") == pg.run("SELECT * FROM things")
