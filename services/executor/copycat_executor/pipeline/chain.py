"""The transformations of a connector, with their predicates, as one step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from copycat_connect.data.records import ConnectRecord
from copycat_connect.data.schema import Schema
from copycat_connect.data.value import ConnectValue
from copycat_connect.errors import ConnectError
from copycat_connect.plugin.transformations import Predicate, Transformation

from copycat_executor.pipeline.stages import Stage
from copycat_executor.pipeline.tolerate import Tolerance

R = TypeVar("R", bound=ConnectRecord)


@dataclass(frozen=True, slots=True)
class ChainStep:
    """One transformation, configured."""

    transformation: Transformation
    """What changes the record."""
    name: str
    """Its class name, for error reports."""
    predicate: Predicate | None = None
    """When it applies; None means always."""
    negate: bool = False
    """True when it applies where the predicate does not hold."""

    def operation(self, *, in_place: bool) -> Callable[[R], R | None]:
        """Return the step as one function; with `in_place` a record it fails on is lost."""
        step = self.transformation
        apply: Callable[[R], R | None] = step.apply_in_place if in_place else step.apply
        if self.predicate is None:
            return apply
        test, wanted = self.predicate.test, not self.negate

        def apply_where(record: R) -> R | None:
            return apply(record) if test(record) is wanted else record

        return apply_where


class Chain:
    """Applies the steps to one record after the other, or to many values at once; owned by one task."""

    def __init__(self, steps: Sequence[ChainStep], tolerance: Tolerance) -> None:
        self._steps = tuple(steps)
        # What may be tried again must find its record as it was.
        in_place = tolerance.policy.retry_timeout == 0
        self._operations = tuple((step.operation(in_place=in_place), step.name) for step in steps)
        self._tolerance = tolerance

    def __len__(self) -> int:
        return len(self._steps)

    def apply(self, record: R, original: object, done: int = 0) -> R | None:
        """Return what comes out for a record; None when a step dropped it.

        Args:
            record: The record; it must be private to the caller, since it may be changed.
            original: What it was made from, for reports.
            done: How many steps it has behind it.

        Raises:
            RecordSkippedError: A step failed and that is tolerated.
            ToleranceExceededError: A step failed and that is not tolerated.
        """
        for operation, name in self._operations[done:] if done else self._operations:
            try:
                result = operation(record)
            except Exception as error:
                again = partial(operation, record)
                result = self._tolerance.recover(error, original, Stage.TRANSFORMATION, name, again)
            if result is None:
                return None
            record = result
        return record

    def apply_to_values(
        self, schema: Schema | None, values: list[ConnectValue]
    ) -> tuple[Schema | None, list[ConnectValue], int]:
        """Apply the first steps to values, as far as they need no records; returns how many those are.

        Whatever it raises is no failure of a record yet: the records must go the other way, from the start.

        Args:
            schema: The schema of every value.
            values: The values; the list and the maps in it must be private to the caller.
        """
        done, count = 0, len(values)
        for step in self._steps:
            changed = step.transformation.apply_to_values(schema, values) if step.predicate is None else None
            if changed is None:
                break
            schema, values = changed
            if len(values) != count:
                message = f"{step.name} made {len(values)} values of {count}"
                raise ConnectError(message)
            done += 1
        return schema, values, done

    def close(self) -> None:
        """Close the transformations and predicates."""
        for step in self._steps:
            step.transformation.close()
            if step.predicate is not None:
                step.predicate.close()
