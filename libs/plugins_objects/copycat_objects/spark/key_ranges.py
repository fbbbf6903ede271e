"""A table of a database as a source reads it: plans of ranges of a key, and what is committed of them.

A plan is the offset of the table's source partition {table}: {plan, after, upto, width, done}, a number, the
keys between which rows are read, and how many keys a range has. So a restart reads the same ranges, whatever
the table has since. Ranges are source partitions {table, range}, numbered in each plan anew, so that there
are no more of them than the largest plan has; their offset {plan, record, done} says of which plan it is.

Looking for the keys is a unit, too, which has no rows, and whose end is the offset with the plan.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from copycat_connect.errors import ConnectError
from copycat_connect.plugin import SparkUnit
from copycat_connect.plugin.contexts import SourceOffset

from copycat_objects.source.settings import DONE, RECORD

TABLE, RANGE = "table", "range"
PLAN, AFTER, UPTO, WIDTH = "plan", "after", "upto", "width"
"""Keys of the source partitions and source offsets of such a table."""
_NOBODY: Final = -1


@dataclass(frozen=True, slots=True)
class KeyPlan:
    """Which keys are read; the content of the mark behind its ranges."""

    number: int
    """Of the plan; later ones have higher numbers."""
    after: int | None
    """The key behind which it begins; None of a table that never had rows."""
    upto: int | None
    """The last key; that it begins behind where there is nothing to read."""
    width: int
    """How many keys a range has, 1 or more."""
    done: bool = False
    """Whether all of it is committed."""

    @classmethod
    def of(cls, offset: SourceOffset | None) -> KeyPlan | None:
        """Read the offset of a table."""
        if offset is None:
            return None
        return cls(offset[PLAN], offset[AFTER], offset[UPTO], offset[WIDTH], offset[DONE])

    def offset(self) -> dict[str, int | bool | None]:
        """Return the offset of the table."""
        return {
            PLAN: self.number,
            AFTER: self.after,
            UPTO: self.upto,
            WIDTH: self.width,
            DONE: self.done,
        }

    def ranges(self, topic: str) -> Iterator[KeyRange]:
        """Yield its ranges, lower keys first."""
        after, upto = self.after or 0, self.upto or 0
        for place, start in enumerate(range(after, upto, self.width)):
            yield KeyRange(self.number, place, start, min(start + self.width, upto), topic)


@dataclass(slots=True)
class KeyLook:
    """A look for keys: the content of its unit."""

    number: int
    """Of the plan that it makes."""
    before: KeyPlan | None
    """The plan before; None of the first look."""
    found: KeyPlan | None = None
    """The plan; set where the unit is made a frame, before it travels to the partition that commits it."""


@dataclass(frozen=True, slots=True)
class KeyRange:
    """Rows whose key is above `after` and not above `upto`: the content of a unit."""

    plan: int
    """The number of its plan."""
    place: int
    """Its number in that plan."""
    after: int
    """The key that is below all of them."""
    upto: int
    """The highest key that it may have."""
    topic: str
    """Where its records go."""

    def record(self, offset: SourceOffset | None) -> int:
        """Return how many of its records are committed."""
        return int(offset[RECORD]) if offset is not None and offset[PLAN] == self.plan else 0

    def behind(self, record: int, *, done: bool = False) -> dict[str, int | bool]:
        """Return the offset behind so many records."""
        return {PLAN: self.plan, RECORD: record, DONE: done}


KeyContent = KeyPlan | KeyLook | KeyRange


def is_past(content: KeyContent, offset: SourceOffset | None) -> bool:
    """Return whether nothing of a unit is left behind a committed offset."""
    if offset is None:
        return False
    if isinstance(content, KeyRange):
        return bool(offset[PLAN] == content.plan and offset[DONE])
    if isinstance(content, KeyLook):
        return bool(offset[PLAN] >= content.number)
    return bool((offset[PLAN], offset[DONE]) >= (content.number, True))


def end_offset(content: KeyContent, offset: SourceOffset | None) -> SourceOffset:
    """Return the offset at the end of a unit, given the one behind its last record."""
    if isinstance(content, KeyRange):
        return content.behind(content.record(offset), done=True)
    if isinstance(content, KeyLook):
        assert content.found is not None  # the driver has looked before a partition began
        return content.found.offset()
    return replace(content, done=True).offset()


class TableKeys:
    """Plans ranges between looks for keys, by what is committed."""

    def __init__(self, table: str, topic: str, *, follows: bool, poll_seconds: float) -> None:
        """Read a table once, or look for new keys again and again (`follows`)."""
        self.partition = {TABLE: table}
        self._table, self._topic = table, topic
        self._follows, self._poll_seconds = follows, poll_seconds
        self._planned = self._looked = self._finished = _NOBODY
        self._next_look = 0.0
        self._is_over = False

    def plan(self, offset: Callable[[], SourceOffset | None]) -> list[SparkUnit]:
        """Return what comes next, nothing while the units before are read or it is not time to look.

        Args:
            offset: Returns the committed offset of the table.
        """
        if self._is_over or time.monotonic() < self._next_look:
            return []
        plan = KeyPlan.of(offset())
        if plan is None:
            return self._look(None)
        if not plan.done:
            return self._read(plan)
        self._is_over = not self._follows
        if plan.number != self._finished:
            self._finished = plan.number
            if plan.after == plan.upto:
                self._next_look = time.monotonic() + self._poll_seconds
                return []
        return [] if self._is_over else self._look(plan)

    def _look(self, before: KeyPlan | None) -> list[SparkUnit]:
        after = 0 if before is None else before.number
        if self._looked == after:
            return []
        self._looked = after
        # Plans that were deleted, with offsets of ranges that were not, had lower numbers.
        number = max(time.time_ns() // 1000, after + 1)
        return [SparkUnit(self.partition, f"keys of {self._table}", KeyLook(number, before))]

    def _read(self, plan: KeyPlan) -> list[SparkUnit]:
        if self._planned == plan.number:
            return []
        self._planned = plan.number
        units = [
            SparkUnit(
                {**self.partition, RANGE: each.place},
                f"keys {each.after} to {each.upto} of {self._table}",
                each,
            )
            for each in plan.ranges(self._topic)
        ]
        return [*units, SparkUnit(self.partition, self._table, plan, is_mark=True)]


def check_key_offset(partition: Mapping[str, Any] | None, offset: SourceOffset | None) -> None:
    """Accept the offset of a table of a database, or of a range of its keys.

    Raises:
        ConnectError: It is malformed.
    """
    if partition is None or not {TABLE} <= set(partition) <= {TABLE, RANGE}:
        raise ConnectError(f"The partition of a table has the key '{TABLE}', that of a range '{RANGE}', too")
    if offset is None:
        return
    numbers = {PLAN, RECORD} if RANGE in partition else {PLAN, AFTER, UPTO, WIDTH}
    may_be_null = {AFTER, UPTO}
    if set(offset) != {*numbers, DONE} or not isinstance(offset[DONE], bool):
        names = ", ".join(sorted({*numbers, DONE}))
        raise ConnectError(f"The offset has the keys {names}, and '{DONE}' is true or false")
    for name in numbers:
        value = offset[name]
        if isinstance(value, bool) or not (isinstance(value, int) or (value is None and name in may_be_null)):
            raise ConnectError(f"The value for the '{name}' key in the offset should be a whole number")
    if WIDTH in numbers and offset[WIDTH] < 1:
        raise ConnectError(f"The value for the '{WIDTH}' key in the offset should be a number from 1 up")
