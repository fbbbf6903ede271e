"""How much memory this process has and may have, and what happens when code takes more.

Code of several authors runs in one process, each in a thread of its own. The thread that takes the memory is
interrupted first, which harms nobody else; if that does not help, the process ends.
"""

from __future__ import annotations

import ctypes
import os
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final, Generic, Protocol, TypeVar

MEGABYTE: Final = 1 << 20
#: Where a container's limit stands (cgroup 2).
CONTAINER_LIMIT: Final = Path("/sys/fs/cgroup/memory.max")


def resident_bytes() -> int:
    """Return how much memory this process has, in RAM."""
    pages = int(Path("/proc/self/statm").read_bytes().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def half_of_the_machine() -> int:
    """Return half of the memory of this machine, or of the container that we run in."""
    whole = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    with suppress(OSError, ValueError):  # no container, or one without a limit
        whole = min(whole, int(CONTAINER_LIMIT.read_text()))
    return whole // 2


def memory_limit(setting: str | None) -> int:
    """Return the bytes that a worker property allows: half of the machine by default, 0 for no limit."""
    return half_of_the_machine() if setting is None or not setting.strip() else int(setting)


def over_limit_text(used: int, limit: int, key: str) -> str:
    """Return the message for the user about a process that has taken more memory than it may."""
    return f"Its process took {used // MEGABYTE} MB of memory; {key} allows {limit // MEGABYTE} MB"


def memory_error(text: str) -> type[MemoryError]:
    """Return an error with this text, as a class: what is raised in another thread takes no arguments."""

    class MemoryLimitError(MemoryError):
        """A process took more memory than it may."""

        def __init__(self) -> None:
            super().__init__(text)

    return MemoryLimitError


def raise_in_thread(thread_id: int, error: type[BaseException]) -> None:
    """Raise an error in another thread of this process, once it runs Python code again.

    A thread that hangs in C code never hears it; one that has ended does not matter.
    """
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread_id), ctypes.py_object(error))


#: Code that took too much memory may take this long to give it back.
MEMORY_TIMEOUT_SECONDS: Final = 2.0
#: Between two looks: the time in which the memory that is left could be taken, within these bounds.
SHORTEST_INTERVAL_SECONDS: Final = 0.2
LONGEST_INTERVAL_SECONDS: Final = 2.0
#: How fast a process can take memory: a kernel empties pages no faster.
_BYTES_PER_SECOND: Final = 4 << 30


class Suspect(Protocol):
    """Who may take the memory."""

    def processor_seconds(self) -> float:
        """Return how much processor time its thread has used."""

    def interrupt(self, error: type[BaseException]) -> None:
        """Raise an error in its thread."""


S = TypeVar("S", bound=Suspect)


class MemoryBound(Generic[S]):
    """Looks at the memory again and again; called from one thread."""

    def __init__(self, limit: int, key: str, end: Callable[[S | None, str], None]) -> None:
        """`limit` is in bytes, 0 for none; `end` ends the process, for whose sake and why."""
        self._limit = limit
        self._key = key
        self._end = end
        self._since: float | None = None
        self._blamed: S | None = None
        self._text = ""
        self._used: dict[S, float] = {}

    def look(self, suspects: Sequence[S]) -> float:
        """Compare the memory of the process with its limit, and act; returns when to look again, seconds."""
        used, self._used = self._used, {each: each.processor_seconds() for each in suspects}
        taken, now = (resident_bytes() if self._limit else 0), time.monotonic()
        if taken <= self._limit:
            self._since = self._blamed = None
        elif self._since is None:
            self._since = now
            # Whoever allocates computes: of several it is the one that did so most just now.
            self._blamed = max(
                suspects, key=lambda each: self._used[each] - used.get(each, 0.0), default=None
            )
            several = (
                f"; of the {len(suspects)} that share it, this one computed most" if suspects[1:] else ""
            )
            self._text = over_limit_text(taken, self._limit, self._key) + several
            if self._blamed is not None:
                self._blamed.interrupt(memory_error(self._text))
        elif now - self._since > MEMORY_TIMEOUT_SECONDS:
            self._end(self._blamed, self._text)
        return self._interval(taken)

    def _interval(self, taken: int) -> float:
        if not self._limit:
            return LONGEST_INTERVAL_SECONDS
        until_full = (self._limit - taken) / _BYTES_PER_SECOND
        return min(max(until_full, SHORTEST_INTERVAL_SECONDS), LONGEST_INTERVAL_SECONDS)


def processor_seconds(thread: threading.Thread) -> float:
    """Return how much processor time a thread has used; 0 when it is over."""
    if not thread.is_alive() or thread.ident is None:
        return 0.0
    try:
        return time.clock_gettime(time.pthread_getcpuclockid(thread.ident))
    except OSError:  # it has ended just now
        return 0.0
