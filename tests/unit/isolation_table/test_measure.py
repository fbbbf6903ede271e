"""What the isolation table counts as noticed by neighbours, and how it shows that."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from copycat_testkit.arrivals import Tally

from tools.isolation_table.harms import HARMS
from tools.isolation_table.measure import PAGE, Outcome, kept_outcomes, markdown, save

CONTAINED = Outcome("A1", "a record of nonsense", "skipped", True, 0.2, Tally(), 0.3, (), 12.0)


def test_what_nobody_notices_is_contained() -> None:
    assert CONTAINED.contained
    shown = "| A1 a record of nonsense | skipped | 0.2 | 0.3 | 0 | 12 |"
    assert markdown([CONTAINED]).splitlines()[-1] == shown


@pytest.mark.parametrize(
    ("became", "shown"),
    [
        ("FAILED: topics.regex does not come to an end", "FAILED"),
        ("skipped; a connector that is created afterwards runs; /health: Records ...", "skipped"),
        ("RUNNING: {'state': 'degraded', 'reason': 'waits for 0 s: No server'}", "RUNNING, degraded"),
        ("deleted, and one of its name runs", "deleted, and one of its name runs"),
    ],
)
def test_the_page_says_what_became_of_a_harm_without_details(became: str, shown: str) -> None:
    assert f"| A1 a record of nonsense | {shown} |" in markdown([replace(CONTAINED, becomes=became)])


@pytest.mark.parametrize(
    ("noticed", "shown"),
    [
        (replace(CONTAINED, gap=1.4), "| **late**: skipped | 1.4 |"),
        (replace(CONTAINED, tally=Tally(lost=3)), "| **3 lost**: skipped |"),
        (replace(CONTAINED, slowest=4.2), "| **late**: skipped | 0.2 | 4.2 |"),
        (replace(CONTAINED, problems=("GET /connectors: 503",)), "| **1 refused**: skipped |"),
        (replace(CONTAINED, restart=None), "| **did not come up**: skipped | 0.2 | 0.3 | 0 | never |"),
        (replace(CONTAINED, good=False), "| **not as it should be**: skipped |"),
    ],
)
def test_whatever_a_neighbour_notices_is_not(noticed: Outcome, shown: str) -> None:
    assert not noticed.contained
    assert shown in markdown([noticed])


def test_where_everybody_has_to_stand_only_what_is_lost_or_stays_down_counts() -> None:
    stood = replace(CONTAINED, all_notice=True, gap=40.0, slowest=9.0, problems=("503",))
    assert stood.contained
    assert "| 40.0 (all stand) |" in markdown([stood])
    assert not replace(stood, tally=Tally(lost=1)).contained


def test_what_was_measured_can_be_continued(tmp_path: Path) -> None:
    file = tmp_path / "kept.json"
    assert kept_outcomes(file) == {}
    bad = replace(CONTAINED, name="another", problems=["503"], restart=None, tally=Tally(1, 2))
    outcomes = {each.title: each for each in (replace(CONTAINED, problems=[]), bad)}
    save(outcomes, file)
    assert kept_outcomes(file) == outcomes


def test_what_an_older_version_kept_is_measured_again(tmp_path: Path) -> None:
    file = tmp_path / "kept.json"
    file.write_text('[{"point": "A1", "harm": "a record of nonsense", "verdict": "skipped"}]')
    assert kept_outcomes(file) == {}


def test_every_row_can_be_chosen_by_its_name() -> None:
    names = [each.title for each in HARMS]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("point", [f"{'A' * (n < 6) or 'B' * (n < 9) or 'C'}{n}" for n in range(1, 12)])
def test_every_kind_of_harm_has_rows(point: str) -> None:
    assert any(each.point == point for each in HARMS)


def test_the_page_has_a_place_for_the_table() -> None:
    assert "<!-- table -->\n" in PAGE.read_text()
