"""What logs show: the names of levels, the words of errors whatever is in them, a trace in one line."""

from __future__ import annotations

import asyncio
import logging
import os

import pytest
from copycat_connect.config import ConfigDef
from copycat_connect.config.worker_keys import LOG_LEVEL
from copycat_connect.error_text import bounded, said_by, text_of, trace_line, writable
from copycat_connect.errors import ConfigError
from copycat_connect.log_levels import LEVELS, level_name, level_named
from hypothesis import given
from hypothesis import strategies as st


def test_levels_are_ordered_and_off_is_above_all_that_is_logged() -> None:
    assert list(LEVELS) == ["OFF", "FATAL", "ERROR", "WARN", "INFO", "DEBUG", "TRACE", "ALL"]
    assert sorted(LEVELS.values(), reverse=True) == list(LEVELS.values())
    assert LEVELS["OFF"] > logging.CRITICAL


@pytest.mark.parametrize("name", LEVELS)
def test_a_level_is_found_by_name_in_any_case_and_named_by_its_threshold(name: str) -> None:
    assert level_named(name.lower()) == name
    assert level_name(LEVELS[name]) == name


def test_a_threshold_between_two_levels_has_the_name_of_the_lower() -> None:
    assert (level_name(35), level_name(0)) == ("WARN", "ALL")


@pytest.mark.parametrize("value", ["trace", "OFF", "Warn", "WARNING", "critical"])
def test_log_level_takes_the_names_of_log4j_and_of_python(value: str) -> None:
    assert ConfigDef(LOG_LEVEL).parse({"log.level": value})["log.level"] == value


def test_an_unknown_log_level_is_refused_with_those_there_are() -> None:
    with pytest.raises(ConfigError, match=r"loud for configuration log\.level: .*OFF, FATAL, ERROR, WARN"):
        ConfigDef(LOG_LEVEL).parse({"log.level": "loud"})


#: Surrogates and NUL are among them.
ANY_TEXT = st.text(st.characters())


class Unreadable(Exception):
    """Has no text."""

    def __init__(self, raised: BaseException) -> None:
        super().__init__()
        self.raised = raised

    def __str__(self) -> str:
        raise self.raised


@given(ANY_TEXT)
def test_whatever_a_text_holds_it_can_be_encoded_afterwards(text: str) -> None:
    assert "\0" not in writable(text).encode().decode()
    assert text_of(ValueError(text)) == writable(text)


@given(st.text(st.characters(codec="utf-8", exclude_characters="\0")))
def test_a_text_that_can_be_encoded_stays_as_it_is(text: str) -> None:
    assert writable(text) == text


def test_bytes_of_a_files_name_are_shown_as_python_writes_them() -> None:
    assert text_of(OSError(os.fsdecode(b"na\xff"))) == "na\\udcff"


@pytest.mark.parametrize("raised", [ValueError("x"), SystemExit(3), KeyboardInterrupt(), GeneratorExit()])
def test_an_error_that_cannot_say_its_text_says_that(raised: BaseException) -> None:
    assert text_of(Unreadable(raised)) == f"(its text cannot be read: {type(raised).__name__})"


def test_what_is_no_exception_says_its_class_too() -> None:
    assert said_by(SystemExit(3)) == "Code of a plugin raised SystemExit: 3"
    assert said_by(asyncio.CancelledError()) == "Code of a plugin raised CancelledError"
    assert said_by(ValueError("no")) == "no"


@given(ANY_TEXT, st.integers(min_value=0, max_value=300))
def test_a_text_is_never_longer_than_it_may_be_unless_that_is_less_than_its_note(
    text: str, limit: int
) -> None:
    assert bounded(text, limit) == text or len(bounded(text, limit)) <= max(limit, 80)


def test_a_long_text_keeps_its_beginning_and_its_end() -> None:
    text = "begin" + "x" * 100_000_000 + "end"
    kept = bounded(text, 1000)
    assert (len(kept), kept[:6], kept[-4:]) == (1000, "beginx", "xend")
    assert "100000008 characters in all" in kept


PYTHON = "Traceback (most recent call last):\n  File 'x.py', line 1\nValueError: no"


@pytest.mark.parametrize(
    ("trace", "line"),
    [
        ("", ""),
        (PYTHON, "ValueError: no"),
        ("org.apache.kafka.connect.errors.ConnectException: no\n\tat copycat", "ConnectException: no"),
        (
            "ConnectException: no\n\tat x\nCaused by: a.B: so\nCaused by: b.C: that",
            "ConnectException: no; caused by C: that",
        ),
        ("a.RetriableException: no\n\tat x\nCaused by: a.RetriableException: no", "RetriableException: no"),
    ],
)
def test_it_has_the_error_and_the_last_cause_once(trace: str, line: str) -> None:
    assert trace_line(trace) == line


ROW = "org.apache.kafka.connect.errors.DataException: Row 3 has no number in the field amount"
FILE = f"org.apache.kafka.connect.errors.DataException: Cannot read a.csv: {ROW.partition(': ')[2]}."
WRAPPED = "a.ToleranceExceededError: Tolerance exceeded\n\tat x\nCaused by: "
IN_SHORT = "ToleranceExceededError: Tolerance exceeded; caused by "


@pytest.mark.parametrize(
    ("causes", "line"),
    [
        ([FILE, ROW, "ValueError: x"], f"{FILE}; caused by ValueError: x"),
        ([FILE, ROW], FILE),
        ([FILE, ROW, "a.B: so", "ValueError: x"], f"{FILE}; caused by ValueError: x"),
        ([ROW, "a.B: so", "a.DataError: no x", "C"], f"{ROW}; caused by DataError: no x; caused by C"),
        (["a.B: so", "DataException"], "DataException"),
    ],
)
def test_it_has_what_is_said_of_a_record_once_which_names_file_and_field(
    causes: list[str], line: str
) -> None:
    trace = WRAPPED + "\n\tat y\nCaused by: ".join(causes)
    assert trace_line(trace) == IN_SHORT + line.replace("org.apache.kafka.connect.errors.", "")
