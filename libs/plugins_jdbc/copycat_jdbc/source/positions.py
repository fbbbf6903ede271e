"""Positions: how far a table or a query has been read, how far rows bring a reader, and their offsets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any, Final, TypeAlias

from copycat_connect.data import ConnectValue
from copycat_connect.errors import ConnectError

from copycat_jdbc.database import TableName
from copycat_jdbc.granularity import micros
from copycat_jdbc.type_rules import Moment

TABLE, PROTOCOL, QUERY = "table", "protocol", "query"
"""Keys of source partitions."""
INCREMENTING, TIMESTAMP, NANOS = "incrementing", "timestamp", "timestamp_nanos"
"""Keys of source offsets."""
_MOST = (1 << 63) - 1
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
Row: TypeAlias = Sequence[Any]
#: What is raised where a value is no point in time.
NO_TIMES: Final = (ValueError, TypeError, AttributeError, ArithmeticError)
_NoTime: TypeAlias = tuple[int, Exception]
_INTEGERS = frozenset({int})


@dataclass(frozen=True, slots=True)
class RowPosition:
    """The last row that was read, by the columns that are followed."""

    number: int | None = None
    """The incrementing column's value."""
    moment: datetime | None = None
    """The timestamp columns' value, aware; microseconds count."""

    def offset(self) -> dict[str, ConnectValue]:
        """Return it as the source offset of a record."""
        found: dict[str, ConnectValue] = {}
        if self.number is not None:
            found[INCREMENTING] = self.number
        if self.moment is not None:
            since = micros(self.moment)
            found[TIMESTAMP] = since // 1000
            found[NANOS] = since % 1_000_000 * 1000
        return found

    @classmethod
    def of(cls, offset: Mapping[str, Any]) -> RowPosition:
        """Read a source offset.

        Raises:
            ConnectError: It is malformed; the text names the key.
        """
        number, millis, nanos = (_whole(offset, key) for key in (INCREMENTING, TIMESTAMP, NANOS))
        if millis is None:
            return cls(number)
        if nanos is not None and not 0 <= nanos < 1_000_000_000:
            raise ConnectError(f"The value for the '{NANOS}' key in the offset should be from 0 to 999999999")
        try:
            if nanos is None:
                return cls(number, _EPOCH + timedelta(milliseconds=millis))
            return cls(number, _EPOCH + timedelta(seconds=millis // 1000, microseconds=nanos // 1000))
        except OverflowError as error:
            raise ConnectError(
                f"The value for the '{TIMESTAMP}' key in the offset is beyond the year 9999"
            ) from error


def partition_of(table: TableName) -> dict[str, str]:
    """Return the source partition of a table that is followed."""
    return {PROTOCOL: "1", TABLE: str(table)}


def partitions_of(table: TableName, database: str) -> list[dict[str, str]]:
    """Return the source partitions an offset of a table may be stored under, ours first.

    The published connector has begun names of PostgreSQL's tables with the database since its driver gives
    it, and knew the name alone in the beginning.
    """
    longer = f"{database}.{table}"
    return [partition_of(table), {PROTOCOL: "1", TABLE: longer}, {TABLE: table.name}]


def incrementing_value(value: Any) -> int:
    """Return the value of an incrementing column.

    Raises:
        ConnectError: It is no integer of 64 bits.
    """
    if isinstance(value, bool) or not isinstance(value, (int, Decimal)):
        raise ConnectError(f"Invalid type for incrementing column: {type(value).__name__}")
    if isinstance(value, Decimal):
        if value.as_tuple().exponent != 0:
            raise ConnectError("Scale of Decimal value for incrementing column must be 0")
        if value > _MOST:
            raise ConnectError("Decimal value for incrementing column exceeded Long.MAX_VALUE")
    return int(value)


@dataclass(frozen=True, slots=True)
class FollowedColumns:
    """Where a row has what a mode follows."""

    number: int | None
    """Place of the incrementing column; None where none is followed."""
    times: tuple[tuple[int, Moment], ...]
    """Places of the timestamp columns, each with what makes a time of its value; the first that is not
    null counts."""

    def advance(self, rows: Sequence[Row], following: Row | None, before: RowPosition) -> RowProgress | None:
        """Return how far rows bring a reader; None where nothing is followed.

        Args:
            rows: The rows, at least one.
            following: The row after them, if there is one.
            before: The position before them.

        Raises:
            ConnectError: The incrementing column has no integers.
        """
        if self.number is None and not self.times:
            return None
        numbers = None if self.number is None else _numbers([row[self.number] for row in rows])
        if not self.times:
            return RowProgress(numbers, None)
        known = self._times(rows if following is None else [*rows, following], before)
        wrong = {place: error for place, (_, error) in enumerate(known[: len(rows)]) if error is not None}
        times = [time for time, _ in known]
        if numbers is None:
            after = None if following is None else times[-1]
            return RowProgress(None, _ended_groups(times[: len(rows)], after, before.moment), wrong)
        return RowProgress(numbers, times[: len(rows)], wrong)

    def _times(self, rows: Sequence[Row], before: RowPosition) -> list[tuple[datetime, _NoTime | None]]:
        """Return the time of each row; one that holds none has the time of the row before it."""
        last = before.moment
        assert last is not None  # the bounds of the statement
        found: list[tuple[datetime, _NoTime | None]] = []
        for row in rows:
            column, moment = next((place, moment) for place, moment in self.times if row[place] is not None)
            try:
                last, error = moment(row[column]), None
            except NO_TIMES as reason:
                error = column, reason
            found.append((last, error))
        return found


@dataclass(frozen=True, slots=True)
class RowProgress:
    """The positions after rows, as columns."""

    numbers: Sequence[int] | None
    """The incrementing column; None where none is followed."""
    times: Sequence[datetime] | None
    """The timestamp columns; None where none are followed."""
    wrong: Mapping[int, _NoTime] = field(default_factory=dict)
    """The rows whose timestamp holds no time, by their index: the place of its column, and why."""

    def last(self) -> RowPosition:
        """Return the position after the last row."""
        return RowPosition(self.numbers[-1] if self.numbers else None, self.times[-1] if self.times else None)

    def offsets(self) -> list[dict[str, ConnectValue]]:
        """Return the source offset of each row."""
        length = len(self.numbers or self.times or ())
        numbers: Sequence[int | None] = self.numbers or [None] * length
        times: Sequence[datetime | None] = self.times or [None] * length
        return [RowPosition(number, time).offset() for number, time in zip(numbers, times, strict=True)]


def _whole(offset: Mapping[str, Any], key: str) -> int | None:
    value = offset.get(key)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or not -_MOST - 1 <= value <= _MOST:
        raise ConnectError(f"The value for the '{key}' key in the offset is expected to be a Long value")
    return value


def _numbers(column: Sequence[Any]) -> Sequence[int]:
    return column if _INTEGERS.issuperset(map(type, column)) else [*map(incrementing_value, column)]


def _ended_groups(
    times: Sequence[datetime], following: datetime | None, before: datetime | None
) -> list[datetime]:
    """Let rows with the same time share the earlier position until the last of them: none is lost."""
    assert before is not None  # the bounds of the statement
    ended, found = before, []
    for time, after in zip(times, [*times[1:], following], strict=True):
        if after is None or after > time:
            ended = time
        found.append(ended)
    return found
