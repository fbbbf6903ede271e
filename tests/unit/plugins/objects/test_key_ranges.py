"""Plans of ranges of a key: what is read after which commits, and what a restart reads again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from copycat_connect.errors import ConfigError, ConnectError
from copycat_connect.plugin import SparkUnit
from copycat_objects.spark.connector import SparkSourceConnector
from copycat_objects.spark.key_ranges import KeyLook, KeyPlan, KeyRange, TableKeys, end_offset, is_past
from copycat_objects.spark.settings import SparkSourceSettings

CONFIG = {
    "name": "c",
    "topic": "rows",
    "format": "jdbc",
    "spark.option.url": "jdbc:postgresql://host/shop",
    "spark.option.driver": "org.postgresql.Driver",
    "spark.option.dbtable": "orders",
    "spark.option.user": "reader",
    "spark.option.password": "hidden-7",
    "jdbc.partition.column": "id",
}


class Table:
    """A table with keys, whose source commits what is planned, in order."""

    def __init__(self, keys: range, width: int, *, follows: bool) -> None:
        self.keys, self.width = keys, width
        self.follows = follows
        self.offsets: dict[str, Mapping[str, Any]] = {}
        self.read: list[tuple[int, int]] = []
        self.restart()

    def restart(self) -> None:
        """Begin with what is committed."""
        self._source = TableKeys("t", "rows", follows=self.follows, poll_seconds=0)

    def plan(self) -> list[SparkUnit]:
        """Return what comes next and is not committed."""
        units = self._source.plan(lambda: self.offsets.get(str(self._source.partition)))
        return [unit for unit in units if not is_past(unit.content, self.offset_of(unit))]

    def offset_of(self, unit: SparkUnit) -> Mapping[str, Any] | None:
        """Return what is committed of a unit."""
        return self.offsets.get(str(unit.partition))

    def commit(self, units: Sequence[SparkUnit]) -> None:
        """Read units and commit their ends."""
        for unit in units:
            content = unit.content
            if isinstance(content, KeyLook):
                upto = None if content.before is None else content.before.upto
                new = [key for key in self.keys if upto is None or key > upto]
                after = min(new) - 1 if new and upto is None else upto
                content.found = KeyPlan(content.number, after, upto, 1, done=True)
                if new:
                    content.found = KeyPlan(content.number, after, max(new), self.width)
            elif isinstance(content, KeyRange):
                self.read.append((content.after, content.upto))
            self.offsets[str(unit.partition)] = end_offset(content, self.offset_of(unit))

    def go_on(self) -> None:
        """Read until there is nothing left for now."""
        while units := self.plan():
            self.commit(units)


def test_a_table_is_read_in_ranges_once() -> None:
    table = Table(range(-5, 6), 4, follows=False)
    table.go_on()
    assert table.read == [(-6, -2), (-2, 2), (2, 5)]
    table.keys = range(-5, 100)
    table.go_on()
    table.restart()
    table.go_on()
    assert len(table.read) == 3


def test_new_keys_are_followed_with_ranges_of_the_same_names() -> None:
    table = Table(range(1, 9), 4, follows=True)
    for last in (9, 20, 21):
        table.keys = range(1, last)
        for _ in range(4):  # looks that find nothing, too
            table.commit(table.plan())
    assert table.read == [(0, 4), (4, 8), (8, 12), (12, 16), (16, 19), (19, 20)]
    assert len(table.offsets) == 4, "the table, and three ranges"


def test_a_restart_reads_what_is_left_of_the_plan_whatever_the_table_has() -> None:
    table = Table(range(1, 13), 4, follows=True)
    table.commit(table.plan())
    first, second, *_ = table.plan()
    table.commit([second])
    table.offsets[str(first.partition)] = first.content.behind(3)
    table.keys, table.width = range(-9, 100), 50
    table.restart()
    units = table.plan()
    assert [unit.name for unit in units] == ["keys 0 to 4 of t", "keys 8 to 12 of t", "t"]
    assert units[0].content.record(table.offset_of(units[0])) == 3
    assert [unit.is_mark for unit in units] == [False, False, True]
    assert table.plan() == [], "while they are read"
    table.commit(units)
    table.commit(table.plan())
    table.commit(table.plan())
    assert table.read == [(4, 8), (0, 4), (8, 12), (12, 62), (62, 99)]


def test_offsets_of_ranges_of_a_plan_that_was_deleted_count_no_more() -> None:
    table = Table(range(1, 9), 4, follows=False)
    table.go_on()
    table.offsets = {place: offset for place, offset in table.offsets.items() if "range" in place}
    table.restart()
    table.go_on()
    assert table.read == [(0, 4), (4, 8)] * 2


def test_a_table_without_rows_is_looked_at_again_or_done() -> None:
    for follows in (True, False):
        table = Table(range(0), 4, follows=follows)
        table.commit(table.plan())
        table.plan()
        table.keys = range(3, 5)
        table.go_on()
        assert table.read == ([(2, 4)] if follows else [])


@pytest.mark.parametrize(
    ("partition", "offset", "text"),
    [
        ({"table": "t", "path": "x"}, None, "has the key 'table', that of a range 'range', too"),
        ({"table": "t"}, {"plan": 1}, "has the keys after, done, plan, upto, width"),
        (
            {"table": "t", "range": 0},
            {"plan": 1, "record": None, "done": True},
            "'record' key .* whole number",
        ),
        ({"table": "t"}, {"plan": 1, "after": 0, "upto": 9, "width": 0, "done": True}, "a number from 1 up"),
        (
            {"table": "t"},
            {"plan": 1, "after": 0, "upto": 9, "width": 1, "done": 1},
            "'done' is true or false",
        ),
    ],
)
def test_offsets_of_keys_are_checked(
    partition: dict[str, Any], offset: dict[str, Any] | None, text: str
) -> None:
    with pytest.raises(ConnectError, match=text):
        SparkSourceConnector().alter_offsets(CONFIG, [(partition, offset)])


def test_offsets_of_keys_are_accepted() -> None:
    table = {"plan": 1, "after": None, "upto": -9, "width": 5, "done": True}
    ranged = {"plan": 1, "record": 3, "done": False}
    moves: list[tuple[Mapping[str, Any], Mapping[str, Any] | None]]
    moves = [
        ({"table": "t"}, table),
        ({"table": "t", "range": 0}, ranged),
        ({"table": "t", "range": 1}, None),
    ]
    assert SparkSourceConnector().alter_offsets(CONFIG, moves)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"jdbc.partition.column": ""}, "format=jdbc needs jdbc.partition.column"),
        ({"spark.option.driver": ""}, "format=jdbc needs spark.option.driver"),
        ({"spark.option.dbtable": ""}, "format=jdbc needs spark.option.dbtable"),
        ({"spark.option.query": "SELECT 1"}, "Set one of spark.option.dbtable and spark.option.query"),
        ({"spark.option.numPartitions": "3"}, "Leave out spark.option.numPartitions: jdbc.partition.column"),
        ({"format": "csv"}, "store.url is needed"),
    ],
)
def test_settings_of_databases_are_checked_by_name(change: dict[str, str], text: str) -> None:
    given = {**CONFIG, **change}
    found = SparkSourceConnector().validate(given)
    errors = [error for each in found for error in each.errors]
    assert len(errors) == 1
    assert text in errors[0]
    assert "hidden-7" not in repr(found)
    with pytest.raises(ConfigError, match=text):
        SparkSourceConnector().start(given)


def test_the_password_is_in_no_text_of_the_settings() -> None:
    settings = SparkSourceSettings.parse(CONFIG)
    assert settings.database.options["password"] == "hidden-7"
    assert "hidden-7" not in f"{settings!r} {settings.database!r}"
