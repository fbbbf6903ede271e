"""The transformations of a connector, with their predicates, as one step."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from copycat_connect.data.map_columns import MapColumns
from copycat_connect.data.records import ConnectRecord
from copycat_connect.data.schema import Schema
from copycat_connect.data.value import ConnectValue
from copycat_connect.errors import ConnectError
from copycat_connect.plugin.transformations import Remaining

from copycat_executor.pipeline.records.chain_step import ChainStep
from copycat_executor.pipeline.records.many_records import Outcomes, apply_at_once, takes_records
from copycat_executor.pipeline.records.tolerate import Tolerance
from copycat_executor.pipeline.task.stages import RecordSkippedError, Stage, ToleranceExceededError

R = TypeVar("R", bound=ConnectRecord)


@dataclass(frozen=True, slots=True)
class ChangedValues:
    """Values after the first steps of a chain."""

    schema: Schema | None
    """The schema of every value."""
    values: Sequence[ConnectValue]
    """The values, a list, or as they were given while no step has changed them as a list."""
    done: int
    """How many steps they have behind them."""
    places: list[int] | None = None
    """Which of the given values each came from; None when none was dropped."""


class Chain:
    """Applies the steps to one record after the other, or to many values at once; owned by one task."""

    def __init__(self, steps: Sequence[ChainStep], tolerance: Tolerance) -> None:
        self._steps = tuple(steps)
        # What may be tried again must find its record as it was.
        in_place = tolerance.policy.retry_timeout == 0
        self._operations = tuple((step.operation(in_place=in_place), step.name) for step in steps)
        self._tolerance = tolerance
        self._in_columns = all(step.predicate is None for step in self._steps)
        self._many = tuple(place for place, step in enumerate(self._steps) if takes_records(step))

    def __len__(self) -> int:
        return len(self._steps)

    @property
    def takes_records(self) -> bool:
        """True when a step works on many records at once."""
        return bool(self._many)

    def apply(self, record: R, original: object, done: int = 0, end: int | None = None) -> R | None:
        """Return what comes out for a record; None when a step dropped it.

        Args:
            record: The record; it must be private to the caller, since it may be changed.
            original: What it was made from, for reports.
            done: How many steps it has behind it.
            end: Number of the first step not to apply; None applies all.

        Raises:
            RecordSkippedError: A step failed and that is tolerated.
            ToleranceExceededError: A step failed and that is not tolerated.
        """
        for operation, name in self._operations[done:end] if done or end is not None else self._operations:
            try:
                result = operation(record)
            except BaseException as error:
                again = partial(operation, record)
                result = self._tolerance.recover(error, original, Stage.TRANSFORMATION, name, again)
            if result is None:
                return None
            record = result
        return record

    def apply_to_records(
        self, records: Iterable[R], originals: Sequence[object], done: int = 0
    ) -> Outcomes[R]:
        """Apply the steps to many records, those that can at once.

        Args:
            records: The records; they must be private to the caller.
            originals: What they were made from, for reports.
            done: How many steps they have behind them.

        Raises:
            DrainedError: The task must end.
        """
        live = Outcomes(list(enumerate(records)))
        for many in (*(place for place in self._many if place >= done), None):
            live = self._one_by_one(live, originals, done, many)
            if many is not None:
                live = apply_at_once(self._steps[many], live, originals, self._tolerance)
                done = many + 1
        return live

    def _one_by_one(
        self, live: Outcomes[R], originals: Sequence[object], done: int, end: int | None
    ) -> Outcomes[R]:
        kept = Outcomes[R]([], live.skipped, live.failure, live.end)
        for place, record in live.records:
            try:
                result = self.apply(record, originals[place], done, end)
            except RecordSkippedError:
                kept.skipped.add(place)
                continue
            except ToleranceExceededError as error:
                kept.failure, kept.end = error, place
                break
            if result is not None:
                kept.records.append((place, result))
        return kept

    def apply_to_values(self, schema: Schema | None, values: Sequence[ConnectValue]) -> ChangedValues:
        """Apply the first steps to values, as far as they need no records; to whole columns where they can.

        What it raises does not count as a failed record: the records must go one by one, from the start.

        Args:
            schema: The schema of every value.
            values: The values; a list and the maps in it must be private to the caller.
        """
        done, places = 0, None
        if isinstance(values, MapColumns) and self._in_columns:
            done, values = self._apply_to_columns(values)
        for step in self._steps[done:]:
            values = values if isinstance(values, list) else [*values]
            changed = step.transformation.apply_to_values(schema, values) if step.predicate is None else None
            if changed is None:
                break
            if isinstance(changed, Remaining):
                kept = changed.places
                places = kept if places is None else [places[place] for place in kept]
                schema, count, values = changed.schema, len(kept), changed.values
            else:
                count = len(values)
                schema, values = changed
            if len(values) != count:
                message = f"{step.name} made {len(values)} values of {count}"
                raise ConnectError(message)
            done += 1
        return ChangedValues(schema, values, done, places)

    def _apply_to_columns(self, columns: MapColumns) -> tuple[int, MapColumns]:
        """Apply the first steps; returns how many, and what they made."""
        for place, step in enumerate(self._steps):
            changed = step.transformation.apply_to_columns(columns)
            if changed is None:
                # To make maps again costs more than columns save: from now on they stay maps.
                self._in_columns = False
                return place, columns
            if len(changed) != len(columns):
                message = f"{step.name} made {len(changed)} values of {len(columns)}"
                raise ConnectError(message)
            columns = changed
        return len(self._steps), columns

    def close(self) -> None:
        """Close the transformations and predicates."""
        for step in self._steps:
            step.transformation.close()
            if step.predicate is not None:
                step.predicate.close()
