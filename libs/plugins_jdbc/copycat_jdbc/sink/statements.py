"""Statements that write, in the words and types of each database. Names come quoted."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import date, time
from decimal import Decimal
from typing import Final

from copycat_connect.data import Schema, SchemaType
from copycat_connect.data.logical import DATE, DECIMAL, TIME, TIMESTAMP, decimal_scale
from copycat_connect.errors import DataError

from copycat_jdbc.sink.layout import SinkColumn

_POSTGRESQL: Final[Mapping[SchemaType | str, str]] = {
    SchemaType.INT8: "SMALLINT",
    SchemaType.INT16: "SMALLINT",
    SchemaType.INT32: "INT",
    SchemaType.INT64: "BIGINT",
    SchemaType.FLOAT32: "REAL",
    SchemaType.FLOAT64: "DOUBLE PRECISION",
    SchemaType.BOOLEAN: "BOOLEAN",
    SchemaType.STRING: "TEXT",
    SchemaType.BYTES: "BYTEA",
    DECIMAL: "DECIMAL",
    DATE: "DATE",
    TIME: "TIME",
    TIMESTAMP: "TIMESTAMP",
}
_MYSQL: Final[Mapping[SchemaType | str, str]] = {
    SchemaType.INT8: "TINYINT",
    SchemaType.INT16: "SMALLINT",
    SchemaType.INT32: "INT",
    SchemaType.INT64: "BIGINT",
    SchemaType.FLOAT32: "FLOAT",
    SchemaType.FLOAT64: "DOUBLE",
    SchemaType.BOOLEAN: "TINYINT",
    SchemaType.STRING: "TEXT",
    SchemaType.BYTES: "LONGBLOB",
    DATE: "DATE",
    TIME: "TIME(3)",
    TIMESTAMP: "DATETIME(3)",
}
#: Texts and bytes have no end, and an index of MariaDB wants one.
_MYSQL_KEYS: Final[Mapping[SchemaType, str]] = {
    SchemaType.STRING: "VARCHAR(255)",
    SchemaType.BYTES: "VARBINARY(255)",
}
_SQLITE: Final[Mapping[SchemaType | str, str]] = {
    SchemaType.INT8: "INTEGER",
    SchemaType.INT16: "INTEGER",
    SchemaType.INT32: "INTEGER",
    SchemaType.INT64: "INTEGER",
    SchemaType.FLOAT32: "REAL",
    SchemaType.FLOAT64: "REAL",
    SchemaType.BOOLEAN: "INTEGER",
    SchemaType.STRING: "TEXT",
    SchemaType.BYTES: "BLOB",
    DECIMAL: "NUMERIC",
    DATE: "NUMERIC",
    TIME: "NUMERIC",
    TIMESTAMP: "NUMERIC",
}
_TYPES: Final = {"postgresql": _POSTGRESQL, "mysql": _MYSQL, "mariadb": _MYSQL, "sqlite": _SQLITE}
_MOST_DIGITS_OF_MYSQL = 65


class WriteStatements:
    """Writes statements for one database."""

    def __init__(self, dialect: str) -> None:
        """Use `postgresql`, `mysql`, `mariadb` or `sqlite`."""
        self.dialect = dialect
        self.mark = "?" if dialect == "sqlite" else "%s"

    def create(
        self, table: str, columns: Sequence[tuple[str, SinkColumn]], *, micros: Collection[str] = ()
    ) -> str:
        """Return what makes a table of columns, given with their quoted names.

        Args:
            table: Its name.
            columns: Its columns.
            micros: Names of the columns that hold points in time with microseconds.
        """
        parts = [self._column(name, column, column.name in micros) for name, column in columns]
        keys = [name for name, column in columns if column.is_key]
        if keys:
            parts.append(f"PRIMARY KEY({','.join(keys)})")
        return f"CREATE TABLE {table} (\n" + ",\n".join(parts) + ")"

    def add(
        self, table: str, columns: Sequence[tuple[str, SinkColumn]], *, micros: Collection[str] = ()
    ) -> list[str]:
        """Return what adds columns to a table."""
        parts = [f"ADD {self._column(name, column, column.name in micros)}" for name, column in columns]
        if self.dialect == "sqlite":
            return [f"ALTER TABLE {table} {part}" for part in parts]
        return [f"ALTER TABLE {table} {','.join(parts)}"]

    def insert(self, table: str, names: Sequence[str]) -> str:
        """Return what adds a row."""
        marks = ",".join([self.mark] * len(names))
        return f"INSERT INTO {table} ({','.join(names)}) VALUES ({marks})"

    def upsert(self, table: str, keys: Sequence[str], others: Sequence[str]) -> str:
        """Return what adds a row, or changes the one with its key; parameters are keys, then others."""
        return f"{self.insert(table, [*keys, *others])} {self.on_conflict(keys, others)}"

    def on_conflict(self, keys: Sequence[str], others: Sequence[str]) -> str:
        """Return the end of an INSERT that changes the row that is there."""
        if self.dialect in ("mysql", "mariadb"):
            changed = ",".join(f"{name}=VALUES({name})" for name in others or keys)
            return f"ON DUPLICATE KEY UPDATE {changed}"
        if not others:
            return f"ON CONFLICT ({','.join(keys)}) DO NOTHING"
        changed = ",".join(f"{name}=EXCLUDED.{name}" for name in others)
        return f"ON CONFLICT ({','.join(keys)}) DO UPDATE SET {changed}"

    def update(self, table: str, keys: Sequence[str], others: Sequence[str]) -> str:
        """Return what changes the row with a key; parameters are others, then keys."""
        changed = ",".join(f"{name}={self.mark}" for name in others)
        where = " AND ".join(f"{name}={self.mark}" for name in keys)
        return f"UPDATE {table} SET {changed} WHERE {where}"

    def delete(self, table: str, keys: Sequence[str], rows: int) -> str:
        """Return what deletes the rows with so many keys; parameters are key after key."""
        where = "(" + " AND ".join(f"{name}={self.mark}" for name in keys) + ")"
        return f"DELETE FROM {table} WHERE {' OR '.join([where] * rows)}"

    def _column(self, name: str, column: SinkColumn, micros: bool) -> str:
        text = f"{name} {sql_type(column, self.dialect, micros=micros)}"
        default = sql_default(column.schema, self.dialect)
        if default is not None and not column.is_key:
            return f"{text} DEFAULT {default}"
        return f"{text} {'NULL' if column.optional else 'NOT NULL'}"


def sql_type(column: SinkColumn, dialect: str, *, micros: bool = False) -> str:
    """Return the type of a new column.

    Args:
        column: The column.
        dialect: `postgresql`, `mysql`, `mariadb` or `sqlite`.
        micros: Whether its points in time have microseconds.

    Raises:
        DataError: No column can hold such values.
    """
    schema = column.schema
    if schema.type is SchemaType.ARRAY and dialect == "postgresql" and schema.value is not None:
        return f"{_plain_type(schema.value, dialect, column.name)}[]"
    if dialect in ("mysql", "mariadb"):
        if schema.name == DECIMAL:
            return f"DECIMAL({_MOST_DIGITS_OF_MYSQL},{decimal_scale(schema)})"
        if schema.name == TIMESTAMP and micros:
            return "DATETIME(6)"
        if column.is_key and schema.type in _MYSQL_KEYS and schema.name is None:
            return _MYSQL_KEYS[schema.type]
    return _plain_type(schema, dialect, column.name)


def sql_default(schema: Schema, dialect: str) -> str | None:
    """Return what stands behind DEFAULT; None where a column has none: each record has the value itself."""
    value = schema.default
    if isinstance(value, bool):
        return str(value).upper() if dialect == "postgresql" else str(int(value))
    if schema.name is None and isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, bytes):
        return f"'\\x{value.hex()}'" if dialect == "postgresql" else f"x'{value.hex()}'"
    if schema.name is not None and dialect != "postgresql":
        return None  # points in time are numbers in SQLite, and have no time zone in MariaDB
    if not isinstance(value, (str, date, time, Decimal)):
        return None
    quoted = "'" + str(value).replace("'", "''") + "'"
    return quoted if dialect in ("postgresql", "sqlite") else "(" + quoted.replace("\\", "\\\\") + ")"


def _plain_type(schema: Schema, dialect: str, name: str) -> str:
    types = _TYPES[dialect]
    found = types.get(schema.name or "") or types.get(schema.type)
    if found is None:
        raise DataError(
            f"{schema.name} ({schema.type}) type doesn't have a mapping to the SQL database column type: "
            f"field {name}; leave it out (fields.whitelist), or make it plain (transformation Flatten)"
        )
    return found
