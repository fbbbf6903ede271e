"""What a database refuses and what its source cannot read: whose fault it is, and how reading goes on."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

import pytest
from copycat_connect.data import SourceRecord, UnreadableRecord
from copycat_connect.errors import ConnectError
from copycat_connect.failure_kind import FailureKind, kind_of
from copycat_jdbc.address import parse_address
from copycat_jdbc.errors import FAILURES
from copycat_jdbc.failures import failed
from copycat_jdbc.source.task import JdbcSourceTask
from copycat_testkit.conformance import FakeSourceContext
from copycat_testkit.kafka import wait_until
from sqlalchemy.exc import DBAPIError


class _Cause(Exception):
    """A driver's error with a code."""

    def __init__(self, number: int = 0, **codes: object) -> None:
        super().__init__(number, "said")
        vars(self).update(codes)


@pytest.mark.parametrize(
    ("cause", "kind"),
    [
        (_Cause(sqlstate="42703"), FailureKind.CONFIGURATION),
        (_Cause(sqlstate="42601"), FailureKind.CONFIGURATION),
        (_Cause(sqlstate="42501"), FailureKind.AUTHORISATION),
        (_Cause(sqlstate="22P02"), FailureKind.POISON_RECORD),
        (_Cause(sqlstate="23505"), FailureKind.POISON_RECORD),
        (_Cause(sqlstate="57P01"), FailureKind.TRANSIENT),
        (_Cause(1054), FailureKind.CONFIGURATION),
        (_Cause(1064), FailureKind.CONFIGURATION),
        (_Cause(1142), FailureKind.AUTHORISATION),
        (_Cause(1406), FailureKind.POISON_RECORD),
        (_Cause(1213), FailureKind.TRANSIENT),
        (_Cause(sqlite_errorcode=1), FailureKind.CONFIGURATION),
        (_Cause(sqlite_errorcode=8), FailureKind.AUTHORISATION),
        (_Cause(sqlite_errorcode=275), FailureKind.POISON_RECORD),
        (_Cause(sqlstate="XX000"), None),
    ],
)
def test_what_a_database_refuses_is_told_from_its_code(cause: Exception, kind: FailureKind | None) -> None:
    error = failed(DBAPIError(None, None, cause), "read", parse_address("jdbc:sqlite:x"), None)
    assert kind_of(error, FAILURES) is kind


@pytest.mark.parametrize(
    ("config", "key"),
    [
        ({"mode": "bulk", "query": "SELECT nothing FROM rows"}, "query"),
        ({"mode": "bulk", "query": "SELEC"}, "query"),
        ({"mode": "bulk", "query.suffix": "WHERE nothing = 1"}, "query.suffix"),
        ({"mode": "incrementing", "incrementing.column.name": "nothing"}, "incrementing.column.name"),
        ({"mode": "timestamp", "timestamp.column.name": "nothing"}, "timestamp.column.name"),
        (
            {"mode": "incrementing", "incrementing.column.name": "no", "query": "SELECT id FROM rows"},
            "query",
        ),
    ],
)
def test_a_mistake_in_what_is_to_be_read_is_one_of_the_configuration(
    tmp_path: Path, config: Mapping[str, str], key: str
) -> None:
    with closing(sqlite3.connect(tmp_path / "x.db")) as database:
        database.executescript("CREATE TABLE rows (id INTEGER PRIMARY KEY); INSERT INTO rows VALUES (1)")
    whole = {"connection.url": f"jdbc:sqlite:{tmp_path / 'x.db'}", "topic.prefix": "t-", **config}
    if "query" not in config:
        whole["tables"] = '[[null, null, "rows"]]'
    task = JdbcSourceTask()
    task.initialize(FakeSourceContext(whole))
    task.start(whole)
    with pytest.raises(ConnectError) as raised:
        for _ in range(5):
            task.poll()
    task.stop()
    assert kind_of(raised.value, FAILURES) is FailureKind.CONFIGURATION
    assert key in raised.value.message


@pytest.mark.parametrize("ahead", ["0", "100"])
def test_a_row_that_cannot_be_read_stands_in_its_place(tmp_path: Path, ahead: str) -> None:
    with closing(sqlite3.connect(tmp_path / "x.db")) as database:
        database.executescript(
            "CREATE TABLE rows (id INTEGER PRIMARY KEY, price DECIMAL(5, 2));"
            "INSERT INTO rows VALUES (1, 1.5), (2, 'dear'), (3, 2.5)"
        )
    whole = {
        "connection.url": f"jdbc:sqlite:{tmp_path / 'x.db'}", "topic.prefix": "t-", "mode": "incrementing",
        "incrementing.column.name": "id", "tables": '[[null, null, "rows"]]', "max.buffer.size": ahead,
    }  # fmt: skip
    task = JdbcSourceTask()
    task.initialize(FakeSourceContext(whole))
    task.start(whole)
    found: list[SourceRecord] = []

    def all_read() -> bool:
        found.extend(task.poll() or ())
        return len(found) == 3

    wait_until(all_read, 60, "all rows are read")
    task.stop()
    first, bad, last = found
    assert [str(record.value) for record in (first, last)] == [
        "Struct{id=1,price=1.50}",
        "Struct{id=3,price=2.50}",
    ]
    assert isinstance(bad, UnreadableRecord)
    assert bad.value == '{"id": 2, "price": "dear"}'
    assert "Column price of table rows cannot be read in row 2" in str(bad.error)
    assert [record.source_offset for record in found] == [{"incrementing": each} for each in (1, 2, 3)]
