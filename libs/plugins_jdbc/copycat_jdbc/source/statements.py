"""Statements: what is asked of the database in each mode."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from copycat_jdbc.database import Database, TableName
from copycat_jdbc.granularity import micros
from copycat_jdbc.source.positions import RowPosition
from copycat_jdbc.source.settings import JdbcSourceSettings, Mode

#: Milliseconds since the epoch of a text or a number, whatever digits it is written with.
_SQLITE_MILLIS = (
    "CASE WHEN typeof({0}) IN ('integer', 'real') THEN {0} "
    "ELSE CAST(round((julianday({0}) - 2440587.5) * 86400000) AS INTEGER) END"
)


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement in the driver's own writing, with its parameters."""

    text: str
    parameters: tuple[Any, ...]


class SelectStatements:
    """Writes the statements for one table or query."""

    def __init__(self, database: Database, settings: JdbcSourceSettings, table: TableName | None) -> None:
        """Use what is read; without a table it is the configured query."""
        self._database = database
        self._settings = settings
        self._mark = "?" if database.dialect == "sqlite" else "%s"
        self._table = "" if table is None else database.quoted_table(table, always=settings.quoted)
        self._base = self._as_written(settings.query if table is None else f"SELECT * FROM {self._table}")  # noqa: S608  quoted
        self.in_utc = False
        """True where the timestamp columns of MySQL hold points in time and not what a clock shows."""

    def select(self, columns: Sequence[str], as_text: Collection[str]) -> None:
        """Read these columns of the table; of some the text that PostgreSQL makes of their values."""
        chosen = []
        for name in columns:
            quoted = self._quoted(name)
            chosen.append(f"{quoted}::text AS {quoted}" if name in as_text else quoted)
        self._base = self._as_written(f"SELECT {', '.join(chosen)} FROM {self._table}")  # noqa: S608  quoted

    def write(self, incrementing: str, position: RowPosition, end: datetime | None) -> Statement:
        """Return the statement that reads on.

        Args:
            incrementing: Name of the incrementing column, where one is followed.
            position: The last row that was read.
            end: Rows from here on are not read yet, where timestamps are followed.
        """
        mark, parameters = self._mark, []
        number = self._quoted(incrementing) if self._settings.follows_number else ""
        moment = self._moment() if self._settings.follows_time else ""
        if self._settings.mode == Mode.INCREMENTING:
            condition = f" WHERE {number} > {mark} ORDER BY {number} ASC"
            parameters = [position.number]
        elif self._settings.mode == Mode.TIMESTAMP:
            condition = f" WHERE {moment} > {mark} AND {moment} < {mark} ORDER BY {moment} ASC"
            parameters = [self._bound(position.moment), self._bound(end)]
        elif self._settings.mode == Mode.BOTH:
            condition = (
                f" WHERE {moment} < {mark}"
                f" AND (({moment} = {mark} AND {number} > {mark}) OR {moment} > {mark})"
                f" ORDER BY {moment},{number} ASC"
            )
            begin = self._bound(position.moment)
            parameters = [self._bound(end), begin, position.number, begin]
        else:
            condition = ""
        suffix = f" {self._settings.query_suffix}" if self._settings.query_suffix else ""
        return Statement(f"{self._base}{condition}{suffix}", tuple(parameters))

    def count(self, incrementing: str, low: RowPosition, high: RowPosition) -> Statement:
        """Return the statement that counts the rows after one position up to another."""
        mark = self._mark
        number = self._quoted(incrementing) if self._settings.follows_number else ""
        moment = self._moment() if self._settings.follows_time else ""
        if self._settings.mode == Mode.INCREMENTING:
            condition = f"{number} > {mark} AND {number} <= {mark}"
            parameters = [low.number, high.number]
        elif self._settings.mode == Mode.TIMESTAMP:
            condition = f"{moment} > {mark} AND {moment} <= {mark}"
            parameters = [self._bound(low.moment), self._bound(high.moment)]
        else:
            condition = (
                f"(({moment} = {mark} AND {number} > {mark}) OR {moment} > {mark})"
                f" AND (({moment} = {mark} AND {number} <= {mark}) OR {moment} < {mark})"
            )
            begin, end = self._bound(low.moment), self._bound(high.moment)
            parameters = [begin, low.number, begin, end, high.number, end]
        text = f"SELECT COUNT(*) FROM ({self._base} WHERE {condition}) AS counted"  # noqa: S608  bound
        return Statement(text, tuple(parameters))

    def _as_written(self, text: str) -> str:
        """Return a text that drivers leave as it is; most read a percent sign as a parameter's place."""
        return text if self._database.dialect == "sqlite" else text.replace("%", "%%")

    def _quoted(self, name: str) -> str:
        return self._database.quoted(name, always=self._settings.quoted)

    def _moment(self) -> str:
        names = [self._quoted(name) for name in self._settings.timestamps]
        if self._database.dialect == "sqlite":
            names = [_SQLITE_MILLIS.format(name) for name in names]
        return names[0] if len(names) == 1 else f"COALESCE({','.join(names)})"

    def _bound(self, moment: datetime | None) -> Any:
        assert moment is not None  # a mode that follows timestamps has both bounds
        match self._database.dialect:
            case "sqlite":
                return micros(moment) // 1000
            case "mysql" | "mariadb":
                zone = UTC if self.in_utc else self._database.zone
                return moment.astimezone(zone).replace(tzinfo=None)
            case _:
                return moment
