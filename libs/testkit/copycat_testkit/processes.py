"""What runs, also while it ends, and what it has cost so far."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable

import psutil


def command_line(process: psutil.Process) -> list[str]:
    """Return the words a process was started with; none once it has ended, reaped or not."""
    try:
        return process.cmdline()
    except psutil.NoSuchProcess:
        return []


def lives(process: psutil.Process) -> bool:
    """Return whether a process runs; one that has ended and that nobody has reaped yet does not."""
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def tree(pid: int) -> list[psutil.Process]:
    """Return a process and its descendants."""
    root = psutil.Process(pid)
    return [root, *root.children(recursive=True)]


def cpu_seconds(processes: Iterable[psutil.Process]) -> dict[psutil.Process, float]:
    """Return the CPU time that each of the processes has used so far; those that have ended are left out."""
    found = {}
    for process in processes:
        with contextlib.suppress(psutil.NoSuchProcess):
            times = process.cpu_times()
            found[process] = times.user + times.system
    return found


def memory_mb(processes: Iterable[psutil.Process]) -> tuple[float, float]:
    """Return the proportional and the resident memory of processes together, in MB.

    Pages that processes share count once in the former, and for each of them in the latter.
    """
    proportional = resident = 0
    for process in processes:
        with contextlib.suppress(psutil.NoSuchProcess):
            info = process.memory_full_info()
            proportional, resident = proportional + info.pss, resident + info.rss
    return proportional / 1e6, resident / 1e6
