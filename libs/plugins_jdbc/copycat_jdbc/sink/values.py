"""What a database's driver gets for Connect's values, column by column; PostgreSQL takes lines of COPY."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any, TypeAlias

from copycat_connect.data import FarDate, FarTimestamp, SchemaType
from copycat_connect.data.logical import DATE, DECIMAL, TIME, TIMESTAMP, time_to_millis, timestamp_to_millis
from copycat_connect.errors import DataError

from copycat_jdbc.sink.layout import Origin, SinkColumn
from copycat_jdbc.sink.settings import JdbcSinkSettings

Convert: TypeAlias = Callable[[Any], Any]
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_NANOS_OF_MICRO = 1000
_FLOATS = frozenset({SchemaType.FLOAT32, SchemaType.FLOAT64})
_RANGE_OF_SQLITE = 1 << 63
#: Types of columns in which SQLite leaves texts as they are.
_KEEPS_TEXTS = re.compile("CHAR|CLOB|TEXT|BLOB", re.IGNORECASE)
_NULL = type(None)
#: Python writes these as PostgreSQL reads them.
_PLAIN = frozenset({int, float, bool, Decimal, date, datetime, time})
_SPECIAL = ("\\", "\t", "\n", "\r")
_ESCAPES = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"})


def bound(
    column: SinkColumn, values: Sequence[Any], settings: JdbcSinkSettings, dialect: str, type: str = ""
) -> Sequence[Any]:
    """Return a column's values as the driver takes them; `type` is what the table declares.

    Raises:
        DataError: One of them cannot be written; the text names the column.
    """
    convert = _converter(column, settings, dialect, type)
    if convert is None:
        return values
    try:
        return [None if value is None else convert(value) for value in values]
    except DataError as error:
        raise DataError(f"Column {column.name}: {error.message}") from error


def copy_block(columns: Sequence[Sequence[Any]]) -> bytes:
    """Return rows as COPY reads them in its text format.

    Args:
        columns: The values of each column, as drivers take them.

    Raises:
        DataError: A value has no text.
    """
    lines = map("\t".join, zip(*map(_copy_column, columns), strict=True))
    return ("\n".join(lines) + "\n").encode("utf-8", "surrogatepass")


def array_literal(values: Sequence[Any]) -> str:
    """Return values as the text of an array.

    Raises:
        DataError: A value has no text.
    """
    kinds = set(map(type, values))
    if kinds <= {int, float}:
        return "{" + ",".join(map(str, values)) + "}"
    texts = _texts(values, kinds - {_NULL})
    if _NULL not in kinds:
        joined = "".join(texts)
        if "\\" not in joined and '"' not in joined:
            return '{"' + '","'.join(texts) + '"}' if texts else "{}"
    return "{" + ",".join("NULL" if text is None else _quoted(text) for text in texts) + "}"


def text_column(values: Sequence[Any]) -> list[Any]:
    """Return the text of each value, None for null."""
    return _texts(values, set(map(type, values)) - {_NULL})


def _converter(column: SinkColumn, settings: JdbcSinkSettings, dialect: str, type: str) -> Convert | None:
    if column.origin is Origin.VALUE_FIELD and settings.counts_time(column.name):
        divisor = _NANOS_OF_MICRO if settings.timestamp_precision_mode == "nanoseconds" else 1
        write = _moment_writer(settings, dialect)
        return lambda value: write(_counted(value, divisor))
    if column.schema.name == TIMESTAMP:
        return _moment_writer(settings, dialect)
    if column.schema.name == DATE:
        return _date_writer(settings, dialect)
    return _of_sqlite(column, type) if dialect == "sqlite" else None


def _of_sqlite(column: SinkColumn, type: str) -> Convert | None:
    if column.schema.name == TIME:
        return time_to_millis
    if column.schema.name == DECIMAL:
        return str if _KEEPS_TEXTS.search(type) else _decimal_of_sqlite
    return _float_of_sqlite if column.schema.type in _FLOATS else None


def _float_of_sqlite(value: float) -> float:
    if value != value:  # noqa: PLR0124  only NaN is not itself
        raise DataError("NaN would be null in SQLite; replace it by a transformation")
    return value


def _decimal_of_sqlite(value: Decimal) -> str:
    """Return a decimal's text: a column of numbers keeps integers of 64 bits, and what a double is."""
    is_kept = value == int(value) if abs(value) < _RANGE_OF_SQLITE else False
    if not is_kept and Decimal(str(float(value))) != value:
        raise DataError(f"SQLite would round {value} to a double; let the table have a column of TEXT for it")
    return str(value)


def _moment_writer(settings: JdbcSinkSettings, dialect: str) -> Convert:
    zone = settings.db_timezone

    def of_postgresql(value: Any) -> Any:
        # With its offset: right in a column with a time zone, and the zone's clock in one without.
        return _near(value).astimezone(zone)

    def of_mysql(value: Any) -> Any:
        return _near(value).astimezone(zone).replace(tzinfo=None)

    if dialect == "sqlite":
        return timestamp_to_millis
    return of_postgresql if dialect == "postgresql" else of_mysql


def _date_writer(settings: JdbcSinkSettings, dialect: str) -> Convert | None:
    zone = settings.date_zone

    def shifted(value: Any) -> Any:
        day = _near(value)
        return datetime(day.year, day.month, day.day, tzinfo=UTC).astimezone(zone).date()

    def millis(value: Any) -> int:
        return timestamp_to_millis(datetime(value.year, value.month, value.day, tzinfo=UTC))

    if dialect == "sqlite":
        return millis
    return _near if zone.key == "UTC" else shifted


def _near(value: Any) -> Any:
    if isinstance(value, (FarDate, FarTimestamp)):
        raise DataError(f"{value} is outside of the years 1 to 9999")
    return value


def _counted(value: Any, divisor: int) -> datetime:
    try:
        return _EPOCH + timedelta(microseconds=int(value) // divisor)
    except (ValueError, OverflowError) as error:
        raise DataError("a field of timestamp.fields.list holds no number that is a point in time") from error


def _copy_column(values: Sequence[Any]) -> Sequence[str]:
    kinds = set(map(type, values))
    if kinds == {str}:
        joined = "".join(values)
        if not any(special in joined for special in _SPECIAL):
            return values
        return [text.translate(_ESCAPES) for text in values]
    if kinds <= _PLAIN:
        return [*map(str, values)]
    texts = _texts(values, kinds - {_NULL})
    return ["\\N" if text is None else text.translate(_ESCAPES) for text in texts]


def _texts(values: Sequence[Any], kinds: set[type]) -> list[Any]:
    if kinds == {str}:
        return [*values]
    write: Callable[[Any], str] = str if kinds <= _PLAIN else _text
    return [None if value is None else write(value) for value in values]


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, (bytes, bytearray, memoryview)):
        return "\\x" + bytes(value).hex()
    if isinstance(value, (list, tuple)):
        return array_literal(value)
    if type(value) in _PLAIN:
        return str(value)
    raise DataError(f"a value of type {type(value).__name__} cannot be written to a column")


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
