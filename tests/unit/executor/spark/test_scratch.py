"""Folders of Spark's temporary files: whose owner is gone goes, whose owner lives stays."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from copycat_executor.spark.scratch import (
    FOLDER_PREFIX,
    LOCKED_WITHIN_SECONDS,
    ScratchFolder,
    remove_abandoned,
)

OWNER = """
import signal
from copycat_executor.spark.scratch import ScratchFolder

folder = ScratchFolder()
(folder.path / "blockmgr-1").mkdir()
print(folder.path, flush=True)
signal.pause()
"""


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_the_folder_is_for_its_owner_only_and_goes_when_it_is_removed(temporary: Path) -> None:
    folder = ScratchFolder()
    assert stat.S_IMODE(folder.path.stat().st_mode) == 0o700
    folder.remove()
    folder.remove()
    assert list(temporary.iterdir()) == []


def test_a_folder_stays_while_its_owner_lives_and_goes_at_the_next_start_after_it_was_killed(
    temporary: Path,
) -> None:
    environment = {**os.environ, "TMPDIR": str(temporary)}
    with subprocess.Popen(
        [sys.executable, "-c", OWNER], stdout=subprocess.PIPE, text=True, env=environment
    ) as owner:
        try:
            assert owner.stdout is not None
            abandoned = Path(owner.stdout.readline().strip())
            mine = ScratchFolder()
            assert abandoned.exists()
        finally:
            owner.kill()
    ScratchFolder()
    assert not abandoned.exists()
    assert mine.path.exists()


def test_what_is_not_ours_is_left_alone(temporary: Path) -> None:
    others = temporary / "others"
    others.mkdir()
    (temporary / f"{FOLDER_PREFIX}link").symlink_to(others)
    (temporary / "spark-1").mkdir()
    remove_abandoned(temporary)
    assert len(list(temporary.iterdir())) == 3


def test_a_folder_that_is_being_made_is_left_and_one_that_never_got_its_lock_goes(temporary: Path) -> None:
    fresh, old = temporary / f"{FOLDER_PREFIX}fresh", temporary / f"{FOLDER_PREFIX}old"
    for folder in (fresh, old):
        folder.mkdir()
    long_ago = fresh.stat().st_mtime - 2 * LOCKED_WITHIN_SECONDS
    os.utime(old, (long_ago, long_ago))
    remove_abandoned(temporary)
    assert [each.name for each in temporary.iterdir()] == [fresh.name]
