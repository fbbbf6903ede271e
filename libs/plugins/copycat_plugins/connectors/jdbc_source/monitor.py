"""Watches which tables there are, in a thread of the connector."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping, Sequence

from copycat_connect.errors import CopycatError, RetriableError

from copycat_plugins.connectors.jdbc.database import TableName
from copycat_plugins.connectors.jdbc.errors import Refused
from copycat_plugins.connectors.jdbc_source import spec
from copycat_plugins.connectors.jdbc_source.choice import TableChoice
from copycat_plugins.connectors.jdbc_source.settings import database_of

_log = logging.getLogger(__name__)


class TableMonitor:
    """Lists the tables every `table.poll.interval.ms`; its thread ends soon after `stop`."""

    def __init__(
        self,
        config: Mapping[str, str],
        changed: Callable[[], None],
        failed: Callable[[Exception], None],
    ) -> None:
        """Take whom to call when the tables are others than before, and when they can never be listed."""
        parsed = spec.CONFIG.parse(config)
        self._choice = TableChoice(config)
        self._database = database_of(config)
        self._interval: float = parsed[spec.TABLE_POLL_INTERVAL] / 1000
        self._backoff: float = parsed[spec.BACKOFF] / 1000
        self._attempts: int = parsed[spec.ATTEMPTS]
        self._changed, self._failed = changed, failed
        self._tables: list[TableName] | None = None
        self._first = threading.Event()
        self._stopping = threading.Event()
        self._given: Sequence[TableName] | None = None
        self._error: CopycatError | None = None
        self._thread = threading.Thread(target=self._watch, name="jdbc-table-monitor", daemon=True)

    def start(self) -> None:
        """Begin to watch."""
        self._thread.start()

    def tables(self, seconds: float) -> list[TableName]:
        """Return the tables as they were last seen, waiting so long for the first look at them.

        Empty when there was none in time; a change is reported when there is one.

        Raises:
            ConnectError: They cannot be listed at all.
        """
        self._first.wait(seconds)
        if self._error is not None and self._tables is None:
            raise self._error
        self._given = self._tables or []
        return list(self._given)

    def stop(self) -> None:
        """End the thread, and its connection."""
        self._stopping.set()

    def _watch(self) -> None:
        refusals = 0
        try:
            while not self._stopping.is_set():
                try:
                    self._look()
                    refusals, wait = 0, self._interval
                except Refused as error:
                    refusals, wait = refusals + 1, self._backoff
                    if refusals >= self._attempts:
                        raise
                    _log.warning("%s (attempt %d of %d)", error.message, refusals, self._attempts)
                except RetriableError as error:
                    wait = min(self._backoff, self._interval)
                    _log.warning("The tables cannot be listed now: %s", error.message)
                self._stopping.wait(wait)
        except CopycatError as error:
            self._error = error
            self._first.set()
            if self._given is not None:
                self._failed(error)
        finally:
            self._database.close()

    def _look(self) -> None:
        self._tables = self._choice.tables(self._database)
        self._first.set()
        if self._given is not None and self._tables != self._given and not self._stopping.is_set():
            _log.info("The tables have changed; tasks are divided anew over %d of them", len(self._tables))
            self._changed()
