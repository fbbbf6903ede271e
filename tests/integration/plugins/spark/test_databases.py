"""Tables of PostgreSQL that Spark reads in ranges of a key: every row once, whatever is killed."""

from __future__ import annotations

import json
from collections import Counter
from contextlib import suppress

import httpx2
import pytest
from copycat_testkit.kafka import unique, wait_until
from copycat_testkit.postgres import SECRET, USER, Postgres

from tests.integration.plugins.jdbc_tables import Place, of_postgres
from tests.integration.plugins.spark.lake import SECONDS, Lake

pytestmark = pytest.mark.timeout(500)
ROWS = 10_000


def reading(server: Postgres, **config: str) -> dict[str, str]:
    """Return a configuration; its values are plain JSON."""
    return {
        "connector.class": "SparkSource",
        "tasks.max": "2",
        "delivery.guarantee": "exactly_once",
        "format": "jdbc",
        "spark.option.url": server.url(),
        "spark.option.driver": "org.postgresql.Driver",
        "spark.option.user": USER,
        "spark.option.password": SECRET,
        "jdbc.unit.rows": "500",
        "value.converter.schemas.enable": "false",
        **config,
    }


def ids(lake: Lake, topic: str) -> Counter[int]:
    return Counter(json.loads(value)["Id"] for value in lake.values(topic))


def status(lake: Lake, name: str) -> str:
    """What REST says; nothing while it knows no status."""
    with suppress(httpx2.HTTPStatusError):
        return str(lake.ask("GET", f"{name}/status"))
    return ""


def ranges_done(lake: Lake, name: str) -> int:
    reply = lake.ask("GET", f"{name}/offsets")
    assert isinstance(reply, dict)
    return sum(each["offset"]["done"] for each in reply["offsets"] if "range" in each["partition"])


def make(place: Place, table: str) -> None:
    """Make a table whose keys have gaps, are negative, too, and whose times come several times."""
    place.run(
        f'CREATE TABLE {table} ("Id" bigint PRIMARY KEY, word text, at timestamptz NOT NULL, price float8)',
    )
    add(place, table, 0, ROWS)


def add(place: Place, table: str, first: int, count: int) -> None:
    place.run(
        f"INSERT INTO {table} SELECT 7 * n - 20000, CASE WHEN n % 7 > 0 THEN 'wörd ' || n END, "  # noqa: S608
        f"'2024-01-01'::timestamptz + n / 5 * interval '1 h', n / 4.0 "
        f"FROM generate_series({first}, {first + count - 1}) n",
    )


@pytest.mark.long
def test_a_table_is_read_in_ranges_and_followed_though_driver_and_partition_are_killed(
    lake: Lake, postgres: Postgres
) -> None:
    name, place = unique("database").replace("-", "_"), of_postgres(postgres)
    make(place, name)
    follows = {"jdbc.partition.column": "Id", "jdbc.follow": "true", "spark.option.dbtable": name}
    key = {"key.expression": "word", "key.converter": "org.apache.kafka.connect.storage.StringConverter"}
    lake.put(name, **reading(postgres, **follows, **key))
    for done, what in ((1, "partition"), (3, "driver"), (8, "driver")):
        wait_until(lambda: ranges_done(lake, name) >= done, SECONDS, f"{done} ranges")  # noqa: B023
        lake.kill(what)
    wait_until(lambda: len(lake.values(name)) >= ROWS, SECONDS, "all rows")
    for turn in range(3):
        add(place, name, ROWS + turn * 700, 700)
        wait_until(lambda least=turn: len(lake.values(name)) > ROWS + 700 * least, SECONDS, "new ones")  # type: ignore[misc]
        if turn == 1:
            lake.kill("driver")
    wait_until(lambda: len(lake.values(name)) >= ROWS + 2100, SECONDS, "all new rows")
    found = [(message.key(), json.loads(message.value() or b"")) for message in lake.records(name)]
    expected = {
        row: (None if word is None else word.encode(), word, float(price))
        for row, word, _, price in place.run(f"TABLE {name}")
    }
    assert len(found) == len(expected)
    assert {row["Id"]: (key, row["word"], float(row["price"])) for key, row in found} == expected
    lake.ask("DELETE", name)


def test_a_snapshot_is_read_once_and_what_is_missing_is_named(lake: Lake, postgres: Postgres) -> None:
    name, place = unique("database").replace("-", "_"), of_postgres(postgres)
    make(place, name)
    cheap = f"SELECT * FROM {name} WHERE price < 500"  # noqa: S608 - a table of our own
    query = {"spark.option.query": cheap, "jdbc.unit.rows": "300"}
    wrong = {
        "spark.option.driver": (
            "org.none.Driver",
            "has no class org.none.Driver (spark.option.driver): name",
        ),
        "jdbc.partition.column": (
            "word",
            "word (jdbc.partition.column) is string: ranges are those of whole",
        ),
    }
    config = reading(postgres, **{"jdbc.partition.column": "at"}, **query)
    for key, (value, text) in wrong.items():
        lake.put(name, **{**config, key: value})
        wait_until(lambda: text in status(lake, name), SECONDS, text)  # noqa: B023
        assert SECRET not in status(lake, name)
    lake.put(name, **config)
    rows = {row for row, _, _, price in place.run(f"TABLE {name}") if price < 500}
    wait_until(lambda: len(lake.values(name)) >= len(rows), SECONDS, "all rows")
    add(place, name, -1, 1)
    assert ids(lake, name) == Counter(rows)
    lake.ask("PUT", f"{name}/stop")
    wait_until(lambda: lake.state(name) == "", SECONDS, "it stops")
    lake.ask("DELETE", f"{name}/offsets")
    lake.ask("PUT", f"{name}/resume")
    wait_until(lambda: len(lake.values(name)) > 2 * len(rows), SECONDS, "all rows again, and the new one")
    assert ids(lake, name) == Counter(rows) + Counter(rows) + Counter([-20007])
    lake.ask("DELETE", name)
