"""Writes batches: tables first, then rows; records that are refused are found and reported."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

from copycat_connect.data import SinkBatch, SinkRecord
from copycat_connect.errors import ConnectError, RetriableError

from copycat_jdbc.sink.runs import RecordRuns, Run, WrongRun
from copycat_jdbc.sink.session import DatabaseSession
from copycat_jdbc.sink.settings import JdbcSinkSettings
from copycat_jdbc.sink.tables import Table, Tables
from copycat_jdbc.sink.values import array_literal, copy_block, text_column
from copycat_jdbc.sink.writers import RowWriter


class _PostgresWriter(RowWriter):
    """One statement a run: no row is a call of its own (ADR 0030), COPY where it does what INSERT does."""

    def _insert(self, run: Run, table: Table, columns: Sequence[Sequence[Any]]) -> None:
        names = ",".join(self._names(run.layout))
        doing = f"insert into {run.table}"
        if not table.takes_copy:
            self._insert_rows(run, table, columns, "", doing)
            return
        self._session.copy(f"COPY {table.name} ({names}) FROM STDIN", copy_block(columns), doing=doing)

    def _upsert(self, run: Run, table: Table, columns: Sequence[Sequence[Any]]) -> None:
        end = self._statements.on_conflict(*self._divided(run.layout))
        self._insert_rows(run, table, columns, end, f"upsert into {run.table}")

    def _insert_rows(
        self, run: Run, table: Table, columns: Sequence[Sequence[Any]], end: str, doing: str
    ) -> None:
        names = ",".join(self._names(run.layout))
        source = self._rows(run, table)
        if source is None:
            marks = ",".join(f"%s::{type}" for type in self._types(run, table))
            statement = f"INSERT INTO {table.name} ({names}) VALUES ({marks}) {end}"
            rows = [*zip(*map(text_column, columns), strict=True)]
            self._session.run_many(statement, rows, doing=doing)
        else:
            statement = f"INSERT INTO {table.name} ({names}) SELECT * FROM {source} {end}"
            self._session.run(statement, [*map(array_literal, columns)], doing=doing)

    def _update(self, run: Run, table: Table, columns: Sequence[Sequence[Any]]) -> None:
        source = self._rows(run, table)
        if source is None:
            super()._update(run, table, columns)
            return
        places = [*enumerate(run.layout.columns)]
        changed = ",".join(
            f"{self._tables.quoted(each.name)}=new_row.c{place}" for place, each in places if not each.is_key
        )
        if changed:
            statement = f"UPDATE {table.name} AS old_row SET {changed} FROM {source} WHERE {self._same(run)}"
            self._session.run(statement, [*map(array_literal, columns)], doing=f"update {run.table}")

    def _delete(self, run: Run, table: Table, columns: Sequence[Sequence[Any]]) -> None:
        source = self._rows(run, table)
        if source is None:
            super()._delete(run, table, columns)
            return
        statement = f"DELETE FROM {table.name} AS old_row USING {source} WHERE {self._same(run)}"
        self._session.run(statement, [*map(array_literal, columns)], doing=f"delete from {run.table}")

    def _same(self, run: Run) -> str:
        return " AND ".join(
            f"old_row.{self._tables.quoted(each.name)}=new_row.c{place}"
            for place, each in enumerate(run.layout.columns)
            if each.is_key
        )

    def _types(self, run: Run, table: Table) -> list[str]:
        return [table.types[self._settings.folded(name)] for name in run.layout.names]

    def _rows(self, run: Run, table: Table) -> str | None:
        """Return the rows of arrays, one for each column; None where a column holds arrays itself."""
        types = self._types(run, table)
        if any(type.endswith("]") for type in types):
            return None
        arrays = ",".join(f"%s::{type}[]" for type in types)
        return f"unnest({arrays}) AS new_row({','.join(f'c{place}' for place in range(len(types)))})"


Refusal: TypeAlias = tuple[SinkRecord, ConnectError]
"""A record that cannot be written, and why."""


class RowStore:
    """Writes into one transaction, which whoever calls ends."""

    def __init__(self, session: DatabaseSession, settings: JdbcSinkSettings, *, finds_refused: bool) -> None:
        """Use the connection, and what the user wants; `finds_refused` writes all but refused records."""
        self._session = session
        self._finds_refused = finds_refused
        self._refused: list[Refusal] = []
        self._runs = RecordRuns(settings)
        self._tables = Tables(session, settings)
        postgresql = session.database.dialect == "postgresql"
        self._writer = (_PostgresWriter if postgresql else RowWriter)(session, settings, self._tables)

    def write(self, batches: Sequence[SinkBatch], written: Sequence[SinkBatch] = ()) -> list[Refusal]:
        """Write batches behind those that the open transaction has already.

        Args:
            batches: What is to be written.
            written: What the open transaction has; written again where that must be begun anew.

        Returns:
            The records that are refused, when they are to be found; the others are written.

        Raises:
            RetriableError: The database is away; the transaction is lost.
            ConnectError: A record is refused, and they are not to be found. Nothing is written.
        """
        self._refused = []
        try:
            self._write(batches, written, careful=False)
        except RetriableError:
            raise
        except ConnectError:
            # Somebody may have changed a table. Look again; and find the records that are refused.
            self._tables.forget()
            self._session.rollback()
            self._write([*written, *batches], (), careful=self._finds_refused)
        return self._refused

    def _write(self, batches: Sequence[SinkBatch], written: Sequence[SinkBatch], *, careful: bool) -> None:
        runs = [run for batch in batches for run in self._runs.of(batch)]
        if self._session.in_transaction and not all(map(self._fits, runs)):
            # Tables are changed in transactions of their own, that hold no rows.
            self._session.rollback()
            runs = [run for batch in [*written, *batches] for run in self._runs.of(batch)]
        if not self._session.in_transaction:
            self._session.begin()
        for run, table in self._with_tables(runs, careful=careful):
            if careful:
                self._write_carefully(run, table)
            else:
                self._writer.write(run, table)

    def _fits(self, run: Run | WrongRun) -> bool:
        return isinstance(run, WrongRun) or self._tables.fits(run.table, run.layout)

    def _with_tables(self, runs: Sequence[Run | WrongRun], *, careful: bool) -> list[tuple[Run, Table]]:
        ready = []
        for run in runs:
            try:
                if isinstance(run, WrongRun):
                    raise run.error
                ready.append((run, self._tables.ready(run.table, run.layout)))
            except RetriableError:
                raise
            except ConnectError as error:
                if not careful:
                    raise
                if not self._session.in_transaction:
                    self._session.begin()
                self._refuse(run, error)
        return ready

    def _write_carefully(self, run: Run, table: Table) -> None:
        """Write a run; where it is refused, by halves, down to the records that are refused."""
        try:
            with self._session.savepoint():
                self._writer.write(run, table)
        except RetriableError:
            raise
        except ConnectError as error:
            middle = (run.start + run.stop) // 2
            if middle == run.start:
                self._refuse(run, error)
                return
            self._write_carefully(run.part(run.start, middle), table)
            self._write_carefully(run.part(middle, run.stop), table)

    def _refuse(self, run: Run | WrongRun, error: ConnectError) -> None:
        self._refused += [(record, error) for record in run.records[run.start : run.stop]]
