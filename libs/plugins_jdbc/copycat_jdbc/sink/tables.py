"""The tables that are written to: looked at once, created and extended where that is allowed."""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from copycat_connect.errors import ConnectError, RetriableError

from copycat_jdbc.address import Address
from copycat_jdbc.database import TableName
from copycat_jdbc.errors import WrongSetting
from copycat_jdbc.sink.layout import ColumnLayout, SinkColumn
from copycat_jdbc.sink.session import DatabaseSession
from copycat_jdbc.sink.settings import (
    AUTO_CREATE,
    AUTO_EVOLVE,
    TABLE_FORMAT,
    TABLE_TYPES,
    TOPIC_PLACEHOLDER,
    WHITELIST,
    JdbcSinkSettings,
)
from copycat_jdbc.sink.statements import WriteStatements

_log = logging.getLogger(__name__)
_PART = re.compile(r'"((?:[^"]|"")*)"|`((?:[^`]|``)*)`|([^.]+)')
_LIST_KINDS = {
    "postgresql": "SELECT CASE relkind WHEN 'p' THEN 'PARTITIONED TABLE' WHEN 'r' THEN 'TABLE' "
    "WHEN 'f' THEN 'TABLE' ELSE 'VIEW' END, "
    # COPY passes rules by, and does not reach views, foreign servers and rows with a policy.
    "relkind IN ('r', 'p') AND NOT relhasrules AND NOT row_security_active(oid) "
    "FROM pg_class WHERE oid = to_regclass(%s)",
    "sqlite": "SELECT upper(type) FROM sqlite_master WHERE name = ? AND type IN ('table', 'view')",
    "mysql": "SELECT CASE table_type WHEN 'VIEW' THEN 'VIEW' ELSE 'TABLE' END FROM information_schema.tables "
    "WHERE table_name = %s AND table_schema = coalesce(%s, database())",
}
_LIST_TYPES = (
    "SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute "
    "WHERE attrelid = to_regclass(%s) AND attnum > 0 AND NOT attisdropped"
)


@dataclass(frozen=True, slots=True)
class Table:
    """A table as it is."""

    name: str
    """Its name as it stands in statements."""
    types: Mapping[str, str]
    """Of each column the name of its type; in PostgreSQL its own. The names of columns are as all spellings
    become (`folded` of the settings)."""
    takes_copy: bool = False
    """Whether COPY does what INSERT does."""


class TableProblem(WrongSetting):
    """A table does not fit the records, and may not be changed."""


def table_name(name: str, address: Address, key: str) -> TableName:
    """Return the parts of a table's name: dots part them, quotes keep them together.

    Args:
        name: The name as `key` gives it.
        address: Where the table is.
        key: For texts.

    Raises:
        TableProblem: It has no part, or too many.
    """
    parts = [first or second or third for first, second, third in _PART.findall(name)]
    if not parts:
        raise TableProblem(f"Destination table name is empty; look at {key}")
    *around, last = parts
    if address.dialect == "postgresql" and len(around) == 2 and around[0] == address.database:
        around = around[1:]
    if len(around) > 1:
        raise TableProblem(
            f"The name {name} of a table has {len(parts)} parts, and a table's name has a schema or database "
            f'and a name: put what is one name in quotes, such as {TABLE_FORMAT}="{TOPIC_PLACEHOLDER}", or '
            "change topics by a transformation (RegexRouter)"
        )
    space = around[0] if around else None
    if address.dialect == "postgresql":
        return TableName(None, space, last)
    return TableName(space, None, last)


class Tables:
    """Knows the tables of one database."""

    def __init__(self, session: DatabaseSession, settings: JdbcSinkSettings) -> None:
        """Use what asks the database, and what the user wants."""
        self._session = session
        self._settings = settings
        self._dialect = session.database.dialect
        self._statements = WriteStatements(self._dialect)
        self._known: dict[str, Table] = {}
        self._fitting: set[tuple[str, int]] = set()
        self._layouts: list[ColumnLayout] = []  # so that no other has the number of one that fits

    def forget(self) -> None:
        """Look at all tables again: somebody else may have changed them."""
        self._known.clear()
        self._fitting.clear()
        self._layouts.clear()

    def quoted(self, name: str) -> str:
        """Return a column's name as it stands in statements."""
        return self._session.database.quoted(name, always=self._settings.quoted)

    def fits(self, name: str, layout: ColumnLayout) -> bool:
        """Return whether `ready` has nothing to do."""
        return (name, id(layout)) in self._fitting

    def ready(self, name: str, layout: ColumnLayout) -> Table:
        """Return a table that has all columns of a layout; made or extended now, if need be.

        Raises:
            TableProblem: It lacks something and may not be changed, or what it lacks cannot be added.
            ConnectError: The database refuses.
        """
        if self.fits(name, layout):
            return self._known[name]
        table = self._known.get(name) or self._look(name)
        if table is None:
            table = self._created(name, layout)
        missing = [column for column in layout.columns if not self._has(table, column)]
        if missing:
            table = self._extended(name, table, missing)
        self._known[name] = table
        self._fitting.add((name, id(layout)))
        self._layouts.append(layout)
        return table

    def _has(self, table: Table, column: SinkColumn) -> bool:
        return self._settings.folded(column.name) in table.types

    def _look(self, name: str) -> Table | None:
        found, text = table_name(name, self._session.database.address, TABLE_FORMAT), self._quoted_table(name)
        plain = text.replace("%%", "%")
        parameters: dict[str, tuple[object, ...]] = {
            "postgresql": (plain,),
            "sqlite": (found.name,),
        }
        ask = "postgresql" if self._dialect == "postgresql" else self._dialect
        statement = _LIST_KINDS.get(ask, _LIST_KINDS["mysql"])
        values = parameters.get(ask, (found.name, found.catalog))
        kinds = self._session.run(statement, values, doing=f"look for table {name}")
        if not kinds:
            return None
        kind = str(kinds[0][0])
        if kind not in self._settings.table_types:
            wanted = ", ".join(sorted(self._settings.table_types))
            raise TableProblem(f"{name} is a {kind}, and {TABLE_TYPES} allows for {wanted} only")
        if self._dialect == "postgresql":
            types = self._session.run(_LIST_TYPES, (plain,), doing=f"look at table {name}")
            named = {str(column): str(type) for column, type in types}
            return Table(text, named, takes_copy=bool(kinds[0][1]))
        columns = self._session.database.columns(found) or ()
        return Table(text, {self._settings.folded(each["name"]): str(each["type"]) for each in columns})

    def _created(self, name: str, layout: ColumnLayout) -> Table:
        if not self._settings.auto_create:
            raise TableProblem(
                f"Table {name} is missing and auto-creation is disabled: create it, or set {AUTO_CREATE}"
            )
        text = self._quoted_table(name)
        columns = [(self.quoted(column.name), column) for column in layout.columns]
        statement = self._statements.create(text, columns, micros=self._micros(layout.columns))
        return self._changed(name, [statement], f"create table {name}", layout.columns)

    def _extended(self, name: str, table: Table, missing: Sequence[SinkColumn]) -> Table:
        names = ", ".join(column.name for column in missing)
        if not self._settings.auto_evolve:
            raise TableProblem(
                f"Table {name} is missing fields ({names}) and auto-evolution is disabled: add the columns, "
                f"leave the fields out ({WHITELIST}), or set {AUTO_EVOLVE}"
            )
        for column in missing:
            if not column.optional and column.schema.default is None:
                raise TableProblem(
                    f"Cannot ALTER TABLE {name} to add missing field {column.name}, as the field is not "
                    "optional and does not have a default value"
                )
        columns = [(self.quoted(column.name), column) for column in missing]
        statements = self._statements.add(table.name, columns, micros=self._micros(missing))
        return self._changed(name, statements, f"add columns {names} to table {name}", missing)

    def _micros(self, columns: Sequence[SinkColumn]) -> list[str]:
        return [column.name for column in columns if self._settings.counts_time(column.name)]

    def _changed(
        self, name: str, statements: Sequence[str], doing: str, wanted: Sequence[SinkColumn]
    ) -> Table:
        try:
            for statement in statements:
                self._session.run(statement, doing=doing)
            self._session.commit()
        except RetriableError:
            raise
        except ConnectError:
            # Another task may have done it at the same moment.
            self._session.rollback()
            self._session.begin()
            found = self._look(name)
            if found is not None and all(self._has(found, column) for column in wanted):
                return found
            raise
        _log.info("The sink did: %s", doing)
        self._session.begin()
        table = self._look(name)
        if table is None:
            raise TableProblem(f"Table {name} is not there although it was just created")
        return table

    def _quoted_table(self, name: str) -> str:
        database, found = (
            self._session.database,
            table_name(name, self._session.database.address, TABLE_FORMAT),
        )
        return database.quoted_table(found, always=self._settings.quoted)
