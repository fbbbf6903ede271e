"""Tables that the documentation keeps: what counts as lost, repeated or noticed, and how that is shown."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import pytest
from copycat_testkit.arrivals import FolderLines, Gap, NumberSequence, Pulse, Tally

from tools.crash_matrix.report import broken
from tools.crash_matrix.sinks import SinkFile
from tools.isolation_table.harms import HARMS
from tools.isolation_table.measure import PAGE, Outcome, kept_outcomes, markdown, save
from tools.recovery_table.measure import Outcome as RecoveryOutcome
from tools.recovery_table.measure import markdown as recovery_markdown
from tools.recovery_table.strikes import ROWS


def tally(*numbers: int) -> Tally:
    """Return what is wrong with numbers that arrived so."""
    sequence = NumberSequence()
    for number in numbers:
        sequence.take(number, created_ms=number)
    return sequence.tally


def test_nothing_is_wrong_with_all_numbers_in_order() -> None:
    assert tally(1, 2, 3) == Tally()


def test_numbers_that_never_came_are_lost_from_the_first_one_on() -> None:
    assert tally(3, 4, 6) == Tally(lost=3)


def test_a_number_that_came_before_is_repeated() -> None:
    assert tally(1, 2, 3, 2, 3, 3, 4) == Tally(repeated=3)


def test_a_number_that_comes_late_is_neither_lost_nor_repeated() -> None:
    assert tally(1, 3, 2) == Tally()
    assert tally(1, 3, 2, 2) == Tally(repeated=1)


def test_repetitions_are_arrivals_and_what_is_missing_is_none() -> None:
    sequence = NumberSequence()
    for number in (1, 2, 2, 5):
        sequence.take(number, created_ms=number)
    assert sequence.arrived == 4


def test_only_a_number_that_is_new_shows_that_records_flow() -> None:
    sequence = NumberSequence()
    sequence.take(1, created_ms=100)
    sequence.take(1, created_ms=200)
    assert sequence.created_ms == 100


@pytest.mark.parametrize(
    ("kind", "lost", "repeated"),
    [
        ("at_least_once", True, False),
        ("at_most_once", False, True),
        ("exactly_once", True, True),
        ("exactly_once_interval", True, True),
        ("file_sink", True, False),
        ("exactly_once_sink", True, True),
    ],
)
def test_each_guarantee_is_broken_by_what_it_excludes(kind: str, lost: bool, repeated: bool) -> None:
    assert broken(kind, Tally(lost=1)) is lost
    assert broken(kind, Tally(repeated=1)) is repeated
    assert not broken(kind, Tally())


def test_a_file_is_counted_as_it_is_now_and_a_piece_of_a_line_is_none(tmp_path: Path) -> None:
    file = SinkFile(tmp_path / "out", 2)
    assert file.tally() == Tally()
    file.path.write_text(
        "1 0 1764286900000\n1 1 1764286900000\n3 0 1764286900000\n2 1 17642\n1 1 1764286900000\n"
    )
    assert file.tally() == Tally(lost=1, repeated=1)
    file.path.write_text("1 0 1764286900000\n2 0 1764286900000\n3 0 1764286900000\n")
    assert file.tally() == Tally()


def test_lines_flow_where_each_partition_has_one_that_was_made_since(tmp_path: Path) -> None:
    file, now = SinkFile(tmp_path / "out", 2), time.time()
    file.path.write_text(f"1 0 {now + 1:.0f}000\n1 1 {now - 9:.0f}000\n")
    assert not file.flows_since(now)
    with file.path.open("a") as out:
        out.write(f"2 1 {now + 1:.0f}000\n")
    assert file.flows_since(now)


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


WELL = RecoveryOutcome(
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
DOCUMENT = Path(__file__).parents[2] / "services/launcher/RECOVERY.md"


def cells(outcome: RecoveryOutcome) -> list[str]:
    return [cell.strip() for cell in recovery_markdown([outcome]).splitlines()[-1].strip("| ").split("|")]


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
    lines = FolderLines(tmp_path, 2)
    (tmp_path / "first").write_text("0 1 ..\n1 1 ..\n0 2")
    lines.read_on()
    (tmp_path / "second").write_text("0 2 ..\n0 4 ..\n1 1 ..\n")
    lines.read_on()
    assert [each.highest for each in lines.sequences] == [4, 1]
    assert [each.tally for each in lines.sequences] == [Tally(lost=1), Tally(repeated=1)]


def test_a_line_is_read_once_it_is_whole(tmp_path: Path) -> None:
    lines, file = FolderLines(tmp_path, 1), tmp_path / "file"
    file.write_text("0 1 ..\n0 2")
    lines.read_on()
    file.write_text("0 1 ..\n0 23 ..\n")
    lines.read_on()
    assert lines.sequences[0].highest == 23
