"""Generated values as a list: drawn once for many tests, and the same in every run."""

from __future__ import annotations

from typing import TypeVar

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

T = TypeVar("T")


def gathered(strategy: st.SearchStrategy[T], count: int) -> list[T]:
    """Return generated values, the same in every run in which the same modules were loaded before."""
    found: list[T] = []

    @settings(
        max_examples=count,
        derandomize=True,
        deadline=None,
        database=None,
        phases=(Phase.generate,),
        suppress_health_check=list(HealthCheck),
    )
    @given(strategy)
    def gather(value: T) -> None:
        found.append(value)

    gather()
    return found
