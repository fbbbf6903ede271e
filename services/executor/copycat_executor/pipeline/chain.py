"""The transformations of a connector, with their predicates, as one step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from copycat_connect.data.records import ConnectRecord
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

    def operation(self) -> Callable[[R], R | None]:
        """Return the step as one function."""
        apply: Callable[[R], R | None] = self.transformation.apply
        if self.predicate is None:
            return apply
        test, wanted = self.predicate.test, not self.negate

        def apply_where(record: R) -> R | None:
            return apply(record) if test(record) is wanted else record

        return apply_where


class Chain:
    """Applies the steps to one record after the other; owned by one task."""

    def __init__(self, steps: Sequence[ChainStep], tolerance: Tolerance) -> None:
        self._steps = tuple(steps)
        self._operations = tuple((step.operation(), step.name) for step in steps)
        self._tolerance = tolerance

    def __bool__(self) -> bool:
        return bool(self._steps)

    def apply(self, record: R, original: object) -> R | None:
        """Return what comes out for a record; None when a step dropped it.

        Raises:
            RecordSkippedError: A step failed and that is tolerated.
            ToleranceExceededError: A step failed and that is not tolerated.
        """
        for operation, name in self._operations:
            try:
                result = operation(record)
            except Exception as error:
                again = partial(operation, record)
                result = self._tolerance.recover(error, original, Stage.TRANSFORMATION, name, again)
            if result is None:
                return None
            record = result
        return record

    def close(self) -> None:
        """Close the transformations and predicates."""
        for step in self._steps:
            step.transformation.close()
            if step.predicate is not None:
                step.predicate.close()
