"""The log source through rotation: nothing lost, nothing twice, whoever sleeps meanwhile.

The log source when a log is rotated just while its next file is looked for: nothing is passed over.
"""

from __future__ import annotations

import itertools
import logging
import os
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from copycat_connect.data import UnreadableRecord
from copycat_plugins.connectors.log_source.family import LogFile, place_at_start
from copycat_plugins.connectors.log_source.place import LinePlace
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.plugins.log_files import Reader, append, compressed, copied, renamed


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "app.log"


def test_a_renamed_file_is_finished_at_its_byte_before_the_new_one_begins(log: Path) -> None:
    reader = Reader(log)
    append(log, "one é")
    assert reader.lines() == ["one é"]
    before = reader.offsets[str(log)]

    renamed(log)
    append(log.with_name("app.log.1"), "two")
    append(log, "three")

    assert reader.lines() == ["two", "three"]
    after = reader.offsets[str(log)]
    assert (before["position"], after["position"]) == (len("one é\n".encode()), len("three\n"))
    assert before["inode"] != after["inode"] == log.stat().st_ino


def test_a_writer_that_keeps_the_renamed_file_is_followed_until_the_new_one_has_text(log: Path) -> None:
    reader = Reader(log)
    append(log, "one")
    assert reader.lines() == ["one"]
    renamed(log)
    log.touch()
    append(log.with_name("app.log.1"), "late")
    assert reader.lines() == ["late"]
    append(log.with_name("app.log.1"), "later")
    append(log, "new")
    assert reader.lines() == ["later", "new"]


def test_what_was_written_to_a_renamed_file_within_the_wait_comes_before_the_new_file(log: Path) -> None:
    reader = Reader(log, rotated_wait_ms="3600000")
    append(log, "one")
    assert reader.lines() == ["one"]
    renamed(log)
    append(log, "new")
    assert reader.lines() == []
    append(log.with_name("app.log.1"), "late")
    assert reader.lines() == ["late"]
    os.utime(log.with_name("app.log.1"), (0, 0))
    assert reader.lines() == ["new"]


@pytest.mark.parametrize("ending", ["", ".gz", ".zst"])
def test_rotation_while_nothing_runs_loses_nothing(log: Path, ending: str) -> None:
    reader = Reader(log)
    append(log, "one", "two")
    assert reader.lines() == ["one", "two"]
    reader.stop()
    append(log, "three", "unended", end="\n")
    for line in ("four", "five"):
        renamed(log)
        append(log, line)
    if ending:
        compressed(log.with_name("app.log.2"), ending)
    assert reader.lines() == ["three", "unended", "four", "five"]


@pytest.mark.parametrize("asleep", [False, True])
def test_a_copy_that_takes_the_text_away_is_read_on_where_the_log_was(log: Path, asleep: bool) -> None:
    reader = Reader(log)
    append(log, "one")
    assert reader.lines() == ["one"]
    if asleep:
        reader.stop()
    append(log, "two")
    copied(log)
    append(log, "three")
    assert reader.lines() == ["two", "three"]
    append(log, "four")
    assert reader.lines() == ["four"]


def test_a_log_that_grew_past_its_old_end_after_the_copy_is_seen_through(log: Path) -> None:
    reader = Reader(log)
    append(log, "one")
    assert reader.lines() == ["one"]
    append(log, "two")
    copied(log)
    append(log, *(f"much more {number}" for number in range(100)))
    assert reader.lines() == ["two", *(f"much more {number}" for number in range(100))]


def test_a_truncated_log_without_a_copy_begins_anew_and_says_so(
    log: Path, caplog: pytest.LogCaptureFixture
) -> None:
    reader = Reader(log)
    append(log, "one", "two")
    assert reader.lines() == ["one", "two"]
    os.truncate(log, 0)
    append(log, "new")
    assert reader.lines() == ["new"]
    assert [record.levelno for record in caplog.records if "is no more" in record.message] == [
        logging.WARNING
    ]


def test_a_deleted_log_is_read_to_its_end_and_a_new_one_from_its_start(log: Path) -> None:
    reader = Reader(log)
    append(log, "one")
    assert reader.lines() == ["one"]
    append(log, "two", "unended"[:2], end="\n")
    log.unlink()
    assert reader.lines() == ["two", "un"]
    append(log, "new")
    assert reader.lines() == ["new"]


def test_of_a_log_whose_file_is_gone_all_newer_files_are_read(log: Path) -> None:
    reader = Reader(log)
    append(log, "one")
    assert reader.lines() == ["one"]
    reader.stop()
    for line in ("two", "three"):
        renamed(log)
        append(log, line)
    log.with_name("app.log.2").unlink()
    assert reader.lines() == ["two", "three"]


def test_an_unended_last_line_waits_and_counts_when_its_file_is_finished(log: Path) -> None:
    reader = Reader(log)
    append(log, "one", "tw", end="\n")
    with log.open("ab") as file:
        file.truncate(file.tell() - 1)
    assert reader.lines() == ["one"]
    with log.open("ab") as file:
        file.write(b"o")
    assert reader.lines() == []
    renamed(log)
    append(log, "three")
    assert reader.lines() == ["two", "three"]


def test_archives_are_read_once_the_oldest_first_whatever_becomes_of_them(log: Path) -> None:
    reader = Reader(f"{log}*")
    for line in ("one", "two", "three", "four"):
        renamed(log)
        append(log, line, f"{line} é")
    compressed(log.with_name("app.log.3"))
    compressed(log.with_name("app.log.2"), ".zst")
    expected = [text for line in ("one", "two", "three", "four") for text in (line, f"{line} é")]
    assert reader.lines() == expected
    compressed(log.with_name("app.log.1"))
    renamed(log)
    append(log, "five")
    assert reader.lines() == ["five"]
    reader.stop()
    compressed(log.with_name("app.log.1"))
    assert reader.lines() == []
    assert list(reader.offsets) == [str(log)]


def test_archives_without_their_log_are_read_without_it(log: Path) -> None:
    reader = Reader(f"{log}*.gz")
    append(log, "old")
    renamed(log)
    compressed(log.with_name("app.log.1"))
    append(log, "new")
    assert reader.lines() == ["old"]
    renamed(log)
    compressed(log.with_name("app.log.1"))
    assert reader.lines() == ["new"]


def test_an_archive_beside_its_own_text_is_not_read(log: Path) -> None:
    append(log, "one")
    renamed(log)
    text = log.with_name("app.log.1").read_bytes()
    compressed(log.with_name("app.log.1"))
    log.with_name("app.log.1").write_bytes(text)
    assert Reader(f"{log}*").lines() == ["one"]


def test_an_archive_is_gone_on_with_in_the_midst(log: Path) -> None:
    lines = [f"line {number}" for number in range(1000)]
    append(log, *lines)
    renamed(log)
    compressed(log.with_name("app.log.1"))
    reader = Reader(f"{log}*", batch_max_bytes="64", record_max_bytes="64")
    found = [record.value for record in reader.poll()]
    reader.stop()
    assert 0 < len(found) < 20
    assert found + reader.lines() == lines


def test_a_damaged_archive_is_reported_and_the_next_file_begins(log: Path) -> None:
    append(log, *(f"line {number}" for number in range(10000)))
    renamed(log)
    compressed(log.with_name("app.log.1"))
    archive = log.with_name("app.log.1.gz")
    archive.write_bytes(archive.read_bytes()[:-100])
    os.utime(archive, (0, 0))
    append(log, "new")
    records = Reader(f"{log}*").rest()
    (bad,) = [record for record in records if isinstance(record, UnreadableRecord)]
    assert "app.log.1.gz is damaged" in str(bad.error)
    assert records[-1].value == "new"


def test_other_names_of_rotated_files_are_recognised_by_an_expression(tmp_path: Path) -> None:
    log = tmp_path / "app.log"
    reader = Reader(tmp_path / "*.log", rotated_names_regex=r"(.+)-\d{4}-\d\d-\d\d(\.log)")
    append(log, "one")
    assert reader.lines() == ["one"]
    log.rename(tmp_path / "app-2026-11-23.log")
    append(log, "two")
    assert reader.lines() == ["two"]
    reader.stop()
    assert reader.lines() == []


def test_a_link_to_a_log_is_followed_to_where_it_is_rotated(tmp_path: Path) -> None:
    (tmp_path / "pods").mkdir()
    log, link = tmp_path / "pods" / "0.log", tmp_path / "web.log"
    link.symlink_to(log)
    reader = Reader(tmp_path / "*.log")
    append(log, "one")
    assert reader.lines() == ["one"]
    reader.stop()
    append(log, "two")
    log.rename(log.with_name("0.log.20261123-101112"))
    append(log, "three")
    assert reader.lines() == ["two", "three"]
    assert list(reader.offsets) == [str(link)]


STEPS = st.lists(
    st.sampled_from(["write", "write", "write", "poll", "poll", "rename", "copy", "compress", "restart"]),
    max_size=40,
)


class Writer:
    """Writes numbered lines to a log, and rotates it as steps say."""

    def __init__(self, log: Path) -> None:
        self.log = log
        self.written = 0
        self.write()

    def write(self) -> None:
        """Append the next line; the log is a second younger than before, whatever the clock says."""
        append(self.log, f"line {self.written} é")
        self.written += 1
        os.utime(self.log, (10**9 + self.written, 10**9 + self.written))

    def rename(self) -> None:
        """Rotate by renaming."""
        renamed(self.log)
        self.write()

    def copy(self) -> None:
        """Rotate by copying and truncating."""
        copied(self.log)
        self.write()

    def compress(self) -> None:
        """Compress the older of the files, where there is one."""
        if (old := self.log.with_name("app.log.2")).exists():
            compressed(old)


@given(STEPS)
def test_every_line_comes_once_and_in_order_whatever_happens(steps: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        writer = Writer(Path(folder) / "app.log")
        reader = Reader(writer.log, batch_max_bytes="100", record_max_bytes="64")
        found = reader.lines()
        for step in steps:
            match step:
                case "poll":
                    found += [record.value for record in reader.poll()]
                case "restart":
                    reader.stop()
                case _:
                    getattr(writer, step)()
        found += reader.lines()
        assert found == [f"line {number} é" for number in range(writer.written)]


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

    def struck(file: LogFile) -> LinePlace:
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
