"""The JDBC source without a server: addresses, configurations, offsets, and tables of SQLite."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from copycat_connect.data import SourceRecord, Struct, UnreadableRecord
from copycat_connect.errors import ConfigError, ConnectError, RetriableError
from copycat_connect.plugin import ExactlyOnceSupport
from copycat_jdbc.address import parse_address
from copycat_jdbc.database import like
from copycat_jdbc.granularity import moment_at
from copycat_jdbc.moments import moment_of
from copycat_jdbc.numerics import NumericMapping, numeric_schema
from copycat_jdbc.postgres_moments import epoch_micros
from copycat_jdbc.source.connector import JdbcSourceConnector
from copycat_jdbc.source.positions import RowPosition, incrementing_value
from copycat_jdbc.source.task import JdbcSourceTask
from copycat_testkit.conformance import FakeConnectorContext, FakeSourceContext
from copycat_testkit.kafka import wait_until

GOOD = {"connection.url": "jdbc:sqlite:/x.db", "mode": "bulk", "topic.prefix": "t-"}


def errors(**more: str) -> dict[str, list[str]]:
    config = {**GOOD, **{key.replace("_", "."): value for key, value in more.items()}}
    return {found.name: found.errors for found in JdbcSourceConnector().validate(config) if found.errors}


@pytest.mark.parametrize(
    ("url", "dialect", "hosts", "database"),
    [
        ("jdbc:postgresql://h:1/d?user=u&password=p", "postgresql", (("h", 1),), "d"),
        ("jdbc:postgresql://h,[::1]:2/d", "postgresql", (("h", 5432), ("::1", 2)), "d"),
        ("jdbc:mysql://h/d%20e", "mysql", (("h", 3306),), "d e"),
        ("jdbc:mariadb://h:7/", "mariadb", (("h", 7),), ""),
        ("jdbc:sqlite:/a/b.db", "sqlite", (), "/a/b.db"),
    ],
)
def test_addresses_are_read_as_jdbc_writes_them(
    url: str, dialect: str, hosts: tuple[tuple[str, int], ...], database: str
) -> None:
    found = parse_address(url)
    assert (found.dialect, found.hosts, found.database) == (dialect, hosts, database)
    assert "password" not in f"{found} {found!r}"


@pytest.mark.parametrize(
    "url", ["jdbc:oracle:thin:u/secret@h", "postgresql://u:secret@h/d", "jdbc:mysql://h:x/d", ""]
)
def test_an_address_that_is_none_is_refused_without_being_shown(url: str) -> None:
    with pytest.raises(ConfigError, match=r"connection\.url") as raised:
        parse_address(url)
    assert "secret" not in raised.value.message


@pytest.mark.timeout(60)
def test_a_certificate_that_is_a_device_is_not_opened() -> None:
    address = parse_address("jdbc:postgresql://h/d?sslmode=verify-ca&sslrootcert=/dev/zero")
    with pytest.raises(ConfigError, match=r"sslrootcert of connection\.url has '/dev/zero'.*no regular file"):
        address.libpq_options()


def test_what_goes_together_is_checked() -> None:
    assert errors() == {}
    assert errors(table_whitelist="a", table_blacklist="b").keys() == {"table.whitelist", "table.blacklist"}
    assert errors(table_whitelist="a", table_exclude_list="b").keys() == {
        "table.whitelist",
        "table.exclude.list",
    }
    assert errors(query="SELECT 1", table_whitelist="a").keys() == {"query"}
    assert errors(mode="timestamp").keys() == {"timestamp.column.name"}
    assert errors(mode="incrementing", query="SELECT 1").keys() == {"incrementing.column.name"}
    assert errors(table_include_list="(").keys() == {"table.include.list"}
    assert errors(mode="other").keys() == {"mode"}


@pytest.mark.parametrize("mode", ["bulk", "timestamp", "incrementing", "timestamp+incrementing"])
def test_exactly_once_needs_a_number_of_each_row(mode: str) -> None:
    support = JdbcSourceConnector().exactly_once_support({**GOOD, "mode": mode})
    assert (support is ExactlyOnceSupport.SUPPORTED) == ("incrementing" in mode)


TABLE = {"protocol": "1", "table": "public.t"}


@pytest.mark.parametrize(
    ("mode", "partition", "offset", "says"),
    [
        ("incrementing", TABLE, {"incrementing": 4}, None),
        ("incrementing", {"query": "query"}, {"incrementing": 4}, None),
        ("incrementing", {"table": "t"}, None, None),
        ("timestamp", TABLE, {"timestamp": 4, "timestamp_nanos": 4_000_000}, None),
        ("timestamp", TABLE, {"timestamp": 4}, None),
        ("timestamp+incrementing", TABLE, {"timestamp": 4}, "'incrementing'"),
        ("timestamp", TABLE, {"incrementing": 4}, "'timestamp'"),
        ("timestamp", TABLE, {"timestamp": 4, "timestamp_nanos": 1_000_000_000}, "'timestamp_nanos'"),
        ("incrementing", TABLE, {"incrementing": "4"}, "'incrementing'.*Long"),
        ("incrementing", TABLE, {"incrementing": True}, "'incrementing'.*Long"),
        ("incrementing", TABLE, {"incrementing": 1 << 63}, "'incrementing'.*Long"),
        ("incrementing", {"file": "t"}, {"incrementing": 4}, "'table'"),
        ("incrementing", {**TABLE, "protocol": "2"}, {"incrementing": 4}, "'protocol'"),
        ("incrementing", {"table": 4}, {"incrementing": 4}, "'table'.*String"),
        ("incrementing", None, {"incrementing": 4}, "null"),
        ("bulk", {"table": "t"}, {"incrementing": 4}, "'mode' is bulk"),
    ],
)
def test_offsets_a_user_sets_are_checked(
    mode: str, partition: dict[str, Any] | None, offset: dict[str, Any] | None, says: str | None
) -> None:
    config = {**GOOD, "mode": mode}
    if says is None:
        assert JdbcSourceConnector().alter_offsets(config, [(partition, offset)])
        return
    with pytest.raises(ConnectError, match=says):
        JdbcSourceConnector().alter_offsets(config, [(partition, offset)])


@pytest.mark.parametrize(
    "offset",
    [
        {"incrementing": 7},
        {"timestamp": 1704067200123, "timestamp_nanos": 123456000},
        {"incrementing": -1, "timestamp": -1, "timestamp_nanos": 999000000},
    ],
)
def test_an_offset_read_and_written_is_the_same(offset: dict[str, int]) -> None:
    assert RowPosition.of(offset).offset() == offset


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ("7", "Invalid type for incrementing column"),
        (7.0, "Invalid type for incrementing column"),
        (Decimal("7.5"), "Scale of Decimal value for incrementing column must be 0"),
        (Decimal(1 << 63), "Decimal value for incrementing column exceeded Long.MAX_VALUE"),
    ],
)
def test_what_cannot_increment_is_refused(value: object, says: str) -> None:
    with pytest.raises(ConnectError, match=says):
        incrementing_value(value)


@pytest.mark.parametrize(
    ("mapping", "precision", "scale", "type"),
    [
        ("none", 9, 0, "bytes"),
        ("precision_only", 2, 0, "int8"),
        ("precision_only", 4, 0, "int16"),
        ("precision_only", 9, 0, "int32"),
        ("precision_only", 18, 0, "int64"),
        ("precision_only", 19, 0, "bytes"),
        ("precision_only", 9, 1, "bytes"),
        ("best_fit", 18, 4, "float64"),
        ("best_fit", 19, 4, "bytes"),
        ("best_fit", 9, -2, "int32"),
        ("best_fit_eager_double", 30, 4, "float64"),
        ("best_fit_eager_double", 30, 0, "bytes"),
    ],
)
def test_decimals_become_what_their_mapping_says(mapping: str, precision: int, scale: int, type: str) -> None:
    assert numeric_schema(NumericMapping(mapping), precision, scale, optional=False).type.value == type


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "rows.db"


def run(file: Path, *statements: str) -> None:
    with closing(sqlite3.connect(file, timeout=60)) as database, database:
        for statement in statements:
            database.execute(statement)


def read(file: Path, count: int, config: Mapping[str, str]) -> list[SourceRecord]:
    connector, task, records = JdbcSourceConnector(), JdbcSourceTask(), list[SourceRecord]()
    connector.initialize(FakeConnectorContext())
    connector.start({**GOOD, "connection.url": f"jdbc:sqlite:{file}", "poll.interval.ms": "10", **config})
    context = FakeSourceContext(connector.task_configs(1)[0])
    connector.stop()
    task.initialize(context)
    task.start(context.configs())

    def enough() -> bool:
        records.extend(task.poll() or ())
        return len(records) >= count

    wait_until(enough, 60, f"{count} records")
    task.stop()
    return records


def test_lists_choose_the_tables(file: Path) -> None:
    run(file, *(f"CREATE TABLE {name} AS SELECT '{name}' AS name" for name in ("a1", "a2", "b1")))

    def topics(**lists: str) -> set[str]:
        config = {key.replace("_", "."): value for key, value in lists.items()}
        return {record.topic for record in read(file, 6, config)}

    assert topics() == {"t-a1", "t-a2", "t-b1"}
    assert topics(table_whitelist="a1,b1") == {"t-a1", "t-b1"}
    assert topics(table_blacklist="a1") == {"t-a2", "t-b1"}
    assert topics(table_include_list="a.") == {"t-a1", "t-a2"}
    assert topics(table_include_list="a.", table_exclude_list=".2") == {"t-a1"}


def test_times_of_sqlite_are_followed_however_they_are_written(file: Path) -> None:
    run(
        file,
        "CREATE TABLE r (id INTEGER PRIMARY KEY, at TIMESTAMP NOT NULL)",
        "INSERT INTO r VALUES (1, '2024-01-01 00:00:00'), (2, '2024-01-01T00:00:00.5'), (3, 1704067200750)",
    )
    records = read(file, 3, {"mode": "timestamp", "timestamp.column.name": "at"})
    offsets = [record.source_offset["timestamp"] for record in records if record.source_offset]
    assert offsets == [1704067200000, 1704067200500, 1704067200750]


def test_a_followed_value_that_is_no_time_fails_its_row_alone(file: Path) -> None:
    run(
        file,
        "CREATE TABLE r (id INTEGER PRIMARY KEY, at TEXT NOT NULL)",
        "INSERT INTO r VALUES (1, '2024-01-01 00:00:00'), (2, '2460310.75'), (3, '2024-01-02 00:00:00')",
    )
    for mode, number in (("timestamp", ""), ("timestamp+incrementing", r" \(number 2\)")):
        records = read(file, 3, {"mode": mode, "timestamp.column.name": "at"})
        assert [isinstance(record, UnreadableRecord) for record in records] == [False, True, False]
        wrong = records[1]
        assert isinstance(wrong, UnreadableRecord)
        named = rf"Column at of table r cannot be read in row 2 of the result{number}: it holds no time"
        assert re.match(named, str(wrong.error))
        times = [(record.source_offset or {})["timestamp"] for record in records]
        assert times[0] <= times[1] < times[2] == 1704153600000


@pytest.mark.parametrize(
    ("shown", "utc"),
    [
        ("2024-10-27 01:59:59", "2024-10-26 23:59:59"),
        ("2024-10-27 02:00:00", "2024-10-27 01:00:00"),
        ("2024-10-27 02:59:59", "2024-10-27 01:59:59"),
        ("2024-10-27 03:00:00", "2024-10-27 02:00:00"),
        ("2024-03-31 01:59:59", "2024-03-31 00:59:59"),
        ("2024-03-31 02:30:00", "2024-03-31 01:30:00"),
        ("2024-03-31 03:00:00", "2024-03-31 01:00:00"),
    ],
)
def test_hours_that_a_clock_shows_twice_or_never_are_those_of_java(shown: str, utc: str) -> None:
    zone, expected = ZoneInfo("Europe/Berlin"), datetime.fromisoformat(f"{utc}+00:00")
    assert moment_of(shown, zone) == expected
    micros = (datetime.fromisoformat(shown) - datetime(2000, 1, 1)) // timedelta(microseconds=1)  # noqa: DTZ001
    assert moment_at(epoch_micros(micros, zone)) == expected


@pytest.mark.parametrize("source", [{}, {"query": "SELECT * FROM r"}])
def test_followed_columns_are_found_without_case_as_sqlite_finds_them(
    file: Path, source: dict[str, str]
) -> None:
    run(
        file,
        "CREATE TABLE r (Id INTEGER PRIMARY KEY, Changed_At TIMESTAMP NOT NULL)",
        "INSERT INTO r VALUES (1, 1704067200000), (2, 1704067200500)",
    )
    both = {"incrementing.column.name": "ID", "timestamp.column.name": "changed_at"}
    for mode in ("incrementing", "timestamp", "timestamp+incrementing"):
        keys = {key: column for key, column in both.items() if key.partition(".")[0] in mode}
        records = read(file, 2, {"mode": mode, **keys, **source})
        assert [record.value["Id"] for record in records if isinstance(record.value, Struct)] == [1, 2]


def test_a_column_with_a_finer_value_than_its_scale_fails_with_its_name(file: Path) -> None:
    run(file, "CREATE TABLE r (price DECIMAL(9,1))", "INSERT INTO r VALUES (1.25)")
    (record,) = read(file, 1, {})
    assert isinstance(record, UnreadableRecord)
    assert re.search(r"price of table r cannot be read in row 1 .*numeric\.mapping", str(record.error))


@pytest.mark.row("K26-17")
def test_a_table_that_vanishes_does_not_fail_the_others(file: Path) -> None:
    run(file, *(f"CREATE TABLE {name} AS SELECT '{name}' AS name" for name in ("a", "b")))
    connector, task = JdbcSourceConnector(), JdbcSourceTask()
    connector.initialize(FakeConnectorContext())
    connector.start({**GOOD, "connection.url": f"jdbc:sqlite:{file}", "poll.interval.ms": "10"})
    context = FakeSourceContext(connector.task_configs(1)[0])
    connector.stop()
    run(file, "DROP TABLE a")
    task.initialize(context)
    task.start(context.configs())
    batch = wait_until(lambda: list(task.poll() or ()), 60, "a row")
    task.stop()
    assert [record.value["name"] for record in batch if isinstance(record.value, Struct)] == ["b"]


def test_a_server_that_is_away_is_waited_for() -> None:
    task = JdbcSourceTask()
    config = {
        **GOOD,
        "connection.url": "jdbc:mariadb://127.0.0.1:9/d?password=hidden-5e",
        "query": "SELECT 1",
    }
    context = FakeSourceContext(config)
    task.initialize(context)
    task.start(config)
    with pytest.raises(
        RetriableError, match=r"No server answers at jdbc:mariadb://127\.0\.0\.1:9/d"
    ) as raised:
        task.poll()
    assert "hidden-5e" not in raised.value.message
    task.stop()


def test_keys_that_only_count_together_are_checked() -> None:
    mapped = {"table_include_list": ".*", "incrementing_column_mapping": ".*:id"}
    assert errors(mode="incrementing", **mapped) == {}
    assert errors(mode="incrementing", incrementing_column_mapping=".*:id").keys() == {
        "incrementing.column.mapping"
    }
    assert errors(mode="incrementing", incrementing_column_name="id", **mapped).keys() == {
        "incrementing.column.name",
        "incrementing.column.mapping",
    }
    assert errors(mode="bulk", **mapped).keys() == {"incrementing.column.mapping"}
    times = {"mode": "timestamp", "table_include_list": ".*"}
    assert errors(timestamp_columns_mapping=".*:[a|b]", **times) == {}
    assert errors(timestamp_columns_mapping=".*:a", **times).keys() == {"timestamp.columns.mapping"}
    assert errors(timestamp_columns_mapping="(:[a]", **times).keys() == {"timestamp.columns.mapping"}
    assert errors(query="SELECT 1", query_masked="SELECT 1").keys() == {"query", "query.masked"}
    assert errors(query_masked="SELECT 1", table_whitelist="a").keys() == {"query.masked"}
    assert errors(dialect_name="SqliteDatabaseDialect") == {}
    assert errors(dialect_name="PostgreSqlDatabaseDialect").keys() == {"dialect.name"}
    assert errors(dialect_name="OracleDatabaseDialect").keys() == {"dialect.name"}


def test_tables_have_columns_of_their_own(file: Path) -> None:
    run(
        file,
        "CREATE TABLE a (n INTEGER NOT NULL, word TEXT)",
        "CREATE TABLE b (m INTEGER NOT NULL, word TEXT)",
        "INSERT INTO a VALUES (2, 'second'), (1, 'first')",
        "INSERT INTO b VALUES (4, 'fourth'), (3, 'third')",
    )
    chosen = {"mode": "incrementing", "table.include.list": "a,b"}
    records = read(file, 4, {**chosen, "incrementing.column.mapping": "a:n,b:m"})
    found = [(record.topic, record.source_offset) for record in records]
    assert sorted(found, key=str) == [("t-a", {"incrementing": n}) for n in (1, 2)] + [
        ("t-b", {"incrementing": n}) for n in (3, 4)
    ]
    with pytest.raises(ConnectError, match=r"incrementing\.column\.mapping has no entry for table b"):
        read(file, 4, {**chosen, "incrementing.column.mapping": "a:n"})


def test_a_masked_query_is_read_and_not_shown(file: Path) -> None:
    run(file, "CREATE TABLE r (id INTEGER)", "INSERT INTO r VALUES (7)")
    query = "SELECT id AS masked_8d FROM r"
    (record,) = read(file, 1, {"query.masked": query})
    assert isinstance(record.value, Struct)
    assert (record.topic, record.value["masked_8d"]) == ("t-", 7)
    shown = JdbcSourceConnector().validate({**GOOD, "query.masked": query})
    assert query not in f"{shown}"


@pytest.mark.parametrize(
    ("name", "pattern", "expected"),
    [
        ("sales", "sales", True),
        ("sales", "s%", True),
        ("sales", "sale_", True),
        ("sales", "sale", False),
        ("a.b", "a_b", True),
        ("axb", "a.b", False),
        ("a_b", r"a\_b", True),
        ("axb", r"a\_b", False),
        ("", "%", True),
        ("", "_", False),
        ("sales", "%", True),
        ("sales", "%a%s", True),
        ("sales", "%a%l", False),
        ("sasales", "s%_les", True),
        ("sales", "%%a%%", True),
        ("a" * 63, "%a" * 30 + "b", False),
    ],
)
def test_patterns_of_names_are_those_of_sql(name: str, pattern: str, expected: bool) -> None:
    assert like(name, pattern) is expected
