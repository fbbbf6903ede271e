"""How rows are written where the driver takes rows: MariaDB, MySQL and SQLite."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

from copycat_jdbc.errors import WrongSetting
from copycat_jdbc.sink.layout import ColumnLayout
from copycat_jdbc.sink.runs import Run
from copycat_jdbc.sink.session import DatabaseSession
from copycat_jdbc.sink.settings import PK_FIELDS, PK_MODE, InsertMode, JdbcSinkSettings
from copycat_jdbc.sink.statements import WriteStatements
from copycat_jdbc.sink.tables import Table, Tables
from copycat_jdbc.sink.values import bound

#: Keys of one DELETE; databases limit how many parameters a statement has.
_DELETED_AT_ONCE = 200


class RowWriter:
    """Writes runs of records, row by row as far as the driver does not do better."""

    def __init__(self, session: DatabaseSession, settings: JdbcSinkSettings, tables: Tables) -> None:
        """Use what runs statements, and what the user wants."""
        self._session = session
        self._settings = settings
        self._tables = tables
        self._dialect = session.database.dialect
        self._statements = WriteStatements(self._dialect)

    def write(self, run: Run, table: Table) -> None:
        """Write a run.

        Raises:
            ConnectError: The database refuses a record, or is away.
        """
        mode = self._settings.insert_mode
        keyed = run.deletes or mode != InsertMode.INSERT
        if keyed and not run.layout.keys:
            raise WrongSetting(
                f"Write to table '{run.table}' in {mode.upper()} mode requires key field names to be known, "
                f"check the primary key configuration ({PK_MODE}, {PK_FIELDS})"
            )
        columns = [
            bound(
                column, values, self._settings, self._dialect, table.types[self._settings.folded(column.name)]
            )
            for column, values in zip(run.layout.columns, run.columns(), strict=True)
        ]
        if keyed:
            columns = _newest(
                columns, [place for place, each in enumerate(run.layout.columns) if each.is_key]
            )
        for part in _parts(columns, self._settings.batch_size):
            if run.deletes:
                self._delete(run, table, part)
            elif mode == InsertMode.INSERT:
                self._insert(run, table, part)
            elif mode == InsertMode.UPSERT:
                self._upsert(run, table, part)
            else:
                self._update(run, table, part)

    def _insert(self, run: Run, table: Table, columns: Sequence[Sequence[Any]]) -> None:
        statement = self._statements.insert(table.name, self._names(run.layout))
        self._session.run_many(statement, [*zip(*columns, strict=True)], doing=f"insert into {run.table}")

    def _upsert(self, run: Run, table: Table, columns: Sequence[Sequence[Any]]) -> None:
        keys, others = self._divided(run.layout)
        statement = self._statements.upsert(table.name, keys, others)
        key_values, values = _divided(run.layout, columns)
        rows = [*zip(*key_values, *values, strict=True)]
        self._session.run_many(statement, rows, doing=f"upsert into {run.table}")

    def _update(self, run: Run, table: Table, columns: Sequence[Sequence[Any]]) -> None:
        keys, others = self._divided(run.layout)
        if not others:
            return
        statement = self._statements.update(table.name, keys, others)
        key_values, values = _divided(run.layout, columns)
        rows = [*zip(*values, *key_values, strict=True)]
        self._session.run_many(statement, rows, doing=f"update {run.table}")

    def _delete(self, run: Run, table: Table, columns: Sequence[Sequence[Any]]) -> None:
        keys = self._names(run.layout)
        for part in _parts(columns, _DELETED_AT_ONCE):
            statement = self._statements.delete(table.name, keys, len(part[0]))
            values = [*chain.from_iterable(zip(*part, strict=True))]
            self._session.run(statement, values, doing=f"delete from {run.table}")

    def _names(self, layout: ColumnLayout) -> list[str]:
        return [self._tables.quoted(name) for name in layout.names]

    def _divided(self, layout: ColumnLayout) -> tuple[list[str], list[str]]:
        keys = [self._tables.quoted(each.name) for each in layout.columns if each.is_key]
        return keys, [self._tables.quoted(each.name) for each in layout.columns if not each.is_key]


def _divided(
    layout: ColumnLayout, columns: Sequence[Sequence[Any]]
) -> tuple[list[Sequence[Any]], list[Sequence[Any]]]:
    pairs = [*zip(layout.columns, columns, strict=True)]
    return [values for each, values in pairs if each.is_key], [
        values for each, values in pairs if not each.is_key
    ]


def _newest(columns: list[Sequence[Any]], keys: Sequence[int]) -> list[Sequence[Any]]:
    """Return the columns without rows whose key comes again: the last one counts."""
    marks = columns[keys[0]] if len(keys) == 1 else [*zip(*(columns[place] for place in keys), strict=True)]
    places = {mark: place for place, mark in enumerate(marks)}
    if len(places) == len(marks):
        return columns
    kept = sorted(places.values())
    return [[column[place] for place in kept] for column in columns]


def _parts(columns: Sequence[Sequence[Any]], size: int) -> Iterator[Sequence[Sequence[Any]]]:
    count = len(columns[0])
    if not size or count <= size:
        yield columns
        return
    for start in range(0, count, size):
        yield [column[start : start + size] for column in columns]
