"""How far rows bring a reader: its position after each of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeAlias

from copycat_connect.data import ConnectValue

from copycat_jdbc.source.positions import Position, incrementing_value
from copycat_jdbc.type_rules import Moment

Row: TypeAlias = Sequence[Any]
_INTEGERS = frozenset({int})


@dataclass(frozen=True, slots=True)
class FollowedColumns:
    """Where a row has what a mode follows."""

    number: int | None
    """Place of the incrementing column; None where none is followed."""
    times: tuple[tuple[int, Moment], ...]
    """Places of the timestamp columns, each with what makes a time of its value; the first that is not
    null counts."""

    def advance(self, rows: Sequence[Row], following: Row | None, before: Position) -> Progress | None:
        """Return how far rows bring a reader; None where nothing is followed.

        Args:
            rows: The rows, at least one.
            following: The row after them, if there is one.
            before: The position before them.

        Raises:
            ConnectError: The incrementing column has no integers.
        """
        if self.number is None and not self.times:
            return None
        numbers = None if self.number is None else _numbers([row[self.number] for row in rows])
        times = [self._time(row) for row in rows] if self.times else None
        if times is not None and numbers is None:
            after = None if following is None else self._time(following)
            times = _ended_groups(times, after, before.moment)
        return Progress(numbers, times)

    def _time(self, row: Row) -> datetime:
        return next(moment(row[place]) for place, moment in self.times if row[place] is not None)


@dataclass(frozen=True, slots=True)
class Progress:
    """The positions after rows, as columns."""

    numbers: Sequence[int] | None
    """The incrementing column; None where none is followed."""
    times: Sequence[datetime] | None
    """The timestamp columns; None where none are followed."""

    def last(self) -> Position:
        """Return the position after the last row."""
        return Position(self.numbers[-1] if self.numbers else None, self.times[-1] if self.times else None)

    def offsets(self) -> list[dict[str, ConnectValue]]:
        """Return the source offset of each row."""
        length = len(self.numbers or self.times or ())
        numbers: Sequence[int | None] = self.numbers or [None] * length
        times: Sequence[datetime | None] = self.times or [None] * length
        return [Position(number, time).offset() for number, time in zip(numbers, times, strict=True)]


def _numbers(column: Sequence[Any]) -> Sequence[int]:
    return column if _INTEGERS.issuperset(map(type, column)) else [*map(incrementing_value, column)]


def _ended_groups(
    times: Sequence[datetime], following: datetime | None, before: datetime | None
) -> list[datetime]:
    """Let rows with the same time share the earlier position until the last of them: none is lost."""
    assert before is not None  # the bounds of the statement
    ended, found = before, []
    for time, after in zip(times, [*times[1:], following], strict=True):
        if after is None or after > time:
            ended = time
        found.append(ended)
    return found
