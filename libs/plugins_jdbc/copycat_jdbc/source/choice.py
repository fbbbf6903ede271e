"""Which tables are read, by the lists of the configuration."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from copycat_connect.config.user_pattern import UserPattern, compile_user_pattern

from copycat_jdbc.address import Address
from copycat_jdbc.database import Database, TableName
from copycat_jdbc.errors import WrongSetting
from copycat_jdbc.source.settings import EXCLUDE, INCLUDE, WHITELIST, JdbcSourceSettings


@dataclass(frozen=True, slots=True)
class Chosen:
    """What a look at the database found."""

    tables: list[TableName]
    """To be read, in order."""
    missing: str | None
    """What should be there and is not, for people."""


class TableChoice:
    """The tables a connector reads, as they are now."""

    def __init__(self, settings: JdbcSourceSettings) -> None:
        """Use what the user wants."""
        self._settings = settings
        self._include = [compile_user_pattern(INCLUDE, each) for each in settings.table_include_list]
        self._exclude = [compile_user_pattern(EXCLUDE, each) for each in settings.table_exclude_list]

    def tables(self, database: Database) -> Chosen:
        """Return the tables to be read, and which are missing.

        Raises:
            RetriableError: The database is away.
            ConnectError: They cannot be listed, or two would share a topic.
        """
        settings = self._settings
        every = database.tables(settings.table_types, settings.catalog_pattern, settings.schema_pattern)
        database.end_transaction()
        found = [table for table in every if self._wanted(table, database)]
        counted = Counter(table.name for table in found)
        twice = [str(table) for table in found if counted[table.name] > 1]
        if twice:
            raise WrongSetting(
                f"Several tables have the same name, so that they would share a topic: {', '.join(twice)}. "
                f"Choose one of them by {WHITELIST} or {INCLUDE}, and read the others by another "
                "connector"
            )
        return Chosen(found, self._missing(found, every, database))

    def _missing(
        self, found: Sequence[TableName], every: Sequence[TableName], database: Database
    ) -> str | None:
        place = database.address
        there = {name for table in found for name in _names(table, database)}
        if unknown := [name for name in self._settings.table_whitelist if name not in there]:
            return (
                f"{WHITELIST} names what {place} does not have, or does not show to this login: "
                f"{', '.join(unknown)}"
            )
        if found:
            return None
        if every:
            return f"tables at {place} that the lists of the configuration choose: it has {len(every)} others"
        return f"tables at {place}: it has none, or shows none to this login"

    def _wanted(self, table: TableName, database: Database) -> bool:
        names = _names(table, database)
        if white := self._settings.table_whitelist:
            return not names.isdisjoint(white)
        if self._settings.table_blacklist & names:
            return False
        whole = whole_names(table, database.address)
        if self._include and not _match(self._include, whole):
            return False
        return not _match(self._exclude, whole)


def _names(table: TableName, database: Database) -> set[str]:
    return {table.name, str(table), database.quoted_table(table)}


def whole_names(table: TableName, address: Address) -> list[str]:
    """Return what expressions for whole names are compared with; PostgreSQL's may begin with the database."""
    return [str(table), f"{address.database}.{table}"] if table.schema else [str(table)]


def _match(patterns: Sequence[UserPattern], names: Sequence[str]) -> bool:
    return any(pattern.fullmatch(name) for pattern in patterns for name in names)
