"""Positions: how far a table or a query has been read, and the offsets that say so."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from copycat_connect.data import ConnectValue
from copycat_connect.errors import ConnectError

from copycat_jdbc.database import TableName
from copycat_jdbc.granularity import micros

TABLE, PROTOCOL, QUERY = "table", "protocol", "query"
"""Keys of source partitions."""
INCREMENTING, TIMESTAMP, NANOS = "incrementing", "timestamp", "timestamp_nanos"
"""Keys of source offsets."""
_MOST = (1 << 63) - 1
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Position:
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
    def of(cls, offset: Mapping[str, Any]) -> Position:
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


def _whole(offset: Mapping[str, Any], key: str) -> int | None:
    value = offset.get(key)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or not -_MOST - 1 <= value <= _MOST:
        raise ConnectError(f"The value for the '{key}' key in the offset is expected to be a Long value")
    return value
