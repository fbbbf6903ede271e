"""One transformation of a chain, with the predicate that says when it applies."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from copycat_connect.data.records import ConnectRecord
from copycat_connect.plugin.transformations import Predicate, Transformation

R = TypeVar("R", bound=ConnectRecord)


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
        """Return the step as one function; with `in_place` a record it fails on is lost."""
        step = self.transformation
        apply: Callable[[R], R | None] = step.apply_in_place if in_place else step.apply
        if self.predicate is None:
            return apply
        test, wanted = self.predicate.test, not self.negate

        def apply_where(record: R) -> R | None:
            return apply(record) if test(record) is wanted else record

        return apply_where
