"""Which tables are read, by the lists of the configuration, looked at again and again."""

from __future__ import annotations

import logging
import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from copycat_connect.config.user_pattern import UserPattern, compile_user_pattern
from copycat_connect.errors import ConnectError, RetriableError
from copycat_connect.plugin import ConnectorContext
from copycat_connect.retry import TryCount

from copycat_jdbc.address import Address
from copycat_jdbc.database import Database, TableName
from copycat_jdbc.errors import Refused, WrongSetting
from copycat_jdbc.source.settings import EXCLUDE, INCLUDE, WHITELIST, JdbcSourceSettings

_Found: TypeAlias = list[TableName] | ConnectError
"""The tables as they were last seen, or why they are unknown."""
_log = logging.getLogger(__name__)


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


def whole_names(table: TableName, address: Address) -> list[str]:
    """Return what expressions for whole names are compared with; PostgreSQL's may begin with the database."""
    return [str(table), f"{address.database}.{table}"] if table.schema else [str(table)]


class TableFinder(Protocol):
    """Finds the tables, as `TableChoice` does."""

    def tables(self, database: Database) -> Chosen:
        """Return the tables to be read, and which are missing."""


class TableMonitor:
    """Lists the tables every `table.poll.interval.ms`; its thread ends soon after `stop`.

    A server that is away is looked for until it is back. One that refuses the connection again and again, and
    whatever else ends the thread, fails the connector.
    """

    def __init__(
        self,
        context: ConnectorContext,
        config: Mapping[str, str],
        choice: TableFinder | None = None,
    ) -> None:
        """`context` hears of other tables than before; `choice` is the configuration's by default."""
        settings = JdbcSourceSettings.parse(config)
        self._context = context
        self._choice = choice or TableChoice(settings)
        self._database = Database(settings)
        self._interval = settings.table_poll_seconds
        self._backoff = settings.backoff_seconds
        self._connections = TryCount(settings.connection_attempts)
        self._found: _Found = RetriableError(f"{self._database.address} has not answered yet")
        self._given: _Found | None = None
        self._first = threading.Event()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="jdbc-table-monitor", daemon=True)

    def start(self) -> None:
        """Begin to watch."""
        self._thread.start()

    def tables(self, seconds: float) -> list[TableName]:
        """Return the tables as they were last seen, waiting so long for the first look at them.

        Raises:
            RetriableError: Nobody has seen them yet.
            ConnectError: They are unknown.
        """
        self._first.wait(seconds)
        self._given = found = self._found
        if isinstance(found, ConnectError):
            raise found.with_traceback(None)
        return list(found)

    def stop(self) -> None:
        """End the thread, and its connection."""
        self._stopping.set()

    def _watch(self) -> None:
        try:
            while not self._stopping.is_set():
                self._stopping.wait(self._look())
        except BaseException as error:  # whatever it is, nobody looks any more
            if isinstance(error, ConnectError):
                self._found = error
            self._context.raise_error(error)
            self._first.set()
        finally:
            self._database.close()

    def _look(self) -> float:
        """Look once; returns the seconds until the next look.

        Raises:
            Refused: The server has refused the connection too often.
        """
        try:
            chosen = self._choice.tables(self._database)
        except Refused as error:
            tries = self._connections
            if not tries.fail():
                raise
            self._is_away(f"{error.message} (attempt {tries.failed} of {tries.most})")
            return self._backoff
        except RetriableError as error:
            self._is_away(error.message)
            return min(self._backoff, self._interval)
        except ConnectError as error:
            self._connections.succeed()
            self._see(error, None)
        else:
            self._connections.succeed()
            self._see(chosen.tables, chosen.missing)
        return self._interval

    def _is_away(self, why: str) -> None:
        _log.warning("The tables cannot be listed now: %s", why)
        if isinstance(self._found, RetriableError):  # what tasks are divided over was never seen
            self._found = RetriableError(why)
        self._context.waiting(why)
        self._first.set()

    def _see(self, found: _Found, missing: str | None) -> None:
        self._found = found
        self._first.set()
        if self._stopping.is_set():
            return
        self._context.waiting(missing)
        if self._given is not None and _text(found) != _text(self._given):
            _log.info("The tables have changed; tasks are divided anew over %s", _text(found))
            self._context.request_task_reconfiguration()


def _names(table: TableName, database: Database) -> set[str]:
    return {table.name, str(table), database.quoted_table(table)}


def _match(patterns: Sequence[UserPattern], names: Sequence[str]) -> bool:
    return any(pattern.fullmatch(name) for pattern in patterns for name in names)


def _text(found: _Found) -> str:
    return found.message if isinstance(found, ConnectError) else ", ".join(map(str, found))
