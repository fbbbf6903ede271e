"""Log lines: without secrets, a few of those that repeat, and what plugins print."""

from __future__ import annotations

import io
import json
import logging
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from copycat_connect.config.secrets import Redactor, Secrets
from copycat_plugins.connectors.file_stream_sink.line_file import LineFile
from copycat_plugins.connectors.system_tests import print_line
from copycat_telemetry.changes import log_change
from copycat_telemetry.context import about, follow_threads
from copycat_telemetry.logs import JsonFormatter, LimitedHandler
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
from copycat_telemetry.repeats import MAX_LINES_PER_WINDOW, WINDOW_SECONDS, RepeatLimit
from hypothesis import given
from hypothesis import strategies as st


def line(message: str, error: Exception | None = None) -> dict[str, str]:
    info = None if error is None else (type(error), error, error.__traceback__)
    record = logging.LogRecord("l", logging.ERROR, __file__, 1, message, None, info)
    found: dict[str, str] = json.loads(JsonFormatter("host").format(record))
    return found


def in_a_thread(message: str, error: Exception | None = None) -> dict[str, str]:
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(line, message, error).result()


def test_secrets_are_kept_out_of_message_and_trace_whichever_thread_writes_them() -> None:
    Secrets.of({"hunter2-of-the-logs": "${env:PASSWORD}"}).hide()

    for written in (line("wrong: hunter2-of-the-logs"), in_a_thread("wrong: hunter2-of-the-logs")):
        assert written["message"] == "wrong: ${env:PASSWORD}"
    assert "hunter2" not in in_a_thread("", ValueError("not hunter2-of-the-logs"))["trace"]


def test_a_line_of_a_thread_is_about_what_its_starter_was_about(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threading.Thread, "start", threading.Thread.start)  # put back afterwards
    follow_threads()
    with about(connector="orders", task="0"):
        written = in_a_thread("hello")

    assert (written["connector"], written["task"]) == ("orders", "0")
    assert "connector" not in in_a_thread("hello")


class Log:
    """A logger whose written lines are kept."""

    def __init__(self) -> None:
        self.now = 100.0
        self._stream = io.StringIO()
        self.handler = LimitedHandler(self._stream)
        self.handler.setFormatter(JsonFormatter("host"))
        self.limit = RepeatLimit(self.handler._limit._write, clock=lambda: self.now)
        self.handler._limit = self.limit
        self.logger = logging.Logger("some.client", 1)
        self.logger.addHandler(self.handler)

    @property
    def lines(self) -> list[dict[str, str]]:
        return [json.loads(line) for line in self._stream.getvalue().splitlines()]

    @property
    def messages(self) -> list[str]:
        return [line["message"] for line in self.lines]


@pytest.fixture
def log() -> Iterator[Log]:
    made = Log()
    yield made
    made.handler.close()


def refused(log: Log, port: int, connector: str = "orders") -> None:
    """Log as confluent-kafka does for librdkafka, whose numbers differ from line to line."""
    text = f"[thrd:127.0.0.1:{port}/1]: Connect failed: Connection refused (after {port}ms in state CONNECT)"
    with about(connector=connector):
        log.logger.error("%s [%s] %s", "FAIL", f"connector-consumer-{connector}-0#consumer-{port}", text)


def test_of_an_error_a_hundred_times_over_some_are_written_and_the_rest_is_counted(log: Log) -> None:
    for port in range(100):
        refused(log, port)
    assert len(log.lines) == MAX_LINES_PER_WINDOW

    log.now += WINDOW_SECONDS
    refused(log, 100)

    assert len(log.lines) == MAX_LINES_PER_WINDOW + 2
    summary = log.lines[-2]
    assert summary["message"].startswith(
        f"{100 - MAX_LINES_PER_WINDOW} more like this in the last 30 s: FAIL ["
    )
    assert (summary["level"], summary["connector"], summary["logger"]) == ("ERROR", "orders", "some.client")


def test_the_count_is_written_though_no_such_line_comes_any_more(log: Log) -> None:
    for port in range(20):
        refused(log, port)
    log.limit.flush()

    assert log.messages[-1].startswith(f"{20 - MAX_LINES_PER_WINDOW} more like this")
    log.limit.flush()
    assert len(log.lines) == MAX_LINES_PER_WINDOW + 1


def test_connectors_do_not_hide_each_other(log: Log) -> None:
    for connector in ("orders", "bills"):
        for port in range(100):
            refused(log, port, connector)

    assert [line["connector"] for line in log.lines] == ["orders"] * 5 + ["bills"] * 5


def test_a_warning_is_of_one_kind_whatever_its_values_are(log: Log) -> None:
    for reason in map(chr, range(97, 123)):
        log.logger.warning("offsets were not committed: %s", reason)

    assert len(log.lines) == MAX_LINES_PER_WINDOW


def test_information_is_never_left_out(log: Log) -> None:
    for _ in range(50):
        log_change(log.logger, "task assigned", connector="orders", task=0)

    assert len(log.lines) == 50


def test_errors_that_a_user_wants_one_by_one_are_all_written(log: Log) -> None:
    for _ in range(50):
        log.logger.error("Error encountered in task %s.", "orders-0", extra={"unlimited": True})

    assert len(log.lines) == 50


def test_the_count_keeps_secrets_out_whoever_writes_it(log: Log) -> None:
    Secrets.of({"hunter2-of-the-count": "${env:PASSWORD}"}).hide()

    for _ in range(10):
        log.logger.error("refused: %s", "hunter2-of-the-count")
    log.limit.flush()  # as the timer does

    assert log.messages[-1].endswith("refused: ${env:PASSWORD}")


def test_the_traces_of_py4j_for_a_jvm_that_is_gone_are_left_out(log: Log) -> None:
    place = "/site-packages/py4j/java_gateway.py"
    record = logging.LogRecord("root", logging.INFO, place, 1, "Exception while sending command.", None, None)
    log.handler.handle(record)

    assert log.lines == []


def test_a_change_has_its_keys_as_fields_of_their_own(log: Log) -> None:
    log_change(log.logger, "connector deleted", connector="orders", task=None, by="ann")

    (line,) = log.lines
    assert (line["message"], line["level"]) == ("connector deleted", "INFO")
    assert (line["connector"], line["by"]) == ("orders", "ann")
    assert "task" not in line


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
