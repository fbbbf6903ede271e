"""What the isolation table counts as noticed by neighbours, and how it shows that."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tools.crash_matrix.counts import Tally
from tools.isolation_table.harms import HARMS
from tools.isolation_table.measure import Harm, Outcome, markdown

HARM = Harm("A1", "a record of nonsense", lambda _: "skipped")
CONTAINED = Outcome(HARM, "skipped", True, 0.2, Tally(), 0.3, (), 12.0)


def test_what_nobody_notices_is_contained() -> None:
    assert CONTAINED.contained
    assert markdown([CONTAINED]).splitlines()[-1] == (
        "| A1 | a record of nonsense | skipped | 0.2 | 0 | 0.3 | 0 | 12 |"
    )


@pytest.mark.parametrize(
    ("noticed", "shown"),
    [
        (replace(CONTAINED, gap=1.4), "| 1.4 |"),
        (replace(CONTAINED, tally=Tally(lost=3)), "| 3 |"),
        (replace(CONTAINED, slowest=4.2), "| 4.2 |"),
        (replace(CONTAINED, problems=("GET /connectors: 503",)), "| 1 |"),
        (replace(CONTAINED, restart=None), "| **did not come up** |"),
        (replace(CONTAINED, good=False), "| **not as it should be**: skipped |"),
    ],
)
def test_whatever_a_neighbour_notices_is_not(noticed: Outcome, shown: str) -> None:
    assert not noticed.contained
    assert shown in markdown([noticed])


def test_every_row_can_be_chosen_by_its_name() -> None:
    names = [f"{each.point} {each.name}" for each in HARMS]
    assert len(set(names)) == len(names)
