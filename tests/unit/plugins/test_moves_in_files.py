"""Moves of positions in files and logs: what is said of them, in lines, and which offsets a time has."""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from copycat_connect.plugin import OffsetEffect, OffsetMove
from copycat_plugins.connectors import lines
from copycat_plugins.connectors.file_stream_source import FileStreamSourceConnector
from copycat_plugins.connectors.log_source.connector import LogSourceConnector

from tests.unit.plugins.log_files import Reader, append, compressed, renamed

LINES = b"one\ntwo\r\nthree\rfour\n"


def told_of_file(
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
    assert told_of_file(file, before, after) == OffsetEffect(repeated, skipped, "lines")


def test_line_ends_across_pieces_are_counted_once(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for size in range(1, 6):
        monkeypatch.setattr(lines, "_CHUNK_BYTES", size)
        assert told_of_file(file, 0, len(LINES)) == OffsetEffect(0, 4, "lines")


def test_a_long_way_is_told_in_bytes(file: Path) -> None:
    os.truncate(file, lines.MAX_COUNTED_BYTES + 1)
    assert told_of_file(file, 0, 2**40) == OffsetEffect(0, lines.MAX_COUNTED_BYTES + 1, "bytes")


def test_what_is_not_here_or_no_file_cannot_be_told(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for place in (tmp_path / "none", tmp_path, tmp_path / "pipe"):
        assert told_of_file(place, 5, 0) is None


@pytest.mark.parametrize("position", [-1, "5", True, 1.5])
def test_what_is_no_position_cannot_be_told(file: Path, position: object) -> None:
    assert told_of_file(file, position, 0) is None


def test_an_offset_of_a_file_that_is_not_read_does_nothing(file: Path) -> None:
    assert told_of_file("other.txt", 5, 0, configured=file) == OffsetEffect(0, 0, "lines")


CONNECTOR = LogSourceConnector()


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "app.log"


def told_of_log(
    log: Path, before: Mapping[str, Any] | None, after: Mapping[str, Any] | None
) -> OffsetEffect | None:
    move = OffsetMove({"filename": str(log)}, before, after)
    [effect] = CONNECTOR.explain_offsets({"files": f"{log}*", "topic": "t"}, [move])
    return effect


def test_a_move_is_told_in_lines_through_all_files(log: Path) -> None:
    append(log, "one", "two", "three")
    reader = Reader(f"{log}*")
    reader.lines()
    old = reader.offsets[str(log)]
    renamed(log)
    append(log, "four", "five")
    reader.lines()
    new = reader.offsets[str(log)]

    assert told_of_log(log, new, {"position": 5}) == OffsetEffect(1, 0, "lines")
    assert told_of_log(log, {"position": 0}, new) == OffsetEffect(0, 2, "lines")
    assert told_of_log(log, new, {**old, "position": 4, "tail": ""}) == OffsetEffect(4, 0, "lines")
    assert told_of_log(log, None, new) == OffsetEffect(0, 5, "lines")
    assert told_of_log(log, new, new) == OffsetEffect(0, 0, "lines")


def test_what_cannot_be_told_is_not_guessed(log: Path) -> None:
    assert told_of_log(log, {"position": 0}, {"position": 1}) is None
    append(log, "one")
    assert told_of_log(log, {"position": 0}, {"line": 1}) is None
    assert told_of_log(log, {"position": 0}, {"position": 0, "inode": 1}) is None
    renamed(log)
    compressed(log.with_name("app.log.1"))
    append(log, "two")
    assert told_of_log(log, None, {"position": 4}) is None
    assert CONNECTOR.explain_offsets({"files": str(log), "topic": "t"}, [OffsetMove({}, None, None)]) == [
        None
    ]


def test_a_time_is_the_start_of_the_first_file_changed_since_or_the_end_of_all(log: Path) -> None:
    append(log, "one")
    os.utime(log, (1000, 1000))
    renamed(log)
    append(log, "two", "three")
    os.utime(log, (2000, 2000))
    partition = {"filename": str(log)}

    def lines_since(seconds: int) -> list[object]:
        config = {"files": f"{log}*", "topic": "t"}
        time = datetime.fromtimestamp(seconds, UTC)
        [(found, offset)] = CONNECTOR.find_offsets(config, [(partition, {"position": 0})], time)
        assert found == partition
        assert offset is not None
        reader = Reader(f"{log}*")
        reader.offsets[str(log)] = offset
        return reader.lines()

    assert lines_since(900) == ["one", "two", "three"]
    assert lines_since(1500) == ["two", "three"]
    assert lines_since(2500) == []
    gone = CONNECTOR.find_offsets(
        {"files": "/nowhere/x.log", "topic": "t"}, [({"filename": "/nowhere/x.log"}, {})], datetime.now(UTC)
    )
    assert gone == []
