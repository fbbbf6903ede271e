"""What plugins print becomes lines of the log, up to a rate; tools that print their product lose nothing."""

from __future__ import annotations

import io
import logging
import threading
from pathlib import Path

import pytest
from copycat_connect.config.secrets import Redactor
from copycat_plugins.connectors.file_stream_sink.line_file import LineFile
from copycat_plugins.connectors.system_tests import print_line
from copycat_telemetry.context import about
from copycat_telemetry.printing import (
    BURST,
    LINE_CHARACTERS,
    MAX_LINE_CHARACTERS,
    NOTE_INTERVAL_SECONDS,
    PAUSE_SECONDS,
    PER_SECOND,
    Allowances,
    OutputLines,
    PluginStream,
    PrintAllowance,
)
from hypothesis import given
from hypothesis import strategies as st

SECRET = "correct\nhorse battery"


class Bounded:
    """Lines of one writer, and what was said of those left out."""

    def __init__(self, *secrets: str) -> None:
        self.now = 100.0
        self.lines: list[str] = []
        self.left_out: list[int] = []
        self.allowance = PrintAllowance(self.left_out.append, lambda: self.now)
        redactor = Redactor(dict.fromkeys(secrets, "*"))
        self.written = OutputLines(self.lines.append, lambda: self.allowance, redactor)


def test_what_exceeds_the_allowance_is_left_out_and_told_of_until_time_has_passed() -> None:
    it = Bounded()
    fits = BURST // (800 + LINE_CHARACTERS)
    for _ in range(fits):
        it.written.feed("a" * 800 + "\n")
    assert len(it.lines) == fits
    it.written.feed("too much\n")
    for _ in range(1000):
        it.written.feed("more\n")
    assert len(it.lines) == fits
    it.now += PAUSE_SECONDS
    last = "b" * (PER_SECOND - LINE_CHARACTERS)
    it.written.feed(f"{last}\n")
    assert it.lines[-1] == last
    it.now += NOTE_INTERVAL_SECONDS
    it.written.feed("c\n")
    assert it.lines[-1] == "c"
    assert sum(it.left_out) == len("too much") + LINE_CHARACTERS + 1000 * len("more\n")
    assert len(it.left_out) == 2


def test_after_a_pause_it_goes_on_with_a_whole_line() -> None:
    it = Bounded()
    it.written.feed(("x" * 999 + "\n") * (BURST // 1000 + 1))
    it.written.feed("the first half ")
    it.now += PAUSE_SECONDS
    it.written.feed("and the second\nwhole\n")
    assert it.lines[-1] == "whole"


def test_a_line_without_end_becomes_several() -> None:
    it = Bounded()
    it.written.feed("x" * MAX_LINE_CHARACTERS * 2)
    it.written.feed("y\n")
    assert [len(line) for line in it.lines] == [MAX_LINE_CHARACTERS, MAX_LINE_CHARACTERS, 1]


@given(
    before=st.integers(0, 40),
    pieces=st.lists(st.integers(1, 7), min_size=1, max_size=40),
    long=st.booleans(),
)
def test_no_piece_of_a_secret_is_shown_however_it_arrives(before: int, pieces: list[int], long: bool) -> None:
    it = Bounded(SECRET)
    text = "x" * (before + (MAX_LINE_CHARACTERS if long else 0)) + SECRET + " y\n"
    at = 0
    for size in [*pieces, len(text)]:
        it.written.feed(text[at : at + size])
        at += size
    it.written.end()
    shown = "".join(it.lines)
    assert shown.count("*") == 1
    assert not [word for word in ("correct", "horse", "battery") if word in shown]


def stream(out: io.StringIO, lines: list[tuple[str, str]]) -> PluginStream:
    return PluginStream("stdout", out, lambda name, line: lines.append((name, line)), Allowances())


def test_lines_of_threads_are_not_mixed_and_an_end_without_a_line_end_is_not_lost() -> None:
    lines: list[tuple[str, str]] = []
    printed = stream(io.StringIO(), lines)
    printed.write("mine ")

    def other() -> None:
        print("other", end="", file=printed)

    thread = threading.Thread(target=other)
    thread.start()
    thread.join()
    printed.write("too\n")

    assert lines == [("stdout", "other"), ("stdout", "mine too")]


def test_a_flood_of_one_connector_leaves_room_for_the_lines_of_others(
    caplog: pytest.LogCaptureFixture,
) -> None:
    lines: list[tuple[str, str]] = []
    printed = stream(io.StringIO(), lines)
    with about(connector="flood"), caplog.at_level(logging.WARNING):
        for _ in range(2 * BURST // 1000):
            printed.write("x" * 999 + "\n")
    with about(connector="orders"):
        printed.write("all is well\n")

    assert sum(len(line) for _, line in lines) < 1.1 * BURST
    assert lines[-1] == ("stdout", "all is well")
    assert "plugins print or log too much" in caplog.text


def test_a_tool_that_prints_a_line_for_each_record_loses_none(monkeypatch: pytest.MonkeyPatch) -> None:
    out = io.StringIO()
    limited = stream(out, [])
    limited.write("x" * 2 * BURST)
    monkeypatch.setattr("sys.stdout", limited)
    print_line("one", "two")
    assert out.getvalue() == "one\ntwo\n"


def test_a_sink_without_a_file_writes_to_what_was_the_standard_output(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with (tmp_path / "former").open("w") as former:
        monkeypatch.setattr("sys.stdout", PluginStream("stdout", former, lambda *_: None, Allowances()))
        LineFile(None).append(b"one\n")
    assert (tmp_path / "former").read_text() == "one\n"
