"""How far rows bring a reader: its position after each of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, TypeAlias

from copycat_connect.data import ConnectValue

from copycat_jdbc.source.positions import Position, incrementing_value
from copycat_jdbc.type_rules import Moment

Row: TypeAlias = Sequence[Any]
#: What is raised where a value is no point in time.
NO_TIMES: Final = (ValueError, TypeError, AttributeError, ArithmeticError)
_NoTime: TypeAlias = tuple[int, Exception]
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
        if not self.times:
            return Progress(numbers, None)
        known = self._times(rows if following is None else [*rows, following], before)
        wrong = {place: error for place, (_, error) in enumerate(known[: len(rows)]) if error is not None}
        times = [time for time, _ in known]
        if numbers is None:
            after = None if following is None else times[-1]
            return Progress(None, _ended_groups(times[: len(rows)], after, before.moment), wrong)
        return Progress(numbers, times[: len(rows)], wrong)

    def _times(self, rows: Sequence[Row], before: Position) -> list[tuple[datetime, _NoTime | None]]:
        """Return the time of each row; one that holds none has the time of the row before it."""
        last = before.moment
        assert last is not None  # the bounds of the statement
        found: list[tuple[datetime, _NoTime | None]] = []
        for row in rows:
            column, moment = next((place, moment) for place, moment in self.times if row[place] is not None)
            try:
                last, error = moment(row[column]), None
            except NO_TIMES as reason:
                error = column, reason
            found.append((last, error))
        return found


@dataclass(frozen=True, slots=True)
class Progress:
    """The positions after rows, as columns."""

    numbers: Sequence[int] | None
    """The incrementing column; None where none is followed."""
    times: Sequence[datetime] | None
    """The timestamp columns; None where none are followed."""
    wrong: Mapping[int, _NoTime] = field(default_factory=dict)
    """The rows whose timestamp holds no time, by their index: the place of its column, and why."""

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
