"""JdbcSource's task: hands over the rows of its tables."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from copycat_connect.errors import ConnectError
from copycat_connect.plugin import SourceTask

from copycat_jdbc.database import Database, TableName
from copycat_jdbc.source.choice import whole_names
from copycat_jdbc.source.positions import QUERY, Position, partitions_of
from copycat_jdbc.source.read_ahead import ReadAhead
from copycat_jdbc.source.reader import Reader, Rows
from copycat_jdbc.source.settings import REPORT, TABLES, JdbcSourceSettings, Mode
from copycat_jdbc.source.turns import Turns

_WAIT_SECONDS = 0.5
_NO_WORK = (
    "Task is being killed because it was not assigned a table nor a query to execute. "
    "Restart the connector, and if it goes on look at table.include.list, table.whitelist and the "
    "user's rights"
)


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

    def _reader(self, database: Database, table: TableName | None) -> Reader:
        settings = self._settings
        if table is not None:
            settings = settings.of_table(whole_names(table, database.address))
        return Reader(database, settings, table, self._stored(database, table))

    def _stored(self, database: Database, table: TableName | None) -> Position | None:
        if self._settings.mode == Mode.BULK:
            return None
        partitions = [{QUERY: QUERY}] if table is None else partitions_of(table, database.address.database)
        found = next(filter(None, self.context.offsets(partitions)), None)
        return None if found is None else Position.of(found)


def _tables(config: Mapping[str, str]) -> list[TableName]:
    if TABLES not in config:
        raise ConnectError(_NO_WORK)
    return [TableName(*parts) for parts in json.loads(config[TABLES])]
