"""What another process and its threads compute, which can be seen also while nothing in it can answer."""

from __future__ import annotations

import ctypes
import os
import time
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

_LIBC: Final = ctypes.CDLL(None)
_TICKS_PER_SECOND: Final = os.sysconf("SC_CLK_TCK")
#: Who holds the interpreter in C leaves the others none of the processor.
BUSIEST_SHARE: Final = 0.8
BUSIEST_SECONDS: Final = 0.05


def process_seconds(pid: int) -> float:
    """Return how much processor time a process has used, all its threads together; 0 where it has ended.

    It is asked for ten times a second: a clock of the kernel costs a tenth of a read from /proc.
    """
    clock = ctypes.c_int()
    if _LIBC.clock_getcpuclockid(pid, ctypes.byref(clock)):
        return 0.0
    with suppress(OSError):  # it has ended just now
        return time.clock_gettime(clock.value)
    return 0.0


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


def busiest(before: Mapping[str, float], after: Mapping[str, float]) -> tuple[str, float] | None:
    """Return the name of the threads that used nearly all processor time in between, and how many seconds.

    None where none did.
    """
    used = {name: seconds - before.get(name, 0.0) for name, seconds in after.items()}
    name = max(used, key=lambda each: used[each], default=None)
    if name is None or used[name] < max(BUSIEST_SECONDS, BUSIEST_SHARE * sum(used.values())):
        return None
    return name, used[name]
