"""Properties files, written as one."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from copycat_connect.config.properties import format_properties


def write_properties(path: Path, properties: Mapping[str, str], comment: str = "") -> None:
    """Write a file that is there whole or not at all, and that none but its owner may read.

    Properties may hold passwords, so the file is never wider, whatever was there before it.
    """
    half = path.with_name(f"{path.name}.half")
    half.unlink(missing_ok=True)  # left by a run that was killed
    descriptor = os.open(half, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(format_properties(properties, comment))
            file.flush()
            os.fsync(file.fileno())  # before the renaming, or a crash of the machine may leave an empty file
    except OSError:
        half.unlink(missing_ok=True)
        raise
    half.replace(path)
