"""What a move of the position in a file does, in lines."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from copycat_connect.plugin import OffsetEffect, OffsetMove
from copycat_plugins.connectors import lines
from copycat_plugins.connectors.file_stream_source import FileStreamSourceConnector

LINES = b"one\ntwo\r\nthree\rfour\n"


def told(
    file: Path | str, before: object, after: object, configured: Path | None = None
) -> OffsetEffect | None:
    """Return what a move of the position in a file does."""
    move = OffsetMove(
        {"filename": str(file)},
        None if before is None else {"position": before},
        None if after is None else {"position": after},
    )
    [effect] = FileStreamSourceConnector().explain_offsets({"file": str(configured or file)}, [move])
    return effect


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "in.txt"
    path.write_bytes(LINES)
    return path


@pytest.mark.parametrize(
    ("before", "after", "repeated", "skipped"),
    [
        (len(LINES), 0, 4, 0),
        (len(LINES), None, 4, 0),
        (0, len(LINES), 0, 4),
        (None, 4, 0, 1),
        (9, 4, 1, 0),
        (9, 15, 0, 1),
        (4, 4, 0, 0),
        (0, 10_000, 0, 4),
    ],
)
def test_lines_between_two_positions_are_counted(
    file: Path, before: int | None, after: int | None, repeated: int, skipped: int
) -> None:
    assert told(file, before, after) == OffsetEffect(repeated, skipped, "lines")


def test_line_ends_across_pieces_are_counted_once(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for size in range(1, 6):
        monkeypatch.setattr(lines, "_CHUNK_BYTES", size)
        assert told(file, 0, len(LINES)) == OffsetEffect(0, 4, "lines")


def test_a_long_way_is_told_in_bytes(file: Path) -> None:
    os.truncate(file, lines.MAX_COUNTED_BYTES + 1)
    assert told(file, 0, 2**40) == OffsetEffect(0, lines.MAX_COUNTED_BYTES + 1, "bytes")


def test_what_is_not_here_or_no_file_cannot_be_told(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for place in (tmp_path / "none", tmp_path, tmp_path / "pipe"):
        assert told(place, 5, 0) is None


@pytest.mark.parametrize("position", [-1, "5", True, 1.5])
def test_what_is_no_position_cannot_be_told(file: Path, position: object) -> None:
    assert told(file, position, 0) is None


def test_an_offset_of_a_file_that_is_not_read_does_nothing(file: Path) -> None:
    assert told("other.txt", 5, 0, configured=file) == OffsetEffect(0, 0, "lines")
