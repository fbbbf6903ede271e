"""The tables of a task, read in turn, each as often as it is due."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence

from copycat_connect.errors import ConnectError, RetriableError
from copycat_connect.retry import TryCount

from copycat_jdbc.database import Database
from copycat_jdbc.errors import Refused
from copycat_jdbc.source.reader import Reader, Rows
from copycat_jdbc.source.settings import QUERY_RETRIES, JdbcSourceSettings

IDLE_SECONDS = 1.0
_log = logging.getLogger(__name__)


class Turns:
    """Reads one result at a time, to its end; called by one thread."""

    def __init__(self, database: Database, readers: Sequence[Reader], settings: JdbcSourceSettings) -> None:
        """Use what is read, in any order."""
        self._database = database
        self._readers = readers
        self._settings = settings
        retries = settings.query_retry_attempts
        self._connections = TryCount(settings.connection_attempts)
        self._queries = TryCount(retries + 1 if retries > 0 else None)
        self._not_before = 0.0

    def take(self) -> Rows | float:
        """Return the next rows, or how many seconds there is nothing to do; 0 after an empty look.

        Raises:
            RetriableError: The server is away.
            ConnectError: What was asked for cannot work.
        """
        now = time.monotonic()
        reader = min(self._readers, key=_urgency, default=None)
        if reader is None:
            return IDLE_SECONDS
        waits = max(reader.due - now, self._not_before - now)
        if waits > 0 and not reader.is_open:
            return waits
        try:
            found = self._read(reader)
        except Refused as error:
            self._refused(error)
            return 0.0
        except RetriableError as error:
            self._failed(reader, error)
            raise
        self._connections.succeed()
        self._queries.succeed()
        return 0.0 if found is None else found

    @property
    def unread(self) -> str | None:
        """The columns of all tables that are left out, for people."""
        return "; ".join(reader.unread for reader in self._readers if reader.unread) or None

    def close(self) -> None:
        """Close what is open."""
        for reader in self._readers:
            reader.close()
        self._database.close()

    def _read(self, reader: Reader) -> Rows | None:
        if not reader.is_open and not reader.open():
            _log.warning(
                "%s is gone; it is looked for again in %s s", reader.name, self._settings.poll_seconds
            )
            reader.due = time.monotonic() + self._settings.poll_seconds
            return None
        batch = reader.fetch()
        if not reader.is_open:
            reader.due = time.monotonic() + self._settings.poll_seconds
        return batch

    def _refused(self, error: Refused) -> None:
        tries = self._connections
        if not tries.fail():
            raise error
        _log.warning("%s (attempt %d of %d)", error.message, tries.failed, tries.most)
        self._not_before = time.monotonic() + self._settings.backoff_seconds

    def _failed(self, reader: Reader, error: RetriableError) -> None:
        reader.close()
        if not self._queries.fail():
            raise ConnectError(
                f"{error.message}; tried {self._queries.failed} times ({QUERY_RETRIES})"
            ) from error
        self._not_before = time.monotonic() + min(self._settings.backoff_seconds, 1.0)


def _urgency(reader: Reader) -> tuple[bool, float]:
    return not reader.is_open, reader.due
