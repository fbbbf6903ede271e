"""JdbcSource's task: hands over the rows of its tables."""

from __future__ import annotations

from collections.abc import Mapping

from copycat_connect.data import SourceBatch
from copycat_connect.plugin import SourceTask

from copycat_plugins.connectors.jdbc.database import Database, TableName
from copycat_plugins.connectors.jdbc_source import spec
from copycat_plugins.connectors.jdbc_source.choice import whole_names
from copycat_plugins.connectors.jdbc_source.positions import QUERY, Position, partitions_of
from copycat_plugins.connectors.jdbc_source.read_ahead import ReadAhead
from copycat_plugins.connectors.jdbc_source.reader import Reader
from copycat_plugins.connectors.jdbc_source.settings import Settings, database_of
from copycat_plugins.connectors.jdbc_source.turns import Turns

_WAIT_SECONDS = 0.5


class JdbcSourceTask(SourceTask):
    """Memory holds a batch, and what `max.buffer.size` allows to be read ahead."""

    def __init__(self) -> None:
        self._turns: Turns | None = None
        self._ahead: ReadAhead | None = None

    def start(self, config: Mapping[str, str]) -> None:
        """Start with the tables and where to go on; the database is asked by `poll`."""
        settings = self._settings = Settings.of(config)
        database = database_of(config)
        tables: tuple[TableName | None, ...] = (None,) if settings.query else settings.tables
        readers = [self._reader(database, table) for table in tables]
        self._turns = Turns(database, readers, settings)

    def poll(self) -> SourceBatch | None:
        """Return the next rows of the table that is due, or nothing after a short wait."""
        turns, settings = self._turns, self._settings
        assert turns is not None  # the engine started it
        if settings.buffer_rows:
            if self._ahead is None:
                self._ahead = ReadAhead(turns, settings.buffer_rows)
            return self._ahead.take(min(settings.linger_seconds, _WAIT_SECONDS))
        found = turns.take()
        if isinstance(found, SourceBatch):
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

    def _reader(self, database: Database, table: TableName | None) -> Reader:
        settings = self._settings
        if table is not None:
            settings = settings.of_table(whole_names(table, database.address))
        return Reader(database, settings, table, self._stored(database, table))

    def _stored(self, database: Database, table: TableName | None) -> Position | None:
        if self._settings.mode == spec.BULK:
            return None
        partitions = [{QUERY: QUERY}] if table is None else partitions_of(table, database.address.database)
        found = next(filter(None, self.context.offsets(partitions)), None)
        return None if found is None else Position.of(found)
