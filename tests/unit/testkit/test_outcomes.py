"""What is steady, and how rows are kept and shown."""

from __future__ import annotations

import json
from pathlib import Path

from copycat_testkit.outcomes import Steady, keep_rows, markdown_table


def test_a_break_lets_the_time_begin_anew() -> None:
    answers = iter((True, False, True, True))
    steady = Steady(lambda: next(answers), seconds=-1.0)
    assert steady()
    first = steady.since
    assert not steady()
    assert steady.since == 0.0
    assert steady()
    assert steady.since > first


def test_what_holds_for_too_short_a_time_is_not_steady() -> None:
    steady = Steady(lambda: True, seconds=3600.0)
    assert not steady()
    since = steady.since
    assert not steady()
    assert steady.since == since


def test_rows_replace_what_the_file_had(tmp_path: Path) -> None:
    file = tmp_path / "build" / "rows.json"
    keep_rows(file, [{"a": 1}])
    keep_rows(file, ({"a": number} for number in (1, 2)))
    assert file.read_text().endswith("]\n")
    assert json.loads(file.read_text()) == [{"a": 1}, {"a": 2}]


def test_a_table_has_a_line_under_its_head() -> None:
    assert markdown_table(("", "x"), [("a", "1")]) == "|  | x |\n| --- | --- |\n| a | 1 |"
