"""Columns of a result: the schema of each, and how its values become Connect's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from decimal import Context, Decimal
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
from copycat_jdbc.results import Money, ServerText
from copycat_jdbc.type_rules import Convert, Encode, Plan, SqlType, TypeRules

_MOMENTS = frozenset({DATE, TIME, TIMESTAMP})
#: Digits enough for every decimal of PostgreSQL: 131,072 before the point and 16,383 behind it.
_ALL_DIGITS = Context(prec=150_000)
_MOST_OF_INT8, _MOST_OF_INT64 = (1 << 7) - 1, (1 << 63) - 1
_READ_WIDER = "read it by a query or a view as CAST(... AS {})"
_UNREADABLE = (ValueError, TypeError, ArithmeticError, DataError)


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

    def __init__(
        self, name: str | None, columns: Sequence[Column], width: int, source: str, number: int | None = None
    ) -> None:
        """Use what is read.

        Args:
            name: The schema's name.
            columns: The columns to be read.
            width: How many the result has.
            source: What is read, for texts, e.g. `table orders`.
            number: Place of the incrementing column, which names a row; None where none is followed.
        """
        fields = tuple(Field(column.name, place, column.schema) for place, column in enumerate(columns))
        self.schema = Schema(SchemaType.STRUCT, name=name, field_list=fields)
        self.columns = tuple(columns)
        self._width = width
        self._source = source
        self._number = number
        self._encoded = all(column.encode or column.schema.name not in _MOMENTS for column in columns)

    def unreadable(self, column: str, row: Sequence[Any], before: int, why: str) -> DataError:
        """Return the error that names a value which cannot be read; so many rows came before it."""
        known = "" if self._number is None else f" (number {row[self._number]})"
        return DataError(
            f"Column {column} of {self._source} cannot be read in row {before + 1} of the result{known}: "
            f"{why}"
        )

    def values(self, rows: Sequence[Sequence[Any]], before: int = 0) -> StructColumns:
        """Return the rows as structs.

        Args:
            rows: The rows.
            before: How many rows of the result came before them.

        Raises:
            DataError: A value does not fit its column; the text names table, column and row.
        """
        given = list(zip(*rows, strict=True)) if rows else [()] * self._width

        def unreadable(column: Column, place: int, error: Exception) -> DataError:
            return self.unreadable(column.name, rows[place], before + place, str(error))

        columns = [_encoded(column, given[column.place], unreadable) for column in self.columns]

        def decoded() -> list[Sequence[ConnectValue]]:
            return [
                _converted(column, given[column.place], unreadable) if column.encode else found
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
        is_one = not type.varying and type.length in (None, 1)
        return (Schema(SchemaType.BOOLEAN), _one_bit) if is_one else None
    if isinstance(type, sql.Boolean):
        return Schema(SchemaType.BOOLEAN), None if rules.dialect == "postgresql" else bool
    return None


def _numbers(type: SqlType, rules: TypeRules) -> Plan | None:
    if isinstance(type, sql.Integer):
        size = _integer_type(type, rules)
        may_be_larger = size is SchemaType.INT64 and getattr(type, "unsigned", False)
        return Schema(size), _signed if may_be_larger and isinstance(type, sql.BigInteger) else None
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
        convert: Convert = _scaled(decimal_scale(schema))
    else:
        convert = float if schema.type is SchemaType.FLOAT64 else int
    if isinstance(type, Money):
        scale = type.scale or 0
        return schema, lambda value: convert(
            Decimal(int.from_bytes(value, "big", signed=True)).scaleb(-scale)
        )
    return schema, convert


def _texts(type: SqlType, rules: TypeRules) -> Plan | None:
    if isinstance(type, (sql.LargeBinary, sql.BINARY, sql.VARBINARY)):
        return Schema(SchemaType.BYTES), bytes
    if isinstance(type, sql.String):
        is_own = isinstance(type, (sql.Enum, postgresql.CITEXT, ServerText)) and rules.dialect == "postgresql"
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
        scaled = number.quantize(step, context=_ALL_DIGITS)
        if scaled != number:
            raise DataError(
                f"a value has more than {scale} digits behind the point; read it as a text by a query or a "
                "view, or set numeric.mapping=best_fit_eager_double, which rounds"
            )
        return scaled

    return convert


def _bits_of_mysql(value: Any) -> int:
    number = int.from_bytes(value, "big") if isinstance(value, bytes) else int(value)
    if number > _MOST_OF_INT8:
        raise DataError(f"{number} is more than an INT8 holds; {_READ_WIDER.format('UNSIGNED')}")
    return number


def _signed(value: int) -> int:
    if value > _MOST_OF_INT64:
        raise DataError(f"{value} is more than an INT64 holds; {_READ_WIDER.format('DECIMAL(20)')}")
    return value


def _one_bit(value: bytes) -> bool:
    return value[-1] > 0  # behind the number of bits, which has four bytes


def _text(value: Any) -> str:
    """Return a text; the driver leaves what it does not know, such as enums, as the bytes of the text."""
    return value.decode() if isinstance(value, bytes) else str(value)


def _hardware_address(value: bytes) -> str:
    return value.hex(":")


def _encoded(
    column: Column, values: Sequence[Any], unreadable: Callable[[Column, int, Exception], DataError]
) -> Sequence[ConnectValue]:
    """Return values as on the wire where the column can make these, else as in structs."""
    if column.encode is None:
        return _converted(column, values, unreadable)
    try:
        return column.encode(values)
    except DataError as error:
        _converted(column, values, unreadable)  # which knows the row
        raise unreadable(column, 0, error) from error


def _converted(
    column: Column, values: Sequence[Any], unreadable: Callable[[Column, int, Exception], DataError]
) -> Sequence[ConnectValue]:
    convert = column.convert
    if convert is None:
        return values
    try:
        return [None if value is None else convert(value) for value in values]
    except _UNREADABLE as error:
        raise unreadable(column, _place_of_failure(convert, values), error) from error


def _place_of_failure(convert: Convert, values: Sequence[Any]) -> int:
    for place, value in enumerate(values):
        try:
            if value is not None:
                convert(value)
        except _UNREADABLE:
            return place
    return 0
