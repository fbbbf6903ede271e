"""The JDBC source passes the suite every source passes, in each mode that keeps offsets."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path

import pytest
from copycat_connect.data import INT64_SCHEMA, OPTIONAL_STRING_SCHEMA, ConnectValue, SchemaBuilder, Struct
from copycat_connect.plugin import CONNECTORS, PluginSpec, load_plugins
from copycat_testkit.conformance import SourceConformance

SCHEMA = (
    SchemaBuilder.struct()
    .name("conformance")
    .field("id", INT64_SCHEMA)
    .field("word", OPTIONAL_STRING_SCHEMA)
    .field("at", INT64_SCHEMA)
    .build()
)


class TestJdbcSource(SourceConformance):
    """Rows of a table of SQLite."""

    mode: Mapping[str, str]

    @pytest.fixture(autouse=True, params=["incrementing", "timestamp+incrementing"])
    def _use(self, request: pytest.FixtureRequest, tmp_path: Path) -> None:
        self.file = tmp_path / "rows.db"
        self.mode = {"mode": request.param, "incrementing.column.name": "id", "timestamp.column.name": "at"}
        with closing(sqlite3.connect(self.file)) as database, database:
            database.execute(
                "CREATE TABLE conformance (id INTEGER PRIMARY KEY NOT NULL, word TEXT, at INTEGER NOT NULL)"
            )

    def spec(self) -> PluginSpec:
        """Return the JDBC source."""
        return load_plugins().find("JdbcSource", CONNECTORS)

    def config(self) -> Mapping[str, str]:
        """Read the table three rows at a time."""
        return {
            "connection.url": f"jdbc:sqlite:{self.file}",
            "topic.prefix": "rows-",
            "poll.interval.ms": "20",
            "batch.max.rows": "3",
            **self.mode,
        }

    def feed(self, numbers: range) -> Sequence[ConnectValue]:
        """Add rows, two of them for each point in time."""
        rows = [[number, f"word {number} é😀", 1000 + number // 2] for number in numbers]
        with closing(sqlite3.connect(self.file, timeout=60)) as database, database:
            database.executemany("INSERT INTO conformance VALUES (?, ?, ?)", rows)
        return [Struct.of_valid(SCHEMA, [*row]) for row in rows]
