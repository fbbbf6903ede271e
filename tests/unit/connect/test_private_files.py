"""What is made for its owner only, and what was open to others before."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from copycat_connect.files import close_to_others, make_private, open_private


@pytest.fixture(autouse=True)
def careless_umask() -> Iterator[None]:
    """Of a user who shares everything by default."""
    before = os.umask(0)
    yield
    os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_new_folder_and_its_missing_parents_are_private(tmp_path: Path) -> None:
    make_private(tmp_path / "a" / "b")

    assert (mode(tmp_path / "a"), mode(tmp_path / "a" / "b")) == (0o700, 0o700)


def test_a_folder_that_was_open_is_closed_with_all_in_it(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_text("not ours")
    folder = tmp_path / "data"
    (folder / "deep").mkdir(parents=True)
    segment = folder / "deep" / "segment.log"
    segment.write_text("secrets")
    script = folder / "script"
    script.touch(0o755)
    (folder / "link").symlink_to(outside)

    make_private(folder)

    assert [mode(path) for path in (folder, folder / "deep", segment, script)] == [0o700, 0o700, 0o600, 0o700]
    assert mode(outside) == 0o666


@pytest.mark.parametrize("existing", [False, True])
def test_a_file_is_private_from_the_moment_it_is_opened(tmp_path: Path, existing: bool) -> None:
    file = tmp_path / "log"
    if existing:
        file.write_text("before")

    with open(file, "ab", opener=open_private):
        assert mode(file) == 0o600


def test_a_file_that_is_gone_needs_no_closing(tmp_path: Path) -> None:
    close_to_others(tmp_path / "gone")
