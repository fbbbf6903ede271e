"""Watches which tables there are, in a thread of the connector."""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping
from typing import Protocol, TypeAlias

from copycat_connect.errors import ConnectError, RetriableError
from copycat_connect.plugin import ConnectorContext
from copycat_connect.retry import TryCount

from copycat_jdbc.database import Database, TableName
from copycat_jdbc.errors import Refused
from copycat_jdbc.source.choice import Chosen, TableChoice
from copycat_jdbc.source.settings import JdbcSourceSettings

_log = logging.getLogger(__name__)

_Found: TypeAlias = list[TableName] | ConnectError
"""The tables as they were last seen, or why they are unknown."""


class Choice(Protocol):
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
        choice: Choice | None = None,
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


def _text(found: _Found) -> str:
    return found.message if isinstance(found, ConnectError) else ", ".join(map(str, found))
