"""The JDBC sink when its server fails it, and values it wrote that its source reads back."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from itertools import count
from math import isfinite, isnan
from typing import Any

import psycopg
import pytest
from copycat_connect.data import (
    BOOLEAN_SCHEMA,
    BYTES_SCHEMA,
    DATE_SCHEMA,
    FLOAT32_SCHEMA,
    FLOAT64_SCHEMA,
    INT8_SCHEMA,
    INT16_SCHEMA,
    INT32_SCHEMA,
    INT64_SCHEMA,
    STRING_SCHEMA,
    TIME_SCHEMA,
    TIMESTAMP_SCHEMA,
    FarTimestamp,
    Schema,
    SchemaBuilder,
    SinkBatch,
    SinkRecord,
    SourceRecord,
    Struct,
    UnreadableRecord,
    decimal_schema,
)
from copycat_connect.data.logical import timestamp_from_millis
from copycat_connect.errors import ConnectError, RetriableError
from copycat_connect.failure_kind import FailureKind, kind_of
from copycat_jdbc.sink.connector import JdbcSinkConnector
from copycat_jdbc.sink.plugin import PLUGIN
from copycat_jdbc.sink.task import JdbcSinkTask
from copycat_jdbc.source.task import JdbcSourceTask
from copycat_testkit.kafka import wait_until
from copycat_testkit.mariadb import MariaDb
from copycat_testkit.postgres import SECRET, Postgres
from hypothesis import given
from hypothesis import strategies as st

from tests.integration.plugins import jdbc_reading, jdbc_tables
from tests.integration.plugins.jdbc_tables import (
    PARTITION,
    TOPIC,
    Place,
    of_mariadb,
    of_postgres,
    of_sqlite,
    order,
    put,
    started,
)

pytestmark = pytest.mark.long

EXACTLY_ONCE = {"delivery_guarantee": "exactly_once"}
WRONG = "wrong-9c1"


@pytest.fixture(params=["postgresql", "mariadb"])
def server(request: pytest.FixtureRequest) -> Postgres | MariaDb:
    name = "postgres" if request.param == "postgresql" else "mariadb"
    found: Postgres | MariaDb = request.getfixturevalue(name)
    return found


@pytest.fixture
def place(server: Postgres | MariaDb) -> Place:
    found = of_postgres(server) if isinstance(server, Postgres) else of_mariadb(server)
    found.run(f"DROP TABLE IF EXISTS {TOPIC}", "DROP TABLE IF EXISTS copycat_offsets")
    return found


@pytest.fixture
def pg(postgres: Postgres) -> Place:
    found = of_postgres(postgres)
    found.run(f"DROP TABLE IF EXISTS {TOPIC}", "DROP TABLE IF EXISTS copycat_offsets")
    return found


def numbers(place: Place) -> list[int]:
    return sorted(number for (number,) in place.run(f"SELECT id FROM {TOPIC}"))  # noqa: S608


def put_again(task: JdbcSinkTask, number: int) -> bool:
    """Put a record, again and again as the engine does, until it is taken."""
    try:
        task.put(SinkBatch.of([order(number, "w", number)]))
    except RetriableError:
        return False
    return True


@pytest.mark.parametrize("delivery", [{}, EXACTLY_ONCE], ids=["at-least-once", "exactly-once"])
def test_a_restart_of_the_server_loses_and_repeats_nothing(
    server: Postgres | MariaDb, place: Place, delivery: dict[str, str]
) -> None:
    task, _ = started(place, max_retries="100000", connection_attempts="100000", **delivery)
    put(task, [order(0, "w")])
    assert task.pre_commit({PARTITION: 1}) == {PARTITION: 1}
    task.put(SinkBatch.of([order(1, "w", 1)]))
    put(task, [])
    server.stop()
    assert put_again(task, 2)  # taken; that the server is away shows with the next
    wait_until(lambda: not put_again(task, 3), 60, "the task notices")
    assert task.pre_commit({PARTITION: 3}) == {}
    server.start()
    wait_until(lambda: put_again(task, 3), 60, "the task goes on")
    wait_until(lambda: task.pre_commit({PARTITION: 4}), 60, "all is committed")
    task.stop()
    assert numbers(place) == [0, 1, 2, 3]


def test_a_server_that_stays_away_fails_the_task_with_the_key_that_says_when(
    server: Postgres | MariaDb, place: Place
) -> None:
    task, context = started(place, max_retries="2")
    server.stop()
    try:
        with pytest.raises(ConnectError, match=r"tried 3 times \(max\.retries\)") as raised:
            wait_until(lambda: put_again(task, 1), 60, "it fails")
            wait_until(lambda: put_again(task, 2), 60, "it fails")
        assert not isinstance(raised.value, RetriableError)
        assert "connection.url" in raised.value.message
        assert place.config["connection.password"] not in raised.value.message
        assert task.pre_commit({PARTITION: 1}) == {}
        assert context.timeout_millis == 20
        task.stop()
    finally:
        server.start()


def test_a_refused_login_fails_after_so_many_attempts_and_never_shows_the_password(
    place: Place, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    task, _ = started(Place({**place.config, "connection.password": WRONG}, place.connect))
    told = r"connection\.password.*tried 3 times \(connection\.attempts\)"
    with pytest.raises(ConnectError, match=told) as failure:
        wait_until(lambda: put_again(task, 1) and put_again(task, 2), 60, "it fails")
    assert kind_of(failure.value, PLUGIN.failures) is FailureKind.AUTHORISATION
    task.stop()
    assert WRONG not in caplog.text
    assert SECRET not in caplog.text


def test_a_server_without_free_connections_is_tried_again(pg: Place, postgres: Postgres) -> None:
    task, _ = started(pg, connection_attempts="100000")
    taken = []
    try:
        with pytest.raises(psycopg.OperationalError):
            while True:
                taken.append(psycopg.connect(postgres.conninfo))
        assert put_again(task, 1)
        assert not put_again(task, 2)
        hasty, _ = started(pg, connection_attempts="1")
        with pytest.raises(ConnectError, match="has no connection left") as failure:
            wait_until(lambda: put_again(hasty, 1) and put_again(hasty, 2), 60, "it fails")
        assert kind_of(failure.value, PLUGIN.failures) is FailureKind.RESOURCE
        hasty.stop()
    finally:
        for each in taken:
            each.close()
    wait_until(lambda: put_again(task, 2), 60, "a connection is free")
    assert task.pre_commit({PARTITION: 3}) == {PARTITION: 3}
    task.stop()
    assert numbers(pg) == [1, 2]


def test_a_table_that_is_dropped_meanwhile_is_made_again(place: Place) -> None:
    task, context = started(place)
    put(task, [order(1, "w")])
    place.run(f"DROP TABLE {TOPIC}")
    put(task, [order(2, "w", 1)])
    task.stop()
    assert numbers(place) == [2]
    assert context.errant_record_reporter.reported == []


def test_a_frozen_task_that_holds_rows_is_cut_off_by_its_successor(place: Place) -> None:
    place.run(f"CREATE TABLE {TOPIC} (id INT PRIMARY KEY, word VARCHAR(20))")
    keys = {"insert_mode": "upsert", "pk_mode": "record_value", "pk_fields": "id", **EXACTLY_ONCE}
    frozen, _ = started(place, **keys)
    put(frozen, [order(1, "of the dead")])  # uncommitted: others wait for this row
    successor, _ = started(place, **keys)
    put(successor, [order(1, "of the living")])
    assert successor.pre_commit({PARTITION: 1}) == {PARTITION: 1}
    outcomes: list[object] = []
    for call in (
        lambda: frozen.put(SinkBatch.of([order(2, "of the dead", 1)])),
        lambda: frozen.put(SinkBatch.of([])),
        lambda: frozen.put(SinkBatch.of([])),
        lambda: frozen.pre_commit({PARTITION: 2}),
    ):
        try:
            outcomes.append(call())
        except ConnectError as error:
            outcomes.append(error)
    assert isinstance(outcomes[-1], ConnectError), "it must not commit"
    frozen.stop()
    successor.stop()
    assert place.run(f"SELECT id, word FROM {TOPIC}") == [(1, "of the living")]  # noqa: S608
    found = place.run("SELECT connector, topic, kafka_partition, position FROM copycat_offsets")
    assert found == [("sink", TOPIC, 0, 1)]


def test_what_one_guarantee_stored_does_not_count_after_another(pg: Place) -> None:
    first, context = started(pg, **EXACTLY_ONCE)
    put(first, [order(1, "w")])
    first.pre_commit({PARTITION: 1})
    first.stop()
    second, _ = started(pg)
    put(second, [order(2, "w", 1)])
    second.stop()
    assert pg.run("SELECT * FROM copycat_offsets") == []
    assert JdbcSinkConnector().alter_offsets(context.configs(), {PARTITION: 7})
    third, _ = started(pg, **EXACTLY_ONCE)
    assert third.stored_positions([PARTITION]) == {PARTITION: 7}
    third.stop()


def test_tasks_that_make_the_table_of_positions_at_once_all_begin(postgres: Postgres) -> None:
    place = of_postgres(postgres)
    for attempt in range(5):
        keys = {**EXACTLY_ONCE, "exactly_once_table": f"positions_{attempt}"}
        with ThreadPoolExecutor(6) as threads:
            begun = [threads.submit(started, place, name=f"sink-{each}", **keys) for each in range(6)]
        for each in begun:
            each.result()[0].stop()


EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
DAY_MILLIS = 86_400_000


def _whole(bits: int) -> st.SearchStrategy[int]:
    return st.integers(-(1 << bits - 1), (1 << bits - 1) - 1)


#: The schema of each family, and its values.
FAMILIES: Mapping[str, tuple[Schema, st.SearchStrategy[Any]]] = {
    "i8": (INT8_SCHEMA, _whole(8)),
    "i16": (INT16_SCHEMA, _whole(16)),
    "i32": (INT32_SCHEMA, _whole(32)),
    "i64": (INT64_SCHEMA, _whole(64)),
    "f32": (FLOAT32_SCHEMA, st.floats(width=32)),
    "f64": (FLOAT64_SCHEMA, st.floats()),
    "yes": (BOOLEAN_SCHEMA, st.booleans()),
    "word": (STRING_SCHEMA, st.text(st.characters(codec="utf-8"))),
    "raw": (BYTES_SCHEMA, st.binary()),
    "price": (decimal_schema(2), st.integers(-(10**40), 10**40).map(lambda n: Decimal(n).scaleb(-2))),
    "day": (DATE_SCHEMA, st.dates()),
    "hour": (
        TIME_SCHEMA,
        st.integers(0, DAY_MILLIS - 1).map(lambda ms: (EPOCH + timedelta(milliseconds=ms)).time()),
    ),
    "at": (
        TIMESTAMP_SCHEMA,
        st.integers(-62_135_596_800_000, 253_402_300_799_999).map(
            lambda ms: EPOCH + timedelta(milliseconds=ms)
        ),
    ),
}
ROW = SchemaBuilder.struct().name("row").field("n", INT64_SCHEMA)
for _name, (_schema, _) in FAMILIES.items():
    ROW.field(_name, replace(_schema, optional=True))
SCHEMA = ROW.build()
ROWS = st.lists(
    st.fixed_dictionaries({name: st.none() | values for name, (_, values) in FAMILIES.items()}),
    min_size=1,
    max_size=4,
)


class Trip:
    """A table, with who writes to it and who reads from it."""

    def __init__(self, place: Place) -> None:
        self.dialect = place.config["connection.url"].split(":")[1]
        self._numbers = count()
        self._sink, self._context = jdbc_tables.started(place, pk_mode="record_value", pk_fields="n")
        self._place = place
        self._source: JdbcSourceTask | None = None

    def send(self, rows: list[dict[str, Any]]) -> tuple[dict[int, dict[str, Any]], list[SourceRecord]]:
        """Write rows; returns those that were not refused, by their numbers, and what is read."""
        reported = self._context.errant_record_reporter.reported
        reported.clear()
        written = {next(self._numbers): row for row in rows}
        put(self._sink, [
            SinkRecord(TOPIC, 0, n, None, Struct(SCHEMA, {"n": n, **row}), value_schema=SCHEMA)
            for n, row in written.items()
        ])  # fmt: skip
        for record, error in reported:
            assert isinstance(record.value, Struct)
            assert may_be_refused(written.pop(record.value["n"]), self.dialect), error
        if self._source is None:
            (task_config,) = jdbc_reading.divided(
                jdbc_reading.config(
                    self._place,
                    mode="incrementing",
                    incrementing_column_name="n",
                    table_whitelist=TOPIC,
                    poll_interval_ms="1",
                    date_calendar_system="PROLEPTIC_GREGORIAN",
                )
            )
            self._source = jdbc_reading.started(task_config)
        return written, jdbc_reading.read(self._source, len(written)) if written else []

    def close(self) -> None:
        """Stop both tasks."""
        self._sink.stop()
        if self._source is not None:
            self._source.stop()


@pytest.fixture(scope="module", params=["postgresql", "mariadb", "sqlite"])
def trip(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Trip]:
    if request.param == "sqlite":
        place = of_sqlite(tmp_path_factory.mktemp("values") / "rows.db")
    elif request.param == "mariadb":
        place = of_mariadb(request.getfixturevalue("mariadb"))
    else:
        place = of_postgres(request.getfixturevalue("postgres"))
    place.run(f"DROP TABLE IF EXISTS {TOPIC}")
    found = Trip(place)
    yield found
    found.close()


@given(rows=ROWS)
def test_what_is_written_is_read_back_or_named(trip: Trip, rows: list[dict[str, Any]]) -> None:
    written, records = trip.send(rows)
    assert len(records) == len(written)
    for (number, row), record in zip(written.items(), records, strict=True):
        if isinstance(record, UnreadableRecord):
            assert any(f"Column {name} of table" in str(record.error) for name in row)
            continue
        assert isinstance(record.value, Struct)
        assert record.value["n"] == number
        for name, value in row.items():
            expected, found = as_kept(value, name, trip.dialect), record.value[name]
            if isinstance(found, FarTimestamp):  # the first and last days of the calendar, for time zones
                found = timestamp_from_millis(found.millis)
            assert expected == found, f"{name}: {value!r} came back as {found!r}"


def may_be_refused(row: Mapping[str, Any], dialect: str) -> bool:
    """Return whether a row has what the database cannot keep."""
    floats = [value for value in (row["f32"], row["f64"]) if value is not None]
    match dialect:
        case "postgresql":
            return "\0" in (row["word"] or "")
        case "mariadb":
            return not all(map(isfinite, floats))
        case _:
            price = row["price"]
            return any(map(isnan, floats)) or (price is not None and Decimal(str(float(price))) != price)


def as_kept(value: Any, name: str, dialect: str) -> Any:
    """Return what a value is in the column that the sink makes for it."""
    match value:
        case float() if isnan(value):
            return NotANumber()
        case float() if name == "f32" and dialect == "mariadb":
            return pytest.approx(value, rel=1e-5)  # the server shows six digits of a FLOAT
        case datetime() if dialect == "sqlite":
            return (value - EPOCH) // timedelta(milliseconds=1)
        case date() if dialect == "sqlite":
            return (value - EPOCH.date()).days * DAY_MILLIS
        case time() if dialect == "sqlite":
            return (datetime.combine(EPOCH, value, UTC) - EPOCH) // timedelta(milliseconds=1)
    return value


class NotANumber:
    """Equals what equals nothing."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, float) and isnan(other)

    def __hash__(self) -> int:
        return 0
