"""A small disk for the sink to fill."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

SIZE: Final = "64m"


@contextmanager
def small_disk(folder: Path) -> Iterator[None]:
    """Make a folder with `lines` in it, on a disk of its own where this user may mount one."""
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", str(folder)]
    mounted = not subprocess.run(mount, check=False, capture_output=True).returncode
    (folder / "lines").mkdir()
    try:
        yield
    finally:
        if mounted:  # lazily: somebody may still write there
            subprocess.run(["umount", "--lazy", str(folder)], check=True)  # noqa: S607
