"""Tables of three databases as the tests of the JDBC sink see them, and tasks that write to them."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
import pymysql
from copycat_connect.data import (
    INT32_SCHEMA,
    OPTIONAL_STRING_SCHEMA,
    STRING_SCHEMA,
    ConnectValue,
    Schema,
    SchemaBuilder,
    SinkBatch,
    SinkRecord,
    Struct,
    TopicPartition,
)
from copycat_jdbc.sink.task import JdbcSinkTask
from copycat_testkit import mariadb, postgres
from copycat_testkit.conformance import FakeSinkContext

TOPIC = "orders"
PARTITION = TopicPartition(TOPIC, 0)
ORDER = (
    SchemaBuilder.struct()
    .name("order")
    .field("id", INT32_SCHEMA)
    .field("word", OPTIONAL_STRING_SCHEMA)
    .build()
)


@dataclass(frozen=True)
class Place:
    """A database, by the keys that reach it and what its driver says."""

    config: dict[str, str]
    connect: Callable[[], Any]

    def run(self, *statements: str) -> list[tuple[Any, ...]]:
        """Run statements and return the rows of the last."""
        with closing(self.connect()) as database:
            cursor = database.cursor()
            for statement in statements:
                cursor.execute(statement)
            rows = [tuple(row) for row in cursor.fetchall()] if cursor.description else []
            database.commit()
            return rows


def of_postgres(server: postgres.Postgres) -> Place:
    login = {"connection.user": postgres.USER, "connection.password": postgres.SECRET}
    return Place({"connection.url": server.url(), **login}, lambda: psycopg.connect(server.conninfo))


def of_mariadb(server: mariadb.MariaDb) -> Place:
    login = {"connection.user": mariadb.USER, "connection.password": mariadb.SECRET}
    return Place({"connection.url": server.url(), **login}, lambda: pymysql.connect(**server.login))


def of_sqlite(file: Path) -> Place:
    return Place({"connection.url": f"jdbc:sqlite:{file}"}, lambda: sqlite3.connect(file))


def started(place: Place, **keys: str) -> tuple[JdbcSinkTask, FakeSinkContext]:
    """Start a task; `a_b` stands for the key `a.b`."""
    config = {
        "name": "sink",
        "auto.create": "true",
        "retry.backoff.ms": "20",
        "connection.backoff.ms": "20",
        **place.config,
        **{key.replace("_", "."): value for key, value in keys.items()},
    }
    task, context = JdbcSinkTask(), FakeSinkContext(config, [PARTITION])
    task.initialize(context)
    task.start(config)
    task.stored_positions([PARTITION])
    task.open([PARTITION])
    return task, context


def order(
    number: int,
    word: str | None,
    offset: int = 0,
    *,
    schema: Schema = ORDER,
    key: ConnectValue = None,
    key_schema: Schema | None = None,
    **more: ConnectValue,
) -> SinkRecord:
    """Return a record; further fields are of the schema given."""
    value = Struct(schema, {"id": number, "word": word, **more})
    return SinkRecord(TOPIC, 0, offset, key, value, key_schema=key_schema, value_schema=schema)


def tombstone(key: str) -> SinkRecord:
    return SinkRecord(TOPIC, 0, 0, key, None, key_schema=STRING_SCHEMA)


def put(task: JdbcSinkTask, records: Sequence[SinkRecord]) -> None:
    """Put records and wait until they are written, as a commit does."""
    task.put(SinkBatch.of(records))
    task.put(SinkBatch.of([]))
