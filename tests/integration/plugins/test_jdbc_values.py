"""Values of every family, written by the JDBC sink and read by its source: each comes back, or is named."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from itertools import count
from math import isfinite, isnan
from typing import Any

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
    SinkRecord,
    SourceRecord,
    Struct,
    UnreadableRecord,
    decimal_schema,
)
from copycat_connect.data.logical import timestamp_from_millis
from copycat_jdbc.source.task import JdbcSourceTask
from hypothesis import given
from hypothesis import strategies as st

from tests.integration.plugins import jdbc_reading, jdbc_tables
from tests.integration.plugins.jdbc_tables import TOPIC, Place, of_mariadb, of_postgres, of_sqlite, put

pytestmark = pytest.mark.long

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
