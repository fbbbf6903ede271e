"""How rows are written to PostgreSQL: COPY for inserts, arrays of columns for the rest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from copycat_plugins.connectors.jdbc_sink.postgres_texts import array_literal, copy_block, text_column
from copycat_plugins.connectors.jdbc_sink.runs import Run
from copycat_plugins.connectors.jdbc_sink.tables import Table
from copycat_plugins.connectors.jdbc_sink.writers import RowWriter


class PostgresWriter(RowWriter):
    """One statement a run: no row is a call of its own (ADR 0030)."""

    def _insert(self, run: Run, table: Table, columns: Sequence[Sequence[Any]]) -> None:
        names = ",".join(self._names(run.layout))
        doing = f"insert into {run.table}"
        self._session.copy(f"COPY {table.name} ({names}) FROM STDIN", copy_block(columns), doing=doing)

    def _upsert(self, run: Run, table: Table, columns: Sequence[Sequence[Any]]) -> None:
        keys, others = self._divided(run.layout)
        names = ",".join(self._names(run.layout))
        end = self._statements.on_conflict(keys, others)
        doing = f"upsert into {run.table}"
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
        folded = not self._settings.quoted
        return [table.types[name.lower() if folded else name] for name in run.layout.names]

    def _rows(self, run: Run, table: Table) -> str | None:
        """Return the rows of arrays, one for each column; None where a column holds arrays itself."""
        types = self._types(run, table)
        if any(type.endswith("]") for type in types):
            return None
        arrays = ",".join(f"%s::{type}[]" for type in types)
        return f"unnest({arrays}) AS new_row({','.join(f'c{place}' for place in range(len(types)))})"
