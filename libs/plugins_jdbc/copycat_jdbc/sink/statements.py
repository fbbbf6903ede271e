"""Statements that write, in the words of each database. Names come quoted."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from copycat_jdbc.sink.layout import SinkColumn
from copycat_jdbc.sink.sql_types import sql_default, sql_type


class Statements:
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
