"""The transformations of a connector, with their predicates, in their order.

Some work on many records at once; where one of the records fails, halves are tried until it is found.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Generic, TypeVar

from copycat_connect.data.columns import MapColumns
from copycat_connect.data.records import ConnectRecord
from copycat_connect.data.schema import ConnectValue, Schema
from copycat_connect.errors import ConnectError, DataError
from copycat_connect.plugin.transformations import Predicate, Remaining, Transformation

from copycat_executor.pipeline.records.tolerate import Tolerance
from copycat_executor.pipeline.task.stages import RecordSkippedError, Stage, ToleranceExceededError

R = TypeVar("R", bound=ConnectRecord)
Placed = tuple[int, R]


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
    ) -> ChainOutcomes[R]:
        """Apply the steps to many records, those that can at once.

        Args:
            records: The records; they must be private to the caller.
            originals: What they were made from, for reports.
            done: How many steps they have behind them.

        Raises:
            DrainedError: The task must end.
        """
        live = ChainOutcomes(list(enumerate(records)))
        for many in (*(place for place in self._many if place >= done), None):
            live = self._one_by_one(live, originals, done, many)
            if many is not None:
                live = apply_at_once(self._steps[many], live, originals, self._tolerance)
                done = many + 1
        return live

    def _one_by_one(
        self, live: ChainOutcomes[R], originals: Sequence[object], done: int, end: int | None
    ) -> ChainOutcomes[R]:
        kept = ChainOutcomes[R]([], live.skipped, live.failure, live.end)
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
                raise ConnectError(f"{step.name} made {len(values)} values of {count}")
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
                raise ConnectError(f"{step.name} made {len(changed)} values of {len(columns)}")
            columns = changed
        return len(self._steps), columns

    def close(self) -> None:
        """Close the transformations and predicates."""
        for step in self._steps:
            step.transformation.close()
            if step.predicate is not None:
                step.predicate.close()


@dataclass(frozen=True, slots=True)
class ChainStep:
    """One transformation with its predicate, both configured."""

    transformation: Transformation
    """What changes the record."""
    name: str
    """Its class name, for error reports."""
    predicate: Predicate | None = None
    """When it applies; None means always."""
    negate: bool = False
    """True when it applies where the predicate does not hold."""

    def operation(self, *, in_place: bool) -> Callable[[R], R | None]:
        """Return the step as one function; with `in_place` a record it fails on may be half changed."""
        step = self.transformation
        apply: Callable[[R], R | None] = step.apply_in_place if in_place else step.apply
        if self.predicate is None:
            return apply
        test, wanted = self.predicate.test, not self.negate

        def apply_where(record: R) -> R | None:
            return apply(record) if test(record) is wanted else record

        return apply_where


@dataclass(slots=True)
class ChainOutcomes(Generic[R]):
    """What became of many records."""

    records: list[Placed[R]]
    """Those that are left, each with its place among those given."""
    skipped: set[int] = field(default_factory=set)
    """Places of those that failed and were reported."""
    failure: ToleranceExceededError | None = None
    """Why the task fails."""
    end: int | None = None
    """Place of the record that failed: nothing from there on is left; None for all."""


def takes_records(step: ChainStep) -> bool:
    """Return whether a step works on many records at once."""
    return type(step.transformation).apply_to_records is not Transformation.apply_to_records


def apply_at_once(
    step: ChainStep, live: ChainOutcomes[R], originals: Sequence[object], tolerance: Tolerance
) -> ChainOutcomes[R]:
    """Apply a step to the records that its predicate chooses; the order stays.

    Raises:
        DrainedError: The task must end.
    """
    todo = [_chosen(step, live, originals, tolerance)]
    results: dict[int, R | None] = dict(live.records)
    failure, end = live.failure, live.end
    while todo:
        run = todo.pop()
        try:
            results.update(_outcome(step, run, originals, tolerance))
        except _HalveError:
            half = len(run) // 2
            todo += [run[half:], run[:half]]
        except RecordSkippedError:
            live.skipped.add(run[0][0])
            results[run[0][0]] = None
        except ToleranceExceededError as error:
            failure, end = error, run[0][0]
            break
    kept = ((place, results[place]) for place, _ in live.records if end is None or place < end)
    records = [(place, record) for place, record in kept if record is not None]
    return ChainOutcomes(records, live.skipped, failure, end)


def _chosen(
    step: ChainStep, live: ChainOutcomes[R], originals: Sequence[object], tolerance: Tolerance
) -> list[Placed[R]]:
    """Return the records that the predicate of a step chooses; those it fails on leave `live`.

    Raises:
        DrainedError: The task must end.
    """
    if step.predicate is None:
        return live.records
    wanted = not step.negate
    chosen, kept = [], []
    for placed in live.records:
        place, record = placed
        try:
            holds = _holds(step.predicate, step.name, record, originals[place], tolerance)
        except RecordSkippedError:
            live.skipped.add(place)
            continue
        except ToleranceExceededError as error:
            live.failure, live.end = error, place
            break
        kept.append(placed)
        if holds is wanted:
            chosen.append(placed)
    live.records = kept
    return chosen


def _holds(
    predicate: Predicate, name: str, record: ConnectRecord, original: object, tolerance: Tolerance
) -> bool:
    try:
        return predicate.test(record)
    except BaseException as error:
        again = partial(predicate.test, record)
        return tolerance.recover(error, original, Stage.TRANSFORMATION, name, again)


class _HalveError(Exception):
    """One of several records failed: trying half of them shows which half it is in."""


def _outcome(
    step: ChainStep, run: list[Placed[R]], originals: Sequence[object], tolerance: Tolerance
) -> dict[int, R | None]:
    """Return what follows the records of a run.

    Raises:
        RecordSkippedError: The only one failed and that is tolerated.
        ToleranceExceededError: It is not, or the step itself does not work.
    """
    attempt = partial(_at_once, step, run)
    try:
        return attempt()
    except BaseException as error:
        of_the_step = isinstance(error, ConnectError) and not isinstance(error, DataError)
        if len(run) > 1 and not of_the_step:
            raise _HalveError from error
        try:
            return tolerance.recover(error, originals[run[0][0]], Stage.TRANSFORMATION, step.name, attempt)
        except RecordSkippedError:
            if of_the_step:  # no record's fault: to leave a batch out would lose it
                raise ToleranceExceededError(Stage.TRANSFORMATION) from error
            raise


def _at_once(step: ChainStep, run: list[Placed[R]]) -> dict[int, R | None]:
    if not run:
        return {}
    results = step.transformation.apply_to_records([record for _, record in run])
    if results is None:
        results = [step.transformation.apply(record) for _, record in run]
    if len(results) != len(run):
        raise ConnectError(f"{step.name} made {len(results)} records of {len(run)}")
    return {place: result for (place, _), result in zip(run, results, strict=True)}
