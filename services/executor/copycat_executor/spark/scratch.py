"""The folder of one Spark JVM's temporary files, which goes with the JVM however that ends.

Spark leaves `blockmgr-*`, `spark-*` and unpacked native libraries behind when it is killed. Here they are in
one folder that its owner removes; those of owners that were killed themselves go at the next start.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
import threading
import time
from pathlib import Path
from typing import Final

FOLDER_PREFIX: Final = "copycat-spark-"
LOCK_FILE: Final = "lock"
#: A folder without a lock is about to get one, unless it is older than this.
LOCKED_WITHIN_SECONDS: Final = 60.0
#: A folder may be removed by another process just before it is locked.
MAX_ATTEMPTS: Final = 5


class ScratchFolder:
    """A folder of our own, for us alone, in the system's folder of temporary files."""

    def __init__(self) -> None:
        """Make it, after those are removed that nobody owns any more.

        Raises:
            OSError: It cannot be made.
        """
        self._removing, self._removed = threading.Lock(), False
        parent = Path(tempfile.gettempdir())
        remove_abandoned(parent)
        for _ in range(MAX_ATTEMPTS):
            self.path = Path(tempfile.mkdtemp(prefix=FOLDER_PREFIX, dir=parent))
            lock = _take_lock(self.path, os.O_CREAT)
            if lock is not None:
                self._lock = lock
                return
        raise OSError(f"No folder for Spark's temporary files can be made in {parent}")

    def remove(self) -> None:
        """Remove it with all that is in it; the JVM must be gone. A second time nothing happens."""
        with self._removing:
            if not self._removed:
                shutil.rmtree(self.path, ignore_errors=True)
                os.close(self._lock)
                self._removed = True


def remove_abandoned(parent: Path) -> None:
    """Remove our user's scratch folders whose owners are gone: the system freed their locks."""
    for folder in parent.glob(f"{FOLDER_PREFIX}*"):
        try:
            found = folder.lstat()
            if found.st_uid != os.getuid() or folder.is_symlink() or not folder.is_dir():
                continue
            if not (folder / LOCK_FILE).exists():
                if time.time() - found.st_mtime > LOCKED_WITHIN_SECONDS:
                    shutil.rmtree(folder, ignore_errors=True)
                continue
            lock = _take_lock(folder)
        except OSError:
            continue  # somebody else removes it
        if lock is not None:
            shutil.rmtree(folder, ignore_errors=True)
            os.close(lock)


def _take_lock(folder: Path, flags: int = 0) -> int | None:
    """Return the descriptor of the folder's lock; None when another process holds it."""
    descriptor = os.open(folder / LOCK_FILE, os.O_RDWR | flags, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    return descriptor
