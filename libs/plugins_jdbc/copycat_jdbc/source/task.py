"""JdbcSource's task: its tables are read in turn by a thread that reads ahead, and their rows handed over."""

from __future__ import annotations

import json
import logging
import threading
import time
from collections import deque
from collections.abc import Mapping, Sequence

from copycat_connect.errors import ConnectError, RetriableError
from copycat_connect.plugin import SourceTask
from copycat_connect.retry import TryCount

from copycat_jdbc.database import Database, TableName
from copycat_jdbc.errors import Refused
from copycat_jdbc.source.choice import whole_names
from copycat_jdbc.source.positions import QUERY, RowPosition, partitions_of
from copycat_jdbc.source.reader import Rows, RowsReader
from copycat_jdbc.source.settings import QUERY_RETRIES, REPORT, TABLES, JdbcSourceSettings, Mode

_WAIT_SECONDS = 0.5
_NO_WORK = (
    "Task is being killed because it was not assigned a table nor a query to execute. "
    "Restart the connector, and if it goes on look at table.include.list, table.whitelist and the "
    "user's rights"
)
_LOOK_SECONDS = 0.5
_STOP_SECONDS = 10.0
IDLE_SECONDS = 1.0
_log = logging.getLogger(__name__)


class JdbcSourceTask(SourceTask):
    """Memory holds a batch, and what `max.buffer.size` allows to be read ahead."""

    def __init__(self) -> None:
        self._turns: Turns | None = None
        self._ahead: ReadAhead | None = None
        self._said: str | None = None

    def start(self, config: Mapping[str, str]) -> None:
        """Start with the tables and where to go on; the database is asked by `poll`.

        Raises:
            ConfigError: A value is wrong.
            ConnectError: There is nothing to read.
        """
        settings = self._settings = JdbcSourceSettings.parse(config)
        tables: Sequence[TableName | None] = [None] if settings.query else _tables(config)
        database = Database(settings)
        readers = [self._reader(database, table) for table in tables]
        self._turns = Turns(database, readers, settings)

    def poll(self) -> Rows | None:
        """Return the next rows of the table that is due, or nothing after a short wait."""
        turns, settings = self._turns, self._settings
        assert turns is not None  # the engine started it
        if settings.max_buffer_size:
            if self._ahead is None:
                self._ahead = ReadAhead(turns, settings.max_buffer_size)
            batch = self._ahead.take(min(settings.linger_seconds, _WAIT_SECONDS))
            self._say_unread(turns)
            return batch
        found = turns.take()
        self._say_unread(turns)
        if not isinstance(found, float):
            return found
        if found > 0:
            self.context.wait(min(found, _WAIT_SECONDS))
        return None

    def stop(self) -> None:
        """Close what is open."""
        opened, self._turns = self._ahead or self._turns, None
        self._ahead = None
        if opened is not None:
            opened.close()

    def _say_unread(self, turns: Turns) -> None:
        if self._settings.unreadable_columns == REPORT and turns.unread != self._said:
            self._said = turns.unread
            self.context.waiting(self._said)

    def _reader(self, database: Database, table: TableName | None) -> RowsReader:
        settings = self._settings
        if table is not None:
            settings = settings.of_table(whole_names(table, database.address))
        return RowsReader(database, settings, table, self._stored(database, table))

    def _stored(self, database: Database, table: TableName | None) -> RowPosition | None:
        if self._settings.mode == Mode.BULK:
            return None
        partitions = [{QUERY: QUERY}] if table is None else partitions_of(table, database.address.database)
        found = next(filter(None, self.context.offsets(partitions)), None)
        return None if found is None else RowPosition.of(found)


class ReadAhead:
    """Holds so many rows at most, and one batch more than these."""

    def __init__(self, turns: Turns, rows: int) -> None:
        """Use what reads, which belongs to the thread from now on, and how many rows may wait."""
        self._turns = turns
        self._most = rows
        self._waiting: deque[Rows | BaseException] = deque()
        self._rows = 0
        self._changed = threading.Condition()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="jdbc-read-ahead", daemon=True)
        self._thread.start()

    def take(self, seconds: float) -> Rows | None:
        """Return the next rows, or nothing when none came in time.

        Raises:
            RetriableError: The server is away; it is tried again.
            BaseException: What was asked for cannot work, or the thread has failed; nothing more is read.
        """
        with self._changed:
            self._changed.wait_for(lambda: self._waiting, seconds)
            if not self._waiting:
                return None
            found = self._waiting.popleft()
            self._rows -= _rows(found)
            self._changed.notify_all()
        if isinstance(found, BaseException):
            raise found
        return found

    def close(self) -> None:
        """End the thread, and what it has open."""
        self._stopping.set()
        with self._changed:
            self._changed.notify_all()
        self._thread.join(_STOP_SECONDS)

    def _run(self) -> None:
        try:
            while not self._stopping.is_set():
                try:
                    found = self._turns.take()
                except RetriableError as error:
                    self._put(error)
                except BaseException as error:  # without it the task would wait for rows for ever
                    self._put(error)
                    return
                else:
                    if isinstance(found, float):
                        self._stopping.wait(min(found, _LOOK_SECONDS))
                    else:
                        self._put(found)
        finally:
            self._turns.close()

    def _put(self, found: Rows | BaseException) -> None:
        with self._changed:
            self._changed.wait_for(lambda: self._rows < self._most or self._stopping.is_set())
            self._waiting.append(found)
            self._rows += _rows(found)
            self._changed.notify_all()


class Turns:
    """Reads one result at a time, to its end; called by one thread."""

    def __init__(
        self, database: Database, readers: Sequence[RowsReader], settings: JdbcSourceSettings
    ) -> None:
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

    def _read(self, reader: RowsReader) -> Rows | None:
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

    def _failed(self, reader: RowsReader, error: RetriableError) -> None:
        reader.close()
        if not self._queries.fail():
            raise ConnectError(
                f"{error.message}; tried {self._queries.failed} times ({QUERY_RETRIES})"
            ) from error
        self._not_before = time.monotonic() + min(self._settings.backoff_seconds, 1.0)


def _tables(config: Mapping[str, str]) -> list[TableName]:
    if TABLES not in config:
        raise ConnectError(_NO_WORK)
    return [TableName(*parts) for parts in json.loads(config[TABLES])]


def _rows(found: Rows | BaseException) -> int:
    return 0 if isinstance(found, BaseException) else len(found)


def _urgency(reader: RowsReader) -> tuple[bool, float]:
    return not reader.is_open, reader.due
