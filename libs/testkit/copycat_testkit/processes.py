"""What runs, also while it ends."""

from __future__ import annotations

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
