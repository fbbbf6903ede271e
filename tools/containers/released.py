"""The code of the last release: that whose contracts are kept in proto/released.binpb."""

from __future__ import annotations

import io
import shutil
import subprocess
import tarfile
from pathlib import Path
from typing import Final

from tools.containers.engine import ROOT

COMMIT_FILE: Final = ROOT / "proto/released.commit"
PLACE: Final = ROOT / "build/released"


def released_commit() -> str:
    """Return the commit that was released."""
    return COMMIT_FILE.read_text("utf-8").strip()


def released_tree() -> Path:
    """Return a folder with the code of the release, taken from the repository the first time.

    Raises:
        RuntimeError: The repository does not have that commit.
    """
    commit = released_commit()
    tree = PLACE / commit
    if tree.is_dir():
        return tree
    archive = subprocess.run(
        ["git", "archive", commit],  # noqa: S607 - the git that cloned us
        cwd=ROOT,
        capture_output=True,
        check=False,
    )
    if archive.returncode:
        message = (
            f"The released commit {commit} ({COMMIT_FILE.relative_to(ROOT)}) is not in this clone:"
            " git fetch --unshallow"
        )
        raise RuntimeError(message)
    unfinished = PLACE / f"{commit}.unfinished"
    shutil.rmtree(unfinished, ignore_errors=True)
    with tarfile.open(fileobj=io.BytesIO(archive.stdout)) as files:
        files.extractall(unfinished, filter="data")
    return unfinished.rename(tree)
