"""Writes batches: tables first, then rows; records that are refused are found and reported."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from copycat_connect.data import SinkBatch, SinkRecord
from copycat_connect.errors import ConnectError, RetriableError

from copycat_plugins.connectors.jdbc_sink.postgres_writer import PostgresWriter
from copycat_plugins.connectors.jdbc_sink.runs import Run, Runs, WrongRun
from copycat_plugins.connectors.jdbc_sink.session import Session
from copycat_plugins.connectors.jdbc_sink.settings import Settings
from copycat_plugins.connectors.jdbc_sink.tables import Table, Tables
from copycat_plugins.connectors.jdbc_sink.writers import RowWriter

Refusal: TypeAlias = tuple[SinkRecord, ConnectError]
"""A record that cannot be written, and why."""


class Store:
    """Writes into one transaction, which whoever calls ends."""

    def __init__(self, session: Session, settings: Settings, *, finds_refused: bool) -> None:
        """Take the connection, and what the user wants; `finds_refused` writes all but refused records."""
        self._session = session
        self._finds_refused = finds_refused
        self._refused: list[Refusal] = []
        self._runs = Runs(settings)
        self._tables = Tables(session, settings)
        postgresql = session.database.dialect == "postgresql"
        self._writer = (PostgresWriter if postgresql else RowWriter)(session, settings, self._tables)

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
