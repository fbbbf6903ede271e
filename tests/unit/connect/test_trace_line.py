"""A trace in one line."""

from __future__ import annotations

import pytest
from copycat_connect.trace_line import trace_line

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
