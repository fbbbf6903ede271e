"""KIP-26's picture of a pipeline, whole: a database, Kafka, and HDFS, with a connector at each end.

Types go from the columns of PostgreSQL to those of Parquet, a table that appears later comes along by itself,
and the database restarts in between.
"""

from __future__ import annotations

import datetime
import decimal
import io
from typing import Any

import httpx2
import psycopg
import pyarrow as pa
import pytest
from copycat_testkit.hdfs import Hdfs
from copycat_testkit.kafka import unique, wait_until
from copycat_testkit.postgres import SECRET, USER, Postgres
from copycat_testkit.system import CopycatUp
from pyarrow import parquet

from tests.integration.stores.sinks import place_in_hdfs, store_at

pytestmark = [pytest.mark.timeout(300), pytest.mark.long]

ORDERS = 500
CUSTOMERS = 200
FLUSH = 100
"""Records of a file."""


@pytest.mark.row("K26-66", "K26-67")
def test_tables_become_files_with_the_types_of_their_columns(
    system: CopycatUp, postgres: Postgres, hdfs: Hdfs
) -> None:
    name = unique("shop").replace("-", "_")  # also a schema in the database
    source = {
        "connector.class": "io.confluent.connect.jdbc.JdbcSourceConnector",
        "tasks.max": "2",
        "connection.url": postgres.url(),
        "connection.user": USER,
        "connection.password": SECRET,
        "schema.pattern": name,
        "mode": "incrementing",
        "topic.prefix": f"{name}-",
        "poll.interval.ms": "200",
        "table.poll.interval.ms": "1000",
        "numeric.mapping": "none",
        "delivery.guarantee": "exactly_once",
    }
    sink = {
        "connector.class": "io.confluent.connect.hdfs.HdfsSinkConnector",
        "tasks.max": "2",
        "topics.regex": f"{name}-.*",
        **place_in_hdfs(hdfs, "hdfs.url"),
        "format.class": "io.confluent.connect.hdfs.parquet.ParquetFormat",
        "flush.size": str(FLUSH),
        "consumer.override.metadata.max.age.ms": "1000",
    }
    store = store_at(sink)

    def rows_of(table: str) -> pa.Table | None:
        files = sorted(file.path for file in store.list(f"topics/{name}-{table}"))
        read = [parquet.read_table(io.BytesIO(store.read(path, 0, 1 << 24))) for path in files]
        return pa.concat_tables(read) if read else None

    def has_rows(table: str, count: int) -> bool:
        found = rows_of(table)
        return found is not None and len(found) >= count

    def connection() -> psycopg.Connection[tuple[Any, ...]]:
        return psycopg.connect(postgres.conninfo, autocommit=True, options=f"-c search_path={name}")

    with connection() as database:
        database.execute(f"CREATE SCHEMA {name}")
        database.execute(
            "CREATE TABLE orders (id bigserial PRIMARY KEY, amount numeric(10,2) NOT NULL, day date,"
            " at timestamp NOT NULL, paid boolean, rate double precision, note text, raw bytea)"
        )
        insert_orders(database)
    for kind, config in (("source", source), ("sink", sink)):
        answer = httpx2.put(f"{system.url}/connectors/{name}-{kind}/config", json=config, timeout=90)
        assert answer.status_code == 201, answer.text
    wait_until(lambda: has_rows("orders", ORDERS), 90, "the orders in files")

    postgres.stop()
    postgres.start()
    with connection() as database:
        database.execute("CREATE TABLE customers (id serial PRIMARY KEY, name text NOT NULL)")
        database.execute(
            "INSERT INTO customers (name) SELECT 'customer ' || n FROM generate_series(1, %s) n",
            (CUSTOMERS,),
        )
        insert_orders(database)
        wait_until(lambda: has_rows("orders", 2 * ORDERS), 90, "the orders after the restart")
        wait_until(lambda: has_rows("customers", CUSTOMERS), 90, "the table that came later")
        columns = "id, amount, day, at, paid, rate, note, raw"
        expected = database.execute(f"SELECT {columns} FROM orders ORDER BY id").fetchall()  # noqa: S608

    for kind in ("source", "sink"):
        httpx2.delete(f"{system.url}/connectors/{name}-{kind}", timeout=90).raise_for_status()
    orders, customers = rows_of("orders"), rows_of("customers")
    assert orders is not None
    assert customers is not None
    assert {field.name: (str(field.type), field.nullable) for field in orders.schema} == {
        "id": ("int64", False),
        "amount": ("decimal128(10, 2)", False),
        "day": ("date32[day]", True),
        "at": ("timestamp[ms, tz=UTC]", False),
        "paid": ("bool", True),
        "rate": ("double", True),
        "note": ("string", True),
        "raw": ("binary", True),
    }
    found = [tuple(row.values()) for row in orders.to_pylist()]
    assert found == [(*row[:3], row[3].replace(tzinfo=datetime.UTC), *row[4:]) for row in expected]
    assert isinstance(found[0][1], decimal.Decimal)
    assert customers.to_pylist() == [{"id": n, "name": f"customer {n}"} for n in range(1, CUSTOMERS + 1)]
    assert SECRET not in "".join(system.said)


def insert_orders(database: psycopg.Connection[tuple[Any, ...]]) -> None:
    """Add orders, of which every third has nothing where a column permits that."""
    database.execute(
        "INSERT INTO orders (amount, day, at, paid, rate, note, raw)"
        " SELECT n / 4.0, CASE WHEN mod(n, 3) > 0 THEN date '2026-01-01' + n END,"
        " timestamp '2026-01-01 12:00:00.125' + n * interval '1 minute',"
        " CASE WHEN mod(n, 3) > 0 THEN mod(n, 2) = 0 END, CASE WHEN mod(n, 3) > 0 THEN n / 7.0::float8 END,"
        " CASE WHEN mod(n, 3) > 0 THEN 'note é😀 ' || n END,"
        " CASE WHEN mod(n, 3) > 0 THEN decode('00ff', 'hex') END"
        " FROM generate_series(1, %s) n",
        (ORDERS,),
    )
