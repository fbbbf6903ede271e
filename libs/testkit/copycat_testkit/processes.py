"""What runs, also while it ends."""

from __future__ import annotations

import psutil


def command_line(process: psutil.Process) -> list[str]:
    """Return the words a process was started with; none once it has ended, reaped or not."""
    try:
        return process.cmdline()
    except psutil.NoSuchProcess:
        return []
