"""Folders and files that are for their owner only, whatever the umask says."""

from __future__ import annotations

import os
import stat
from pathlib import Path

FOR_OTHERS = stat.S_IRWXG | stat.S_IRWXO
"""The rights of everybody but the owner."""


def make_private(folder: Path) -> None:
    """Make a folder that only its owner may enter; one that is there is closed to others, with all in it.

    Parents that are missing are made private, too. A link is not followed within the folder.

    Raises:
        OSError: It cannot be made, or is somebody else's.
    """
    for missing in reversed([each for each in (folder, *folder.parents) if not each.exists()]):
        missing.mkdir(mode=stat.S_IRWXU, exist_ok=True)
    if folder.stat().st_mode & FOR_OTHERS:
        close_to_others(folder)
        for root, folders, files in os.walk(folder):
            for name in (*folders, *files):
                close_to_others(Path(root, name))


def close_to_others(path: Path) -> None:
    """Remove the rights of everybody but the owner from a file or folder; a link stays as it is."""
    try:
        found = path.lstat().st_mode
        if found & FOR_OTHERS and not stat.S_ISLNK(found):
            path.chmod(stat.S_IMODE(found) & ~FOR_OTHERS)
    except FileNotFoundError:  # gone meanwhile
        return


def open_private(path: str | Path, flags: int) -> int:
    """Open a file for its owner only, also one that was there for others; an `opener` for `open`."""
    descriptor = os.open(path, flags, stat.S_IRUSR | stat.S_IWUSR)
    found = os.fstat(descriptor).st_mode
    if stat.S_ISREG(found) and found & FOR_OTHERS:
        os.fchmod(descriptor, stat.S_IMODE(found) & ~FOR_OTHERS)
    return descriptor
