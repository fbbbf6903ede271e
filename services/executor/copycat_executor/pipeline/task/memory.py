"""How much memory this process has, and may have."""

from __future__ import annotations

import ctypes
import os
from contextlib import suppress
from pathlib import Path
from typing import Final

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
    """Return what to tell the user of a process that has taken more memory than it may."""
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
