"""A small disk to fill: a file system of its own, where this user may mount one."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

SIZE: Final = "64m"
#: What is written meanwhile may not fit in what was there a moment ago.
FILLING_TRIES: Final = 20


@contextmanager
def small_disk(folder: Path) -> Iterator[None]:
    """Make a folder with `lines` in it, on a disk of its own where this user may mount one."""
    mounted = mount(folder)
    (folder / "lines").mkdir()
    try:
        yield
    finally:
        if mounted:
            unmount(folder)


def mount(folder: Path, size: str = SIZE) -> bool:
    """Make a folder and mount a disk there; returns whether this user may."""
    folder.mkdir(parents=True)
    command = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)]
    return not subprocess.run(command, check=False, capture_output=True).returncode


def resize(folder: Path, size: str) -> bool:
    """Give a mounted disk another size; returns whether what lies on it fits."""
    command = ["mount", "-o", f"remount,size={size}", str(folder)]
    return not subprocess.run(command, check=False, capture_output=True).returncode


def fill(folder: Path) -> None:
    """Leave no room on a mounted disk, while others may write to it.

    Raises:
        AssertionError: It cannot be made so small.
    """
    for _ in range(FILLING_TRIES):
        told = os.statvfs(folder)
        if resize(folder, str((told.f_blocks - told.f_bfree) * told.f_frsize)):
            return
    message = f"{folder} cannot be made so small that nothing fits"
    raise AssertionError(message)


def unmount(folder: Path) -> None:
    """Detach a disk; lazily, since somebody may still write there."""
    subprocess.run(["umount", "--lazy", str(folder)], check=True)  # noqa: S607
