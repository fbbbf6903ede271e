"""Numbers that arrive are compared with numbers that were sent: what is missing, what came again."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from copycat_testkit.arrivals import NumberSequence, Tally

from tools.crash_matrix.report import broken
from tools.crash_matrix.sinks import SinkFile


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
