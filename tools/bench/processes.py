"""CPU and memory of a system, all its processes but the broker, and what records cost that were moved."""

from __future__ import annotations

import contextlib
import time
from dataclasses import dataclass

import psutil


def tree(pid: int, *, without: int | None = None) -> list[psutil.Process]:
    """Return a process and its descendants, leaving out one subtree (the broker's)."""
    root = psutil.Process(pid)
    found = [root, *root.children(recursive=True)]
    if without is None or not psutil.pid_exists(without):
        return found
    broker = psutil.Process(without)
    hidden = {broker.pid, *(child.pid for child in broker.children(recursive=True))}
    return [process for process in found if process.pid not in hidden]


def cpu_by_process(pid: int) -> dict[psutil.Process, float]:
    """Return the CPU time that a process and each of its descendants used so far, seconds."""
    return _cpu_of(tree(pid))


def cpu_seconds(processes: list[psutil.Process]) -> float:
    """Return the CPU time the processes used so far."""
    return sum(_cpu_of(processes).values())


def _cpu_of(processes: list[psutil.Process]) -> dict[psutil.Process, float]:
    found = {}
    for process in processes:
        with contextlib.suppress(psutil.NoSuchProcess):
            times = process.cpu_times()
            found[process] = times.user + times.system
    return found


def cores_used(pid: int, seconds: float) -> float:
    """Return the share of one core a system uses while it is left alone."""
    processes = tree(pid)
    before, began = cpu_seconds(processes), time.monotonic()
    time.sleep(seconds)  # the measurement is of time itself
    return (cpu_seconds(processes) - before) / (time.monotonic() - began)


def memory_mb(pid: int) -> float:
    """Return proportional resident memory in MB: pages shared by forked processes count once."""
    return memory_and_resident_mb(pid)[0]


def memory_and_resident_mb(pid: int) -> tuple[float, float]:
    """Return the same, and resident memory in MB: pages that processes share count for each of them."""
    proportional = resident = 0
    for process in tree(pid):
        with contextlib.suppress(psutil.NoSuchProcess):
            info = process.memory_full_info()
            proportional, resident = proportional + info.pss, resident + info.rss
    return proportional / 1e6, resident / 1e6


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
