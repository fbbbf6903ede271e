"""The log source when a log is rotated just while its next file is looked for: nothing is passed over."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path

import pytest
from copycat_plugins.connectors.log_source.family import LogFile, place_at_start
from copycat_plugins.connectors.log_source.place import Place

from tests.unit.plugins.log_files import Reader, append, copied, renamed


@pytest.mark.parametrize("rotate", [renamed, copied])
@pytest.mark.parametrize("strike", [1, 2, 3])
def test_a_rotation_between_the_names_and_the_first_bytes_of_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rotate: Callable[[Path], None], strike: int
) -> None:
    log, written, begun = tmp_path / "app.log", list[str](), itertools.count(1)

    def write(word: str) -> None:
        lines = [f"{word} {number}" for number in range(20)]
        append(log, *lines)
        written.extend(lines)

    def struck(file: LogFile) -> Place:
        if next(begun) == strike:
            rotate(log)
            write("meanwhile")
        return place_at_start(file)

    monkeypatch.setattr("copycat_plugins.connectors.log_source.log.place_at_start", struck)
    reader = Reader(f"{tmp_path}/*.log*")
    write("first")
    found = reader.lines()
    for word in ("second", "third"):
        rotate(log)
        write(word)
        found += reader.lines()

    assert found == written
    assert next(begun) > strike, "no rotation came between"
