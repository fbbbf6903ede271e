"""Whether there is room where something is kept, for messages that say why it takes nothing."""

from __future__ import annotations

import shutil
from pathlib import Path

#: A broker ends, or takes nothing, where less is free.
LEAST_FREE_BYTES = 1024 * 1024


def full_disk(folder: Path, least: int = LEAST_FREE_BYTES) -> str:
    """Say that less than `least` bytes are free where data lies; empty while there are more.

    Empty as well where there is no such folder: it may lie on another machine.
    """
    try:
        free = shutil.disk_usage(folder).free
    except OSError:
        return ""
    if free >= least:
        return ""
    return f"no space is left where its data lies ({folder}: {free // 1024} KiB are free)"
