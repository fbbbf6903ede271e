"""The task's connection: one transaction at a time, and the errors of all drivers in one shape."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import psycopg
from copycat_connect.errors import ConnectError, DataError, RetriableError
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from copycat_jdbc.database import Database
from copycat_jdbc.failures import failed

_DRIVER_ERRORS = (SQLAlchemyError, psycopg.Error)


class DatabaseSession:
    """Runs statements; a `RetriableError` closes the connection, other errors leave it to be rolled back."""

    def __init__(self, database: Database) -> None:
        """Use the database; nothing is connected before a transaction begins."""
        self.database = database
        self._open = False

    @property
    def in_transaction(self) -> bool:
        """True from `begin` until the transaction ends, also by a lost connection."""
        return self._open

    def begin(self) -> None:
        """Begin a transaction, with a new connection if necessary.

        Raises:
            RetriableError: No server answers.
            Refused: The server lets nobody in.
        """
        connection = self.database.connect()
        with self._translated("begin a transaction"):
            if self.database.dialect == "sqlite":
                driver: Any = connection.connection.driver_connection
                # Python's driver would begin by itself, but not before a SAVEPOINT.
                driver.isolation_level = None
            if not connection.in_transaction():
                connection.begin()
            if self.database.dialect == "sqlite":
                connection.exec_driver_sql("BEGIN IMMEDIATE")
        self._open = True

    def commit(self) -> None:
        """Commit.

        Raises:
            RetriableError: The connection is gone: nobody knows whether it was committed.
            ConnectError: It was not.
        """
        with self._translated("commit"):
            self.database.connect().commit()
        self._open = False

    def rollback(self) -> None:
        """Roll back what was written since `begin`."""
        self._open = False
        self.database.end_transaction()

    def close(self) -> None:
        """Close the connection."""
        self._open = False
        self.database.close()

    def run(self, statement: str, parameters: Sequence[Any] = (), *, doing: str) -> list[tuple[Any, ...]]:
        """Run a statement and return its rows.

        Args:
            statement: In the driver's own writing.
            parameters: One row of parameters.
            doing: What is tried, for the text of an error.
        """
        with self._translated(doing):
            found = self.database.connect().exec_driver_sql(statement, tuple(parameters))
            return [tuple(row) for row in found] if found.returns_rows else []

    def run_many(self, statement: str, rows: Sequence[tuple[Any, ...]], *, doing: str) -> None:
        """Run a statement for each row of parameters."""
        with self._translated(doing):
            self.database.connect().exec_driver_sql(statement, list(rows))

    def copy(self, statement: str, block: bytes, *, doing: str) -> None:
        """Run a COPY ... FROM STDIN of PostgreSQL."""
        driver: Any = self.database.connect().connection.driver_connection
        text = statement.replace("%%", "%")  # which stand for one where there are parameters
        with self._translated(doing), driver.cursor() as cursor, cursor.copy(text) as copy:
            copy.write(block)

    @contextmanager
    def savepoint(self) -> Iterator[None]:
        """Roll back what was written within when it raises."""
        with self._translated("set a savepoint"):
            nested = self.database.connect().begin_nested()
        try:
            yield
        except ConnectError:
            if self._open:
                with self._translated("go back to a savepoint"):
                    nested.rollback()
            raise
        with self._translated("release a savepoint"):
            nested.commit()

    @contextmanager
    def _translated(self, doing: str) -> Iterator[None]:
        try:
            yield
        except _DRIVER_ERRORS as error:
            if isinstance(error, psycopg.Error):
                closed = isinstance(error, psycopg.OperationalError) and error.sqlstate is None
                error = DBAPIError(None, None, error, connection_invalidated=closed)
            raised = failed(error, doing, self.database.address, self.database.secret)
            if isinstance(raised, RetriableError):
                self.close()
            raise raised from None
        except (ValueError, OverflowError) as error:
            # Of a driver that cannot encode a value: half a surrogate pair, more than 64 bits.
            raise DataError(f"Cannot {doing} at {self.database.address}: {error}") from error
