"""A table of a database into two tables of a lake, and a count for each minute of it into a topic."""

from __future__ import annotations

import json
from datetime import datetime
from decimal import Decimal
from typing import Any

import pytest
from copycat_testkit.kafka import unique, wait_until
from copycat_testkit.postgres import SECRET, USER, Postgres
from deltalake import DeltaTable
from pyiceberg.catalog import load_catalog

from tests.integration.plugins.jdbc_tables import of_postgres
from tests.integration.plugins.spark.lake import JSON, SECONDS, Lake

pytestmark = [pytest.mark.timeout(900), pytest.mark.long]

ROWS = 3000
MORE = 900
EXACTLY_ONCE = {"delivery.guarantee": "exactly_once", "tasks.max": "2"}
Row = tuple[int, str | None, Decimal, datetime]


class Orders:
    """A table of a database, what is made of it, and who makes it."""

    def __init__(self, lake: Lake, postgres: Postgres) -> None:
        self.lake, self.place = lake, of_postgres(postgres)
        self.name = name = unique("orders").replace("-", "_")
        self._delta = str(lake.folder / "delta")
        self._catalog = f"sqlite:///{lake.folder}/catalog"
        self.place.run(
            f"CREATE TABLE {name} "
            "(id bigint PRIMARY KEY, word text, price numeric(12,2), at timestamptz NOT NULL)"
        )
        sink = {"connector.class": "SparkSink", "topics": name, "commit.interval.ms": "500"}
        self.connectors: dict[str, dict[str, str]] = {
            name: {
                "connector.class": "SparkSource",
                "format": "jdbc",
                "spark.option.url": postgres.url(),
                "spark.option.driver": "org.postgresql.Driver",
                "spark.option.user": USER,
                "spark.option.password": SECRET,
                "spark.option.dbtable": name,
                "jdbc.partition.column": "id",
                "jdbc.follow": "true",
                "jdbc.unit.rows": "500",
                "key.expression": "id",
            },
            f"{name}_delta": {
                **sink,
                "prefix": "delta",
                "insert.mode": "upsert",
                "pk.mode": "record_value",
                "pk.fields": "id",
            },
            f"{name}_iceberg": {
                **sink,
                "prefix": "iceberg",
                "format": "iceberg",
                "iceberg.table": "shop.orders",
                "iceberg.catalog.uri": self._catalog,
            },
            f"{name}_minutes": {
                "connector.class": "SparkQuery",
                "input.topics": name,
                "input.columns": "id BIGINT, price DECIMAL(12,2), at TIMESTAMP",
                "input.value.converter": JSON,
                "sql": "SELECT unix_seconds(window.start) DIV 60 AS minute, count(*) AS orders, "
                "CAST(sum(price) AS STRING) AS price FROM records GROUP BY window(at, '1 minute')",
                "watermark.column": "at",
                "watermark.delay": "1 hour",
                "output.mode": "update",
                "state.url": f"file://{lake.folder}/state",
                "value.converter.schemas.enable": "false",
            },
        }

    def add(self, first: int, count: int) -> None:
        """Add rows, one for each second."""
        self.place.run(
            f"INSERT INTO {self.name} SELECT n, CASE WHEN n % 7 > 0 THEN 'wörd ' || n END, n / 4.0, "  # noqa: S608
            f"'2024-01-01'::timestamptz + n * interval '1 second' FROM generate_series({first}, "
            f"{first + count - 1}) n"
        )

    def rows(self) -> list[Row]:
        """The rows of the database."""
        return sorted(self.place.run(f"TABLE {self.name}"))

    def of_delta(self) -> list[Row]:
        """Those of the table of Delta Lake, as another reader has them."""
        if not DeltaTable.is_deltatable(self._delta):
            return []
        return _of_arrow(DeltaTable(self._delta).to_pyarrow_table())

    def of_iceberg(self) -> list[Row]:
        """Those of the table of Iceberg."""
        catalog = load_catalog("default", type="sql", uri=self._catalog)
        if not catalog.table_exists("shop.orders"):
            return []
        return _of_arrow(catalog.load_table("shop.orders").scan().to_arrow())

    def minutes(self) -> dict[int, tuple[int, Decimal]]:
        """The newest that the topic says of each minute."""
        values = map(json.loads, self.lake.values(f"{self.name}_minutes"))
        return {each["minute"]: (each["orders"], Decimal(each["price"])) for each in values}

    def arrived(self, connector: str) -> int:
        """How many rows a connector has written."""
        match connector.removeprefix(f"{self.name}_"):
            case "delta":
                return len(self.of_delta())
            case "iceberg":
                return len(self.of_iceberg())
            case "minutes":
                return sum(found for found, _ in self.minutes().values())
            case _:
                return len(self.lake.values(self.name))


def test_a_table_of_a_database_is_followed_into_a_lake_and_counted(lake: Lake, postgres: Postgres) -> None:
    orders = Orders(lake, postgres)
    orders.add(0, ROWS)
    for name, config in orders.connectors.items():  # one after the other: each has a driver to start
        lake.put(name, **config, **EXACTLY_ONCE)
        wait_until(lambda: orders.arrived(name) >= ROWS, SECONDS, f"{ROWS} rows in {name}")  # noqa: B023
    orders.add(ROWS, MORE)
    for name in orders.connectors:
        wait_until(lambda: orders.arrived(name) >= ROWS + MORE, SECONDS, f"new rows in {name}")  # noqa: B023
    rows = orders.rows()
    assert orders.of_delta() == orders.of_iceberg() == rows
    expected: dict[int, tuple[int, Decimal]] = {}
    for _, _, price, at in rows:
        minute = int(at.timestamp()) // 60
        found, total = expected.get(minute, (0, Decimal()))
        expected[minute] = (found + 1, total + price)
    assert orders.minutes() == expected
    for name in orders.connectors:
        lake.ask("DELETE", name)


def _of_arrow(table: Any) -> list[Row]:
    """Return rows in the order of the database's columns, by their id."""
    names = ("id", "word", "price", "at")
    return sorted(tuple(row[name] for name in names) for row in table.to_pylist())
