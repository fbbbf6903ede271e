"""Connectors that come, restart and go, and whether memory grows with it."""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from copycat_testkit.system import CopycatUp

from tools.load.crowd import Crowd
from tools.load.roles import memory


@dataclass
class Memory:
    """Proportional memory by role, each time everything ran again."""

    minutes: list[float] = field(default_factory=list)
    """Since churn began."""
    changes: list[int] = field(default_factory=list)
    """Connectors created, deleted or restarted so far."""
    by_role: dict[str, list[float]] = field(default_factory=dict)
    """MB, one figure for each of `minutes`."""

    def slopes(self) -> Mapping[str, float]:
        """Return how much each role grows, in kB for each change; the first look warms."""
        if len(self.changes) < 3:
            return {}
        return {
            role: 1000 * statistics.linear_regression(self.changes[1:], found[1:]).slope
            for role, found in self.by_role.items()
        }


def churn(system: CopycatUp, crowd: Crowd, minutes: float, rounds: int, say: Callable[[str], None]) -> Memory:
    """Change connectors in so many rounds; all tasks run at the end of each."""
    found, began, changes = Memory(), time.monotonic(), 0
    dice = random.Random(0)  # noqa: S311 - the same run each time
    _look(system, found, 0.0, 0)
    for number in range(rounds):
        end = began + minutes * 60 * (number + 1) / rounds
        while time.monotonic() < end:
            for change in _changes(crowd, dice, changes):
                change()
                changes += 1
        crowd.until_running()
        _look(system, found, (time.monotonic() - began) / 60, changes)
        total = sum(each[-1] for each in found.by_role.values())
        say(f"churn: {found.minutes[-1]:.1f} min, {changes} changes, {total:.0f} MB")
    return found


def _changes(crowd: Crowd, dice: random.Random, number: int) -> Iterator[Callable[[], None]]:
    """Yield a deletion, a creation and two restarts."""
    known = sorted(crowd.names)
    gone, *others = dice.sample(known, min(3, len(known)))
    yield lambda: crowd.delete(gone)
    yield lambda: crowd.put(f"guest-{number:06d}")
    for each in others:
        yield lambda each=each: crowd.restart(each)  # type: ignore[misc]


def _look(system: CopycatUp, found: Memory, minutes: float, changes: int) -> None:
    found.minutes.append(minutes)
    found.changes.append(changes)
    for role, (_, proportional) in memory(system).items():
        found.by_role.setdefault(role, []).append(proportional)
