"""Each mode of the JDBC source on each database, and where offsets may be moved to."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from copycat_connect.data import SourceRecord
from copycat_connect.plugin import OffsetEffect, OffsetMove
from copycat_jdbc.source.connector import JdbcSourceConnector

from tests.integration.plugins.jdbc_reading import config, divided, read, started, stored_by, values
from tests.integration.plugins.jdbc_tables import Place, of_mariadb, of_postgres, of_sqlite

TABLE = "visits"
COLUMNS = {
    "postgresql": "id serial PRIMARY KEY, word varchar(20), at timestamp(3) NOT NULL",
    "mariadb": "id int AUTO_INCREMENT PRIMARY KEY, word varchar(20), at datetime(3) NOT NULL",
    "sqlite": "id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, word VARCHAR(20), at TIMESTAMP NOT NULL",
}
#: Milliseconds since the epoch of the first row; the others are a second apart, but for the last two.
FIRST = 1767225600000
QUERY = "SELECT * FROM (SELECT v.id, w.word, v.at FROM visits v JOIN words w ON w.id = v.id) q"


@pytest.fixture(params=COLUMNS)
def place(request: pytest.FixtureRequest) -> Place:
    if request.param == "sqlite":
        found = of_sqlite(request.getfixturevalue("tmp_path") / "rows.db")
    elif request.param == "mariadb":
        found = of_mariadb(request.getfixturevalue("mariadb"))
    else:
        found = of_postgres(request.getfixturevalue("postgres"))
    found.run(
        "DROP TABLE IF EXISTS visits",
        "DROP TABLE IF EXISTS words",
        f"CREATE TABLE visits ({COLUMNS[request.param]})",
        "CREATE TABLE words (id int, word varchar(20))",
        *(insert(number, f"word {number}", number) for number in (1, 2, 3)),
        insert(4, "word 4", 3),
    )
    return found


def insert(number: int, word: str, second: int) -> str:
    at = f"2026-01-01 00:00:{second - 1:02}.000"
    return f"INSERT INTO visits VALUES ({number}, '{word}', '{at}')"  # noqa: S608  constants


def keys(mode: str, **more: str) -> dict[str, str]:
    """Return what a mode needs; the number is found by itself."""
    return {"mode": mode, **({"timestamp_column_name": "at"} if mode.startswith("timestamp") else {}), **more}


def spelt(place: Place, column: str) -> str:
    """Return a column's name in another case where the database finds it all the same."""
    return column if "postgresql" in place.config["connection.url"] else column.upper()


def summary(records: list[SourceRecord]) -> list[tuple[Any, Any]]:
    return [*zip(values(records, "id"), values(records, "word"), strict=True)]


def test_bulk_reads_all_again_each_time(place: Place) -> None:
    (task_config,) = divided(config(place, **keys("bulk", table_whitelist=TABLE)))
    task = started(task_config)
    first = read(task, 4)
    place.run("DELETE FROM visits WHERE id = 1")
    again = read(task, 3)
    task.stop()
    assert values(first, "id") == [1, 2, 3, 4]
    assert values(again, "id") == [2, 3, 4]
    assert {(record.topic, record.source_offset) for record in first} == {("db-visits", None)}


@pytest.mark.row("K26-63", "K26-64")
@pytest.mark.parametrize("mode", ["incrementing", "timestamp", "timestamp+incrementing"])
def test_rows_that_come_and_change_are_read_once_across_a_restart(place: Place, mode: str) -> None:
    (task_config,) = divided(config(place, **keys(mode, table_whitelist=TABLE, batch_max_rows="2")))
    task = started(task_config)
    records = read(task, 4)
    task.stop()
    assert values(records, "id") == [1, 2, 3, 4]
    place.run(
        insert(5, "word 5", 5), "UPDATE visits SET word = 'changed', at = '2026-01-01 00:00:06' WHERE id = 2"
    )
    again = started(task_config, stored_by(records[-1]))
    later = read(again, 1 if mode == "incrementing" else 2)
    again.stop()
    expected = [(5, "word 5")] if mode == "incrementing" else [(5, "word 5"), (2, "changed")]
    assert summary(later) == expected


@pytest.mark.row("K26-63", "K26-16")
@pytest.mark.parametrize("mode", ["timestamp", "timestamp+incrementing"])
def test_a_crash_between_rows_of_one_time_loses_none(place: Place, mode: str) -> None:
    (task_config,) = divided(config(place, **keys(mode, table_whitelist=TABLE, batch_max_rows="1")))
    task = started(task_config)
    records = read(task, 3)[:3]
    task.stop()
    again = started(task_config, stored_by(records[-1]))
    rest = read(again, 2 if mode == "timestamp" else 1)
    again.stop()
    assert values(rest, "id") == ([3, 4] if mode == "timestamp" else [4])
    moment = {"timestamp": FIRST + 2000, "timestamp_nanos": 0}
    assert rest[-1].source_offset == (moment if mode == "timestamp" else {"incrementing": 4, **moment})


@pytest.mark.row("K26-61")
def test_a_join_is_read_on_by_number_and_time(place: Place) -> None:
    words = ", ".join(f"({number}, 'said {number}')" for number in (1, 2, 3, 4))
    place.run(f"INSERT INTO words VALUES {words}")  # noqa: S608  constants
    (task_config,) = divided(
        config(
            place,
            **keys(
                "timestamp+incrementing",
                incrementing_column_name=spelt(place, "id"),
                timestamp_column_name=spelt(place, "at"),
                query=QUERY,
            ),
        ),
        20,
    )
    task = started(task_config)
    first = read(task, 4)
    place.run(insert(5, "", 7), "INSERT INTO words VALUES (5, 'said 5')")
    (fifth,) = read(task, 1)
    task.stop()
    assert summary(first) == [(number, f"said {number}") for number in (1, 2, 3, 4)]
    assert summary([fifth]) == [(5, "said 5")]
    assert (fifth.topic, fifth.source_partition) == ("db-", {"query": "query"})
    assert fifth.source_offset == {"incrementing": 5, "timestamp": FIRST + 6000, "timestamp_nanos": 0}


@pytest.mark.row("K26-64")
def test_the_schema_is_that_of_the_columns(place: Place) -> None:
    (task_config,) = divided(config(place, **keys("bulk", table_whitelist=TABLE)))
    task = started(task_config)
    schema = read(task, 1)[0].value_schema
    task.stop()
    assert schema is not None
    found = [
        (field.name, field.schema.type.value, field.schema.name, field.schema.optional)
        for field in schema.fields
    ]
    number = "int64" if "sqlite" in task_config["connection.url"] else "int32"
    timestamp = "org.apache.kafka.connect.data.Timestamp"
    assert (schema.name, found) == (
        TABLE,
        [("id", number, None, False), ("word", "string", None, True), ("at", "int64", timestamp, False)],
    )


def test_rows_read_ahead_are_the_same_rows(place: Place) -> None:
    (task_config,) = divided(
        config(place, **keys("incrementing", table_whitelist=TABLE, batch_max_rows="1", max_buffer_size="2"))
    )
    task = started(task_config)
    records = read(task, 4)
    place.run(insert(5, "word 5", 5))
    records += read(task, 1)
    task.stop()
    assert values(records, "id") == [1, 2, 3, 4, 5]
    assert [(record.source_offset or {})["incrementing"] for record in records] == [1, 2, 3, 4, 5]


@pytest.mark.long
@pytest.mark.parametrize(
    ("mode", "offsets", "effect"),
    [
        ("incrementing", ({"incrementing": 4}, {"incrementing": 1}), (3, 0)),
        ("incrementing", ({"incrementing": 1}, {"incrementing": 9}), (0, 3)),
        ("incrementing", ({"incrementing": 2}, None), (2, 0)),
        ("timestamp", ({"timestamp": FIRST + 2000}, {"timestamp": FIRST}), (3, 0)),
        ("timestamp", (None, {"timestamp": FIRST + 1000}), (0, 2)),
        (
            "timestamp+incrementing",
            ({"timestamp": FIRST + 2000, "incrementing": 4}, {"timestamp": FIRST + 2000, "incrementing": 3}),
            (1, 0),
        ),
    ],
    ids=range(6),
)
def test_a_dry_run_tells_how_many_rows_are_repeated_and_skipped(
    place: Place,
    mode: str,
    offsets: tuple[dict[str, Any] | None, dict[str, Any] | None],
    effect: tuple[int, int],
) -> None:
    columns = {"incrementing_column_name": spelt(place, "id"), "timestamp_column_name": spelt(place, "at")}
    named = {name: column for name, column in columns.items() if name.partition("_")[0] in mode}
    settings = config(place, **keys(mode, table_whitelist=TABLE, **named))
    (task_config,) = divided({**settings})
    task = started(task_config)
    partition, _ = stored_by(read(task, 1)[0])
    task.stop()
    moves = [OffsetMove(partition, *offsets), OffsetMove({"protocol": "1", "table": "other"}, *offsets)]
    assert JdbcSourceConnector().explain_offsets(settings, moves) == [
        OffsetEffect(*effect, "rows"),
        OffsetEffect(0, 0, "rows"),
    ]


@pytest.mark.parametrize("mode", ["timestamp", "timestamp+incrementing"])
def test_a_move_by_time_reads_on_with_the_rows_of_that_time(place: Place, mode: str) -> None:
    settings = config(place, **keys(mode, table_whitelist=TABLE))
    (task_config,) = divided(settings)
    task = started(task_config)
    partition, offset = stored_by(read(task, 4)[-1])
    task.stop()
    found = JdbcSourceConnector().find_offsets(
        settings, [(partition, offset)], datetime(2026, 1, 1, 0, 0, 1, tzinfo=UTC)
    )
    assert found is not None
    ((there, moved),) = found
    assert there == partition
    assert moved is not None
    assert JdbcSourceConnector().alter_offsets(settings, [(partition, moved)])
    again = started(task_config, (partition, dict(moved)))
    assert values(read(again, 3), "id") == [2, 3, 4]
    again.stop()


def test_without_times_there_is_no_move_by_time(place: Place) -> None:
    settings = config(place, **keys("incrementing", table_whitelist=TABLE))
    assert JdbcSourceConnector().find_offsets(settings, [], datetime.now(UTC)) is None
    bulk = config(place, **keys("bulk", table_whitelist=TABLE))
    move = OffsetMove({"table": TABLE}, None, {"incrementing": 1})
    assert JdbcSourceConnector().explain_offsets(bulk, [move]) == [None]
