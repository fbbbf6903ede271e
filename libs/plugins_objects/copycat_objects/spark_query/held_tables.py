"""Tables that a query joins, held as they were when they were last read: views that jobs read."""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Sequence
from contextlib import closing
from typing import Any, Final

from copycat_connect.errors import CopycatError, RetriableError

from copycat_objects.spark.databases import DRIVER, URL, check_driver, database_reader, quoted
from copycat_objects.spark.settings import JDBC, TABLES
from copycat_objects.spark.table_frames import open_table, table_frame
from copycat_objects.spark_query.side_tables import OPTION_KEY, URL_KEY, SideTable
from copycat_objects.stores.opening import open_store

#: A column that makes each reading a plan of its own: of one that is the same Spark gives what it holds.
_READING: Final = "__reading"


class HeldTables:
    """The tables of a task, held as views of a session."""

    def __init__(self, tables: Sequence[SideTable], seconds: float) -> None:
        """Read nothing yet; `keep` reads them anew after so many seconds."""
        self._tables, self._seconds = tables, seconds
        self._lock = threading.Lock()
        self._due = 0.0
        self._seen: dict[str, tuple[object, ...]] = {}
        """By what the rows of a table differ from those before: columns, number and a hash."""
        self._held: dict[str, list[Any]] = {}
        """The newest rows of each, behind those before, which jobs may still read."""

    def keep(self, session: Any) -> None:  # noqa: ANN401 - PySpark's
        """Read the tables anew where it is time to; several threads may call this.

        Raises:
            RetriableError: A table cannot be read now.
            ConnectError: The JDBC driver of its database is missing.
        """
        with self._lock:
            if self._tables and time.monotonic() >= self._due:
                self.renew(session)
                self._due = time.monotonic() + self._seconds

    def renew(self, session: Any) -> bool:  # noqa: ANN401 - PySpark's
        """Read the tables anew; returns whether any is another than before. Raises as `keep` does."""
        changed = [self._renew(session, table) for table in self._tables]
        return any(changed)

    def close(self) -> None:
        """Let go of the tables: the session may serve another task next."""
        for name, held in self._held.items():
            held[-1].sparkSession.catalog.dropTempView(name)
            for rows in held:
                rows.unpersist()
        self._held.clear()

    def _renew(self, session: Any, table: SideTable) -> bool:  # noqa: ANN401 - PySpark's
        rows = None
        try:
            read = _loaded(session, table)
            rows = read.selectExpr("*", f"'{uuid.uuid4()}' AS {_READING}").persist()
            # Any type can be a text; the sum is one of decimals, which does not overflow.
            text = f"CAST(struct({', '.join(map(quoted, read.columns))}) AS STRING)"
            total = f"sum(CAST(xxhash64({text}) AS DECIMAL(38, 0)))"
            found = rows.selectExpr("count(*)", total).collect()[0]
        except CopycatError:
            raise
        except Exception as error:
            if rows is not None:
                rows.unpersist()
            raise RetriableError(
                f"The table {table.name} ({table.key(URL_KEY)}) cannot be read: {table.shown(error)}"
            ) from None  # what Spark says besides may hold secrets
        seen = (rows.schema.json(), *found)
        if self._seen.get(table.name) == seen:
            rows.unpersist()
            return False
        rows.drop(_READING).createOrReplaceTempView(table.name)
        self._seen[table.name] = seen
        held = self._held.setdefault(table.name, [])
        held.append(rows)
        for old in held[:-2]:
            old.unpersist()
        del held[:-2]
        return True


def _loaded(session: Any, table: SideTable) -> Any:  # noqa: ANN401 - PySpark's
    """Return the rows of the table as it is now.

    Raises:
        ConnectError: The table cannot be read.
        Exception: Spark's.
    """
    if table.format in TABLES:
        with (
            closing(open_store({}, table.url, table.key(URL_KEY))) as store,
            closing(open_table(store, "", "", table.catalog, skip_changes=True)) as found,
        ):
            return table_frame(session, store, found, table.options)
    if table.format != JDBC:
        return session.read.format(table.format).options(**table.options).load(table.url)
    driver = next(value for name, value in table.options.items() if name.lower() == DRIVER)
    check_driver(session, driver, f"{table.key(OPTION_KEY)}{DRIVER}")
    return database_reader(session, table.options).option(URL, table.url).load()
