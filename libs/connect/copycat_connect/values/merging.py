"""The common schema of the elements of a list or map, and elements made to fit it."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, datetime, time

from copycat_connect.data import logical
from copycat_connect.data.java import round_to_float32, to_text
from copycat_connect.data.java_calendar import FarDate, FarTimestamp
from copycat_connect.data.narrow import narrowed
from copycat_connect.data.schema import ConnectValue, Schema, SchemaAndValue, SchemaType
from copycat_connect.errors import DataError
from copycat_connect.values.text import date_millis

_WIDENING = (
    SchemaType.INT8,
    SchemaType.INT16,
    SchemaType.INT32,
    SchemaType.INT64,
    SchemaType.FLOAT32,
    SchemaType.FLOAT64,
)
_TEMPORAL = frozenset({logical.DATE, logical.TIME, logical.TIMESTAMP})


def common_schema(elements: Iterable[SchemaAndValue | None]) -> Schema | None:
    """Return the schema that fits every element that is not null; None if nothing fits."""
    common: Schema | None = None
    for element in elements:
        if element is None or element.schema is None:
            continue
        if common is None:
            common = element.schema
        else:
            common = _wider(common, element.schema)
            if common is None:
                return None
    return common


def fit(element: SchemaAndValue | None, common: Schema | None) -> ConnectValue:
    """Return an element's value as one of the common schema.

    Raises:
        DataError: It is null, and the schema does not allow that.
    """
    if element is None:
        if common is not None:
            raise DataError("Unable to convert a null value to a schema that requires a value")
        return None
    if common is None:
        # No schema of the list or map gives its elements' widths.
        return _with_widths(element.schema, element.value)
    if element.schema == common:
        return element.value
    if isinstance(element.value, (list, dict)):
        # The common schema of lists or maps is the last one's: the others are not as it says.
        return _with_widths(element.schema, element.value)
    return _convert(element.value, common)


def _with_widths(schema: Schema | None, value: ConnectValue) -> ConnectValue:
    """Return a value whose numbers say their widths by themselves, at any depth."""
    if schema is None or value is None:
        return value
    if isinstance(value, list):
        return [_with_widths(schema.value, item) for item in value]
    if isinstance(value, dict):
        return {
            _with_widths(schema.key, key): _with_widths(schema.value, item) for key, item in value.items()
        }
    return narrowed(value, schema.type)


def _wider(first: Schema, second: Schema) -> Schema | None:
    if first.type is second.type:
        return second
    if first.type not in _WIDENING or second.type not in _WIDENING:
        return None
    return max(first, second, key=lambda schema: _WIDENING.index(schema.type))


def _convert(value: ConnectValue, common: Schema) -> ConnectValue:
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return _number_as(value, common)
    if not isinstance(value, (date, time, FarDate, FarTimestamp)):
        return value
    if common.name not in _TEMPORAL:
        raise DataError(f"Unable to convert {to_text(value)} to {common}")
    if common.name == logical.TIMESTAMP and not isinstance(value, (datetime, FarTimestamp)):
        return logical.timestamp_from_millis(date_millis(value))
    return value


def _number_as(value: float, common: Schema) -> ConnectValue:
    match common.name:
        case logical.DATE:
            return logical.date_from_days(int(value))
        case logical.TIME:
            return logical.time_from_millis(int(value))
        case logical.TIMESTAMP:
            return logical.timestamp_from_millis(int(value))
        case _:
            pass
    if common.type is SchemaType.FLOAT32:
        return round_to_float32(float(value))
    return float(value) if common.type is SchemaType.FLOAT64 else value
