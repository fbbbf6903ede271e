"""Quick repeats: how often a task whose host died is started again before it is called failed.

A dead host is infrastructure (killed, out of memory), not author code raising; but a task that kills its host
each time must not do so for ever. Only hosts count in which it was alone: of several tasks any may be the
cause. Hosts that are killed together are noticed one after another, so a task may be sent into several that
are dead already: these deaths are not its doing, and only bounded.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

#: Hosts in a row that may die under a task that is alone in them before it is called failed.
MAX_QUICK_REPEATS = 5
#: Hosts in a row that may die before they took the task: more than an executor has at once.
MAX_LOST_ORDERS = 50
#: A task that ran this long before its host died is counted anew.
CALM_AFTER_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Deaths:
    """Hosts that died under a task in a row."""

    count: int
    """Those that had taken the task, and no other."""
    lost_orders: int
    """Those that had not taken it."""
    last: float
    """When the last one died, seconds on the caller's clock."""

    @property
    def hopeless(self) -> bool:
        """True when the task is not to be started again."""
        return self.count > MAX_QUICK_REPEATS or self.lost_orders > MAX_LOST_ORDERS


def after_death(before: Deaths | None, now: float, *, taken: bool) -> Deaths:
    """Count one more death; `taken` when the host had taken the task, which was alone in it."""
    if before is None or now - before.last >= CALM_AFTER_SECONDS:
        before = Deaths(0, 0, now)
    if taken:
        return Deaths(before.count + 1, 0, now)
    return replace(before, lost_orders=before.lost_orders + 1, last=now)
