"""What plugins print is passed on up to a rate; tools whose product is their output lose nothing."""

from __future__ import annotations

import io
import logging

import pytest
from copycat_plugins.connectors.printed import print_line
from copycat_telemetry.printing import BURST, PER_SECOND, LimitedStream, PrintAllowance


def test_what_exceeds_the_allowance_is_left_out_and_told_of_until_time_has_passed(
    caplog: pytest.LogCaptureFixture,
) -> None:
    now = 100.0
    out = io.StringIO()
    limited = LimitedStream(out, PrintAllowance(lambda: now))
    with caplog.at_level(logging.WARNING):
        limited.write("a" * BURST)
        limited.write("b" * 10)
        assert out.getvalue() == "a" * BURST
        now += 1.0
        limited.write("c" * PER_SECOND)
        limited.write("d")
    assert out.getvalue() == "a" * BURST + "c" * PER_SECOND
    assert [record.getMessage().split(",")[0] for record in caplog.records] == [
        "plugins of this process print or log too much: 10 characters left out"
    ]


def test_a_tool_that_prints_a_line_for_each_record_loses_none(monkeypatch: pytest.MonkeyPatch) -> None:
    out = io.StringIO()
    limited = LimitedStream(out, PrintAllowance(lambda: 0.0))
    limited.write("x" * BURST)
    monkeypatch.setattr("sys.stdout", limited)
    print_line("one", "two")
    assert out.getvalue()[BURST:] == "one\ntwo\n"
