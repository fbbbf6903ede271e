"""Quick repeats: how often a task whose host died is started again before it is called failed.

A dead host is infrastructure (killed, out of memory), not author code raising; but a task that kills its host
each time must not do so for ever.
"""

from __future__ import annotations

from dataclasses import dataclass

QUICK_REPEATS = 3
#: A task that ran this long before its host died is counted anew, seconds.
CALM = 60.0


@dataclass(frozen=True, slots=True)
class Deaths:
    """Hosts that died under a task in a row."""

    count: int
    last: float
    """When the last one died, seconds on the caller's clock."""

    @property
    def hopeless(self) -> bool:
        """True when the task is not to be started again."""
        return self.count > QUICK_REPEATS


def after_death(before: Deaths | None, now: float) -> Deaths:
    """Count one more death."""
    if before is None or now - before.last >= CALM:
        return Deaths(1, now)
    return Deaths(before.count + 1, now)
