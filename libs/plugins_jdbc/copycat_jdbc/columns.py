"""Columns of a result: the schema of each, and how its values become Connect's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from copycat_connect.data import (
    ConnectValue,
    Field,
    Schema,
    SchemaType,
    StructColumns,
)
from copycat_connect.data.logical import DATE, DECIMAL, TIME, TIMESTAMP, decimal_scale
from copycat_connect.errors import DataError
from sqlalchemy import types as sql
from sqlalchemy.dialects import mysql, postgresql

from copycat_jdbc.moments import moment_plan
from copycat_jdbc.numerics import numeric_schema
from copycat_jdbc.type_rules import Convert, Encode, Plan, SqlType, TypeRules

_MOMENTS = frozenset({DATE, TIME, TIMESTAMP})


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a result."""

    place: int
    """Its place in the result's rows, from 0."""
    name: str
    """Its label."""
    schema: Schema
    """Schema of its values."""
    convert: Convert | None
    """Makes the driver's value Connect's; None when they are the same. Null is never given to it."""
    encode: Encode | None = None
    """Makes the integers that a Date, Time or Timestamp is on the wire of a whole column of the driver's
    values, with nulls; None for other types, and where the driver's values are objects."""


class RowReader:
    """Makes structs of the rows of one result."""

    def __init__(self, name: str | None, columns: Sequence[Column], width: int) -> None:
        """Use the schema's name, the columns to be read, and how many the result has."""
        fields = tuple(Field(column.name, place, column.schema) for place, column in enumerate(columns))
        self.schema = Schema(SchemaType.STRUCT, name=name, field_list=fields)
        self.columns = tuple(columns)
        self._width = width
        self._encoded = all(column.encode or column.schema.name not in _MOMENTS for column in columns)

    def values(self, rows: Sequence[Sequence[Any]]) -> StructColumns:
        """Return the rows as structs.

        Raises:
            DataError: A value does not fit its column; the text names the column.
        """
        given = list(zip(*rows, strict=True)) if rows else [()] * self._width
        columns = [_encoded(column, given[column.place]) for column in self.columns]

        def decoded() -> list[Sequence[ConnectValue]]:
            return [
                _converted(column, given[column.place]) if column.encode else found
                for column, found in zip(self.columns, columns, strict=True)
            ]

        return StructColumns(self.schema, len(rows), decoded, columns if self._encoded else None)


def column_plan(type: SqlType, rules: TypeRules, *, optional: bool) -> Plan | None:
    """Return the schema of a column and how to convert it; None for a type that has no counterpart."""
    for plan in (_bits, _numbers, moment_plan, _texts):
        found = plan(type, rules)
        if found is not None:
            schema, *made = found
            return (replace(schema, optional=True) if optional else schema, *made)
    return None


def _bits(type: SqlType, rules: TypeRules) -> Plan | None:
    if isinstance(type, mysql.BIT):
        return Schema(SchemaType.INT8), _bits_of_mysql
    if isinstance(type, postgresql.BIT):
        return (Schema(SchemaType.BOOLEAN), _one_bit) if type.length in (None, 1) else None
    if isinstance(type, sql.Boolean):
        return Schema(SchemaType.BOOLEAN), None if rules.dialect == "postgresql" else bool
    return None


def _numbers(type: SqlType, rules: TypeRules) -> Plan | None:
    if isinstance(type, sql.Integer):
        return Schema(_integer_type(type, rules)), None
    if isinstance(type, (sql.REAL, sql.Float)):
        # The REAL of MySQL and of SQLite has 64 bits.
        small = isinstance(type, sql.REAL if rules.dialect == "postgresql" else mysql.FLOAT)
        convert = None if rules.dialect == "postgresql" else float
        return Schema(SchemaType.FLOAT32 if small else SchemaType.FLOAT64), convert
    if isinstance(type, sql.Numeric):
        return _decimal(type, rules)
    return None


def _integer_type(type: SqlType, rules: TypeRules) -> SchemaType:
    sizes = (SchemaType.INT8, SchemaType.INT16, SchemaType.INT32, SchemaType.INT64)
    if isinstance(type, mysql.TINYINT):
        size = 0
    elif isinstance(type, sql.SmallInteger):
        size = 1
    elif isinstance(type, sql.BigInteger) or rules.dialect == "sqlite":
        size = 3  # every integer of SQLite may have 64 bits
    else:
        size = 2
    if getattr(type, "unsigned", False) and not isinstance(type, mysql.MEDIUMINT):
        size += 1
    return sizes[min(size, 3)]


def _decimal(type: sql.Numeric[Any], rules: TypeRules) -> Plan:
    schema = numeric_schema(rules.numerics, type.precision or 0, type.scale or 0, optional=False)
    if schema.name == DECIMAL:
        return schema, _scaled(decimal_scale(schema))
    return schema, float if schema.type is SchemaType.FLOAT64 else int


def _texts(type: SqlType, rules: TypeRules) -> Plan | None:
    if isinstance(type, (sql.LargeBinary, sql.BINARY, sql.VARBINARY)):
        return Schema(SchemaType.BYTES), bytes
    if isinstance(type, sql.String):
        is_own = isinstance(type, (sql.Enum, postgresql.CITEXT)) and rules.dialect == "postgresql"
        return Schema(SchemaType.STRING), _text if is_own else None
    if isinstance(type, postgresql.MACADDR):
        return Schema(SchemaType.STRING), _hardware_address
    if isinstance(type, (sql.JSON, sql.Uuid, postgresql.INET, postgresql.CIDR)):
        return Schema(SchemaType.STRING), str
    return None


def _scaled(scale: int) -> Convert:
    step = Decimal(1).scaleb(-scale)

    def convert(value: Any) -> Decimal:
        number = value if isinstance(value, Decimal) else Decimal(str(value))
        if not number.is_finite():
            raise DataError(f"{number} is no decimal; set numeric.mapping=best_fit_eager_double")
        if number.as_tuple().exponent == -scale:
            return number
        scaled = number.quantize(step)
        if scaled != number:
            raise DataError(
                f"a value has more than {scale} digits behind the point; give the column a scale, or set "
                "numeric.mapping=best_fit_eager_double"
            )
        return scaled

    return convert


def _bits_of_mysql(value: Any) -> int:
    return int.from_bytes(value, "big") if isinstance(value, bytes) else int(value)


def _one_bit(value: bytes) -> bool:
    return value[-1] > 0  # behind the number of bits, which has four bytes


def _text(value: Any) -> str:
    """Return a text; the driver leaves what it does not know, such as enums, as the bytes of the text."""
    return value.decode() if isinstance(value, bytes) else str(value)


def _hardware_address(value: bytes) -> str:
    return value.hex(":")


def _encoded(column: Column, values: Sequence[Any]) -> Sequence[ConnectValue]:
    """Return values as on the wire where the column can make these, else as in structs."""
    if column.encode is None:
        return _converted(column, values)
    try:
        return column.encode(values)
    except DataError as error:
        raise _unreadable(column, error) from error


def _converted(column: Column, values: Sequence[Any]) -> Sequence[ConnectValue]:
    convert = column.convert
    if convert is None:
        return values
    try:
        return [None if value is None else convert(value) for value in values]
    except (ValueError, TypeError, ArithmeticError, DataError) as error:
        raise _unreadable(column, error) from error


def _unreadable(column: Column, error: Exception) -> DataError:
    return DataError(f"Column {column.name} cannot be read: {error}")
