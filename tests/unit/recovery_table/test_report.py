"""The table that the documentation keeps."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tools.crash_matrix.counts import Tally
from tools.recovery_table.measure import Outcome
from tools.recovery_table.report import markdown
from tools.recovery_table.rows import ROWS

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


def test_what_nobody_noticed_is_said_in_words() -> None:
    assert cells(WELL) == [
        "kill -9 of the scheduler",
        "stayed true",
        "never stopped",
        "2.0",
        "below 0.3",
        "0",
        "0",
    ]


def test_seconds_and_counts_are_shown() -> None:
    struck = replace(WELL, status_true=1.25, flows=2.06, whole=0.0, beside_gap=0.7, tally=Tally(1, 20))
    assert cells(struck)[1:] == ["1.2", "2.1", "were not away", "0.7", "1", "20"]
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
