"""The JDBC sink passes the suites of sinks: exactly once on real servers, at least once in SQLite."""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pymysql
import pytest
from copycat_connect.data import (
    INT64_SCHEMA,
    OPTIONAL_STRING_SCHEMA,
    ConnectValue,
    SchemaBuilder,
    SinkBatch,
    SinkRecord,
    Struct,
)
from copycat_connect.plugin import CONNECTORS, PluginSpec, load_plugins
from copycat_testkit import mariadb, postgres
from copycat_testkit.conformance import ExactlyOnceSinkConformance, SinkConformance
from copycat_testkit.conformance.sink import PARTITION

SCHEMA = (
    SchemaBuilder.struct().name("row").field("id", INT64_SCHEMA).field("word", OPTIONAL_STRING_SCHEMA).build()
)


class JdbcRows(SinkConformance):
    """Rows of a table without a key, in the order they were added."""

    def spec(self) -> PluginSpec:
        """Return the JDBC sink."""
        return load_plugins().find("JdbcSink", CONNECTORS)

    def value(self, number: int) -> ConnectValue:
        """Return a row, every other one with a null."""
        return Struct(SCHEMA, {"id": number, "word": f"Zeile {number}\t\\é😀" if number % 2 else None})

    def batch(self, numbers: range) -> SinkBatch:
        """Return records that have their schema, without which nothing can be written."""
        return SinkBatch.of(
            [
                SinkRecord(*PARTITION, number, None, self.value(number), value_schema=SCHEMA)
                for number in numbers
            ]
        )

    def rows(self) -> Sequence[Sequence[Any]]:
        """Return what the table holds."""
        raise NotImplementedError

    def written(self) -> Sequence[ConnectValue]:
        """Return the rows as structs."""
        return [Struct(SCHEMA, {"id": number, "word": word}) for number, word in self.rows()]


@pytest.fixture(scope="module")
def postgres_server() -> Iterator[postgres.Postgres]:
    with postgres.running_postgres() as server:
        yield server


@pytest.fixture(scope="module")
def mariadb_server() -> Iterator[mariadb.MariaDb]:
    folder = Path(tempfile.mkdtemp(prefix="mariadb-"))
    server = mariadb.MariaDb(folder)
    try:
        yield server.start()
    finally:
        server.stop()
        shutil.rmtree(folder)


class TestPostgres(JdbcRows, ExactlyOnceSinkConformance):
    """A table of PostgreSQL."""

    @pytest.fixture(autouse=True)
    def _use(self, postgres_server: postgres.Postgres) -> None:
        self.server = postgres_server
        with psycopg.connect(self.server.conninfo, autocommit=True) as database:
            database.execute("DROP TABLE IF EXISTS conformance, copycat_offsets")
            database.execute("CREATE TABLE conformance (id bigint, word text)")

    def config(self) -> Mapping[str, str]:
        """Insert."""
        return {
            "topics": "conformance",
            "connection.url": self.server.url(),
            "connection.user": postgres.USER,
            "connection.password": postgres.SECRET,
        }

    def rows(self) -> Sequence[Sequence[Any]]:
        """Return the rows as they lie in the table."""
        with psycopg.connect(self.server.conninfo) as database:
            return database.execute("SELECT id, word FROM conformance ORDER BY ctid").fetchall()


@pytest.mark.long
class TestMariaDb(JdbcRows, ExactlyOnceSinkConformance):
    """A table of MariaDB."""

    @pytest.fixture(autouse=True)
    def _use(self, mariadb_server: mariadb.MariaDb) -> None:
        self.server = mariadb_server
        with closing(pymysql.connect(**self.server.login)) as database:
            database.cursor().execute("DROP TABLE IF EXISTS conformance, copycat_offsets")
            database.cursor().execute("CREATE TABLE conformance (id bigint, word text)")

    def config(self) -> Mapping[str, str]:
        """Insert."""
        return {
            "topics": "conformance",
            "connection.url": self.server.url(),
            "connection.user": mariadb.USER,
            "connection.password": mariadb.SECRET,
        }

    def rows(self) -> Sequence[Sequence[Any]]:
        """Return the rows in the order of their hidden numbers."""
        with closing(pymysql.connect(**self.server.login)) as database, database.cursor() as cursor:
            cursor.execute("SELECT id, word FROM conformance")
            return [*cursor.fetchall()]


class TestSqlite(JdbcRows):
    """A table of SQLite, made by the sink."""

    @pytest.fixture(autouse=True)
    def _use(self, tmp_path: Path) -> None:
        self.file = tmp_path / "rows.db"

    def config(self) -> Mapping[str, str]:
        """Insert, and create the table."""
        return {
            "topics": "conformance",
            "connection.url": f"jdbc:sqlite:{self.file}",
            "auto.create": "true",
        }

    def rows(self) -> Sequence[Sequence[Any]]:
        """Return the rows in the order of their hidden numbers."""
        with closing(sqlite3.connect(self.file)) as database:
            made = database.execute("SELECT name FROM sqlite_master WHERE name = 'conformance'").fetchall()
            return database.execute("SELECT id, word FROM conformance").fetchall() if made else []
