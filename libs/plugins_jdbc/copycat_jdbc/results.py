"""What a result says of its own columns, where there is no table to ask."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Any, Final, TypeAlias

from psycopg.postgres import types as postgresql_types
from sqlalchemy import types as sql
from sqlalchemy.dialects import mysql, postgresql

from copycat_jdbc.type_rules import SqlType

Described: TypeAlias = tuple[str, SqlType, bool]
"""Label, type, and whether null may come."""


class ServerText(sql.Text):
    """Text that the driver leaves as bytes, since it does not know the type."""


class Money(sql.Numeric[Any]):
    """PostgreSQL's money: the driver gives eight bytes with the number of its least units."""


@dataclass(frozen=True, slots=True)
class ServerType:
    """What PostgreSQL says of a type that the driver does not know."""

    name: str
    """As declarations write it."""
    type: SqlType | None
    """What it is read as; None where it has no counterpart in the binary protocol."""
    has_text: bool
    """Whether the server's text is the natural form of its values: not of arrays and records."""


_POSTGRESQL: Final[Mapping[str, SqlType]] = {
    "bool": sql.Boolean(),
    "int2": sql.SmallInteger(),
    "int4": sql.Integer(),
    "int8": sql.BigInteger(),
    "oid": sql.BigInteger(),
    "xml": ServerText(),
    "float4": sql.REAL(),
    "float8": sql.Double(),
    "date": sql.Date(),
    "time": sql.Time(),
    "timetz": sql.Time(timezone=True),
    "timestamp": sql.TIMESTAMP(),
    "timestamptz": sql.TIMESTAMP(timezone=True),
    "text": sql.Text(),
    "varchar": sql.String(),
    "bpchar": sql.String(),
    "name": sql.String(),
    "bytea": sql.LargeBinary(),
    "json": sql.JSON(),
    "jsonb": sql.JSON(),
    "uuid": sql.Uuid(),
    "inet": postgresql.INET(),
    "cidr": postgresql.CIDR(),
    "macaddr": postgresql.MACADDR(),
}
#: By the numbers of the protocol. Texts and bytes share numbers: what comes shows which it is.
_MYSQL: Final[Mapping[int, SqlType]] = {
    1: mysql.TINYINT(),
    2: sql.SmallInteger(),
    3: sql.Integer(),
    4: mysql.FLOAT(),
    5: sql.Double(),
    7: sql.TIMESTAMP(),
    8: sql.BigInteger(),
    9: sql.Integer(),
    10: sql.Date(),
    11: sql.Time(),
    12: sql.DateTime(),
    13: sql.SmallInteger(),
    16: mysql.BIT(),
    242: sql.LargeBinary(),
    245: sql.JSON(),
    255: sql.LargeBinary(),
}
_MYSQL_DECIMALS = frozenset({0, 246})
_MYSQL_UNSIGNED: Final[Mapping[int, SqlType]] = {
    1: mysql.TINYINT(unsigned=True),
    2: mysql.SMALLINT(unsigned=True),
    3: mysql.INTEGER(unsigned=True),
    8: mysql.BIGINT(unsigned=True),
}
_UNSIGNED_FLAG: Final = 32
_BY_VALUE: Final[Sequence[tuple[type, SqlType]]] = (
    (bool, sql.Boolean()),
    (int, sql.BigInteger()),
    (float, sql.Double()),
    (Decimal, sql.Numeric(38, 0)),
    (bytes, sql.LargeBinary()),
    (datetime, sql.DateTime()),
    (date, sql.Date()),
)


def described(
    dialect: str,
    description: Sequence[Any],
    first: Sequence[Any],
    types: Mapping[int, ServerType] | None = None,
) -> list[Described | None]:
    """Return what is known of each column of a result; None for a type that has no counterpart.

    Args:
        dialect: `postgresql`, `mysql`, `mariadb` or `sqlite`.
        description: What the driver's cursor says; of MariaDB and MySQL with the flags of each column at its
            end.
        first: The first row, which stands in where the driver says nothing.
        types: PostgreSQL's types that the driver does not know, by numbers.
    """
    found: list[Described | None] = []
    for place, column in enumerate(description):
        value = first[place]
        if dialect == "postgresql":
            told = (types or {}).get(column.type_code)
            type = _of_postgresql(column) if told is None else told.type
        elif dialect == "sqlite":
            type = _of_value(value)
        else:
            type = _of_mysql(column, value)
        nullable = dialect not in ("mysql", "mariadb") or bool(column[6])
        found.append(None if type is None else (column[0], type, nullable))
    return found


def unknown_types(description: Sequence[Any]) -> set[int]:
    """Return the numbers of the types of a PostgreSQL result that only its catalog knows."""
    return {column.type_code for column in description if _of_postgresql(column) is None}


def _of_postgresql(column: Any) -> SqlType | None:
    known = postgresql_types.get(column.type_code)
    name = known.name if known is not None and known.oid == column.type_code else ""
    if name == "numeric":
        return sql.Numeric(column.precision, column.scale)
    return _POSTGRESQL.get(name)


def _of_mysql(column: Any, value: Any) -> SqlType:
    unsigned = bool(column[7] & _UNSIGNED_FLAG)
    if column[1] in _MYSQL_DECIMALS:
        scale = column[5]
        # The length has the point and the sign in it.
        return sql.Numeric(column[4] - (scale > 0) - (not unsigned), scale)
    known = _MYSQL_UNSIGNED.get(column[1]) if unsigned else None
    return known or _MYSQL.get(column[1]) or _of_value(value)


def _of_value(value: Any) -> SqlType:
    return next((type for kind, type in _BY_VALUE if isinstance(value, kind)), sql.Text())
