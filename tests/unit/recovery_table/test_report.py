"""The table that the documentation keeps.

When records arrived and when none did, and which of the lines of a sink count.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from copycat_testkit.arrivals import Gap, Lines, Pulse, Tally

from tools.recovery_table.measure import Outcome, markdown
from tools.recovery_table.strikes import ROWS

WELL = Outcome(
    row=ROWS["kill -9 of the scheduler"],
    status_true=None,
    flows=0.0,
    whole=2.04,
    beside_gap=0.1,
    tally=Tally(),
    hand=None,
    pauses=(),
    load=1.0,
)
DOCUMENT = Path(__file__).parents[3] / "services/launcher/RECOVERY.md"


def cells(outcome: Outcome) -> list[str]:
    return [cell.strip() for cell in markdown([outcome]).splitlines()[-1].strip("| ").split("|")]


def test_what_nobody_noticed_has_no_time() -> None:
    assert cells(WELL) == ["kill -9 of the scheduler", "-", "-", "2.0", "-", "0"]


def test_seconds_and_counts_are_shown() -> None:
    struck = replace(WELL, status_true=1.25, flows=2.06, whole=0.0, beside_gap=0.7, tally=Tally(1, 20))
    assert cells(struck)[1:] == ["1.2", "2.1", "-", "0.7", "20, **1 lost**"]
    assert not struck.healed


def test_what_took_a_hand_says_so() -> None:
    stuck = replace(WELL, flows=None, whole=None, beside_gap=None, hand=1.5)
    assert cells(stuck)[1:5] == ["not", "not by itself; 1.5 after a restart", "not", "none is unrelated"]
    assert not stuck.healed


def test_where_all_have_to_stand_the_gap_of_others_says_nothing() -> None:
    row = ROWS["broker killed, back after 30 s"]
    assert cells(replace(WELL, row=row, beside_gap=31.0))[4] == "all stand (31.0)"


@pytest.mark.parametrize("name", ROWS)
def test_the_documentation_has_every_row(name: str) -> None:
    assert f"| {name} |" in DOCUMENT.read_text()


def pulse(*looks: tuple[int, float]) -> Pulse:
    """Return what was seen in looks at how many records there were, from moment 0 on."""
    seen = Pulse(last=0.0)
    for arrived, moment in looks:
        seen.look(arrived, moment)
    return seen


def test_a_gap_lies_between_two_arrivals() -> None:
    assert pulse((1, 0.1), (1, 0.5), (1, 4.0), (2, 5.1), (3, 5.2)).gaps_since(0, 5.2)[0] == Gap(0.1, 5.1)


def test_a_gap_that_began_before_the_strike_counts_from_the_strike() -> None:
    assert pulse((1, 0.1), (2, 5.1)).gaps_since(3.0, 5.1)[0].seconds == 5.1 - 3.0


def test_a_gap_that_was_over_before_the_strike_does_not_count() -> None:
    assert pulse((1, 1.0), (2, 2.0), (3, 2.1)).gaps_since(2.05, 2.2) == [Gap(2.1, 2.2)]


def test_what_stands_still_now_is_a_gap_too() -> None:
    assert pulse((1, 1.0)).gaps_since(1.0, 9.0) == [Gap(1.0, 9.0)]


def test_numbers_are_read_from_every_file_and_torn_lines_are_not(tmp_path: Path) -> None:
    lines = Lines(tmp_path, 2)
    (tmp_path / "first").write_text("0 1 ..\n1 1 ..\n0 2")
    lines.read_on()
    (tmp_path / "second").write_text("0 2 ..\n0 4 ..\n1 1 ..\n")
    lines.read_on()
    assert [each.highest for each in lines.sequences] == [4, 1]
    assert [each.tally for each in lines.sequences] == [Tally(lost=1), Tally(repeated=1)]


def test_a_line_is_read_once_it_is_whole(tmp_path: Path) -> None:
    lines, file = Lines(tmp_path, 1), tmp_path / "file"
    file.write_text("0 1 ..\n0 2")
    lines.read_on()
    file.write_text("0 1 ..\n0 23 ..\n")
    lines.read_on()
    assert lines.sequences[0].highest == 23
