"""The rows of one statement as they stream in: memory holds a batch of them, however many there are."""

from __future__ import annotations

import struct
from collections.abc import Generator, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Any, Final, Protocol, cast

import psycopg
from psycopg.abc import Buffer, Loader
from psycopg.adapt import Loader as LoaderClass
from psycopg.pq import Format
from psycopg.types.numeric import Int4BinaryLoader, Int8BinaryLoader
from sqlalchemy.engine import CursorResult
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from copycat_jdbc.database import Database

Row = Sequence[Any]


class _OffsetTimeLoader(LoaderClass):
    """Leaves a time with an offset as microseconds of the day and seconds west of UTC."""

    format = Format.BINARY

    def load(self, data: Buffer) -> tuple[int, int]:
        """Return the microseconds of the day, and the seconds west of UTC."""
        micros, west = _OFFSET_TIME.unpack(data)
        return micros, west


_OFFSET_TIME = struct.Struct(">qi")
#: Dates and times stay the integers that the server sends; see `postgres_moments`.
_AS_INTEGERS: Final[Mapping[str, type[Loader]]] = {
    "timestamp": Int8BinaryLoader,
    "timestamptz": Int8BinaryLoader,
    "time": Int8BinaryLoader,
    "timetz": _OffsetTimeLoader,
    "date": Int4BinaryLoader,
}


class OpenRows(Protocol):
    """Rows of a statement, in order; the connection is theirs until they are closed."""

    description: Sequence[Any]
    """What the driver's cursor says of the columns."""

    def fetch(self, most: int) -> list[Row]:
        """Return the next rows, fewer than asked for only at the end.

        Raises:
            SQLAlchemyError: They cannot be read.
        """

    def close(self) -> None:
        """Let go of what was not read.

        Raises:
            SQLAlchemyError: The connection is broken.
        """


def open_rows(database: Database, text: str, parameters: Sequence[Any], most: int) -> OpenRows:
    """Run a statement whose rows are fetched `most` at a time.

    Raises:
        RetriableError: The server is away.
        SQLAlchemyError: The statement cannot run.
    """
    if database.dialect == "postgresql":
        return _PostgresRows(database, text, parameters, most)
    return _CursorRows(database, text, parameters, most)


class _CursorRows:
    """Rows of any driver, by a cursor of the server where there is one."""

    def __init__(self, database: Database, text: str, parameters: Sequence[Any], most: int) -> None:
        options = {"stream_results": True, "max_row_buffer": most}
        self._result: CursorResult[Any] = database.connect().exec_driver_sql(
            text, tuple(parameters), execution_options=options
        )
        cursor = self._result.cursor
        assert cursor is not None  # it has rows
        self.description: Sequence[Any] = cursor.description
        if database.dialect != "sqlite":
            fields = cursor._result.fields  # noqa: SLF001  nothing else has the flags
            self.description = [
                (*told, field.flags) for told, field in zip(self.description, fields, strict=True)
            ]

    def fetch(self, most: int) -> list[Row]:
        return [*self._result.fetchmany(most)]

    def close(self) -> None:
        self._result.close()


class _PostgresRows:
    """Rows in PostgreSQL's binary format, sent on while the last ones are still worked on."""

    def __init__(self, database: Database, text: str, parameters: Sequence[Any], most: int) -> None:
        shared = database.connect()
        if not shared.in_transaction():
            shared.begin()  # so that the end of the transaction is noticed
        connection: psycopg.Connection[Any] | None = shared.connection.driver_connection
        assert connection is not None  # it was made just now
        self._connection = connection
        self._cursor = connection.cursor()
        for name, loader in _AS_INTEGERS.items():
            self._cursor.adapters.register_loader(name, loader)
        stream = self._cursor.stream(text, tuple(parameters), binary=True, size=most)
        self._stream = cast("Generator[Row]", stream)
        first = self._take(self._stream, 1)  # nothing is sent before
        self.description: Sequence[Any] = self._cursor.description or ()
        self._rows: Iterator[Row] = chain(first, self._stream)

    def fetch(self, most: int) -> list[Row]:
        return self._take(self._rows, most)

    def close(self) -> None:
        try:
            self._stream.close()  # ends what the server still sends
            self._cursor.close()
        except psycopg.Error as error:
            raise self._failed(error) from error

    def _take(self, rows: Iterator[Row], most: int) -> list[Row]:
        try:
            return [*islice(rows, most)]
        except psycopg.Error as error:
            raise self._failed(error) from error

    def _failed(self, error: psycopg.Error) -> SQLAlchemyError:
        broken = self._connection.closed
        failure = DBAPIError.instance(None, None, error, psycopg.Error, connection_invalidated=broken)
        assert isinstance(failure, SQLAlchemyError)  # as its class says
        return failure
