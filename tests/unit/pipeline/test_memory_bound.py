"""How soon the memory of a process is looked at again."""

from __future__ import annotations

from copycat_executor.pipeline.task.memory import resident_bytes
from copycat_executor.pipeline.task.memory_bound import (
    LONGEST_INTERVAL_SECONDS,
    SHORTEST_INTERVAL_SECONDS,
    MemoryBound,
)


def interval(limit: int) -> float:
    bound: MemoryBound[object] = MemoryBound(limit, "task.memory.max", lambda *_: None)  # type: ignore[type-var]
    return bound.look([])


def test_a_process_far_from_its_limit_is_looked_at_seldom() -> None:
    assert interval(1 << 50) == LONGEST_INTERVAL_SECONDS
    assert interval(0) == LONGEST_INTERVAL_SECONDS


def test_one_near_its_limit_or_beyond_is_looked_at_often() -> None:
    assert interval(resident_bytes() + (100 << 20)) == SHORTEST_INTERVAL_SECONDS
    assert interval(1) == SHORTEST_INTERVAL_SECONDS


def test_between_them_it_is_looked_at_before_it_could_have_got_there() -> None:
    assert SHORTEST_INTERVAL_SECONDS < interval(resident_bytes() + (4 << 30)) < LONGEST_INTERVAL_SECONDS
