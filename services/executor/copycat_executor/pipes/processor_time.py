"""Threads of another process: they show who computes there also while nothing in it can answer."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

_TICKS_PER_SECOND: Final = os.sysconf("SC_CLK_TCK")
#: Who holds the interpreter in C leaves the others none of the processor.
BUSIEST_SHARE: Final = 0.8
BUSIEST_SECONDS: Final = 0.05


def thread_seconds(pid: int) -> Mapping[str, float]:
    """Return how much processor time the threads of a process have used, by their names in the kernel.

    Nothing where there is no such process.
    """
    used: Counter[str] = Counter()
    for stat in Path(f"/proc/{pid}/task").glob("*/stat"):
        with suppress(OSError):  # it has ended just now
            _, _, rest = stat.read_bytes().partition(b"(")
            name, _, fields = rest.rpartition(b")")
            user, system = fields.split()[11:13]
            used[name.decode(errors="replace")] += int(user) + int(system)
    return {name: ticks / _TICKS_PER_SECOND for name, ticks in used.items()}


class ThreadNames:
    """Reads again and again how a thread of another process is called, which says what it does."""

    def __init__(self, prefix: str) -> None:
        """`prefix`: how the names of that thread begin; there is one such thread in each process."""
        self._prefix = prefix
        self._places: dict[int, Path] = {}

    def read(self, pid: int) -> str:
        """Return the name that the thread of a process has now, or nothing."""
        place = self._places.pop(pid, None) or self._find(pid)
        if place is None:
            return ""
        with suppress(OSError):  # it has ended
            name = place.read_text(errors="replace").rstrip("\n")
            if name.startswith(self._prefix):
                self._places[pid] = place
                return name
        return ""

    def _find(self, pid: int) -> Path | None:
        for place in Path(f"/proc/{pid}/task").glob("*/comm"):
            with suppress(OSError):
                if place.read_text(errors="replace").startswith(self._prefix):
                    return place
        return None


def busiest(before: Mapping[str, float], after: Mapping[str, float]) -> tuple[str, float] | None:
    """Return the name of the threads that used nearly all processor time in between, and how many seconds.

    None where none did.
    """
    used = {name: seconds - before.get(name, 0.0) for name, seconds in after.items()}
    name = max(used, key=lambda each: used[each], default=None)
    if name is None or used[name] < max(BUSIEST_SECONDS, BUSIEST_SHARE * sum(used.values())):
        return None
    return name, used[name]
