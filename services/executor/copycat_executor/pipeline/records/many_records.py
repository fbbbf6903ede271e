"""Steps that work on many records at once, and the search for the record one of them fails on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Generic, TypeVar

from copycat_connect.data.records import ConnectRecord
from copycat_connect.errors import ConnectError, DataError
from copycat_connect.plugin.transformations import Predicate, Transformation

from copycat_executor.pipeline.records.chain_step import ChainStep
from copycat_executor.pipeline.records.tolerate import Tolerance
from copycat_executor.pipeline.task.stages import RecordSkippedError, Stage, ToleranceExceededError

R = TypeVar("R", bound=ConnectRecord)
Placed = tuple[int, R]


@dataclass(slots=True)
class Outcomes(Generic[R]):
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
    step: ChainStep, live: Outcomes[R], originals: Sequence[object], tolerance: Tolerance
) -> Outcomes[R]:
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
    return Outcomes(records, live.skipped, failure, end)


def _chosen(
    step: ChainStep, live: Outcomes[R], originals: Sequence[object], tolerance: Tolerance
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
        message = f"{step.name} made {len(results)} records of {len(run)}"
        raise ConnectError(message)
    return {place: result for (place, _), result in zip(run, results, strict=True)}
