"""What is said of moves in a log, and which offsets a time has."""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from copycat_connect.plugin import OffsetEffect, OffsetMove
from copycat_plugins.connectors.log_source.connector import LogSourceConnector

from tests.unit.plugins.log_files import Reader, append, compressed, renamed

CONNECTOR = LogSourceConnector()


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "app.log"


def told(log: Path, before: Mapping[str, Any] | None, after: Mapping[str, Any] | None) -> OffsetEffect | None:
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

    assert told(log, new, {"position": 5}) == OffsetEffect(1, 0, "lines")
    assert told(log, {"position": 0}, new) == OffsetEffect(0, 2, "lines")
    assert told(log, new, {**old, "position": 4, "tail": ""}) == OffsetEffect(4, 0, "lines")
    assert told(log, None, new) == OffsetEffect(0, 5, "lines")
    assert told(log, new, new) == OffsetEffect(0, 0, "lines")


def test_what_cannot_be_told_is_not_guessed(log: Path) -> None:
    assert told(log, {"position": 0}, {"position": 1}) is None
    append(log, "one")
    assert told(log, {"position": 0}, {"line": 1}) is None
    assert told(log, {"position": 0}, {"position": 0, "inode": 1}) is None
    renamed(log)
    compressed(log.with_name("app.log.1"))
    append(log, "two")
    assert told(log, None, {"position": 4}) is None
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
