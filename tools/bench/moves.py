"""How fast records were moved, and what that cost in CPU time."""

from __future__ import annotations

from dataclasses import dataclass

from tools.bench.processes import cpu_by_process


@dataclass(frozen=True, slots=True)
class Moved:
    """One figure of a throughput row."""

    rate: float
    """Records a second, from the first one that arrived to the last."""
    cpu: float
    """Seconds of CPU time of all processes of the side, for a million records."""


class Stretch:
    """The CPU time that a side uses from now on; the broker's is not its own.

    Of processes that end meanwhile nothing counts: a host of an earlier task would take its time with it.
    """

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._before = cpu_by_process(pid)

    def moved(self, records: float, rate: float) -> Moved:
        """Return the figure of so many records, moved since the beginning of the stretch."""
        used = sum(
            seconds - self._before.get(process, 0.0) for process, seconds in cpu_by_process(self._pid).items()
        )
        return Moved(rate, used / records * 1e6)
