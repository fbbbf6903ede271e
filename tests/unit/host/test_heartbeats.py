"""When a host beats: often enough for its lease, and at moments that hosts share."""

from __future__ import annotations

from math import inf

import pytest
from copycat_executor.taskhost.stream import until_heartbeat


@pytest.mark.parametrize(
    ("now", "left", "expected"),
    [
        (100.0, inf, 0.125),
        (100.0, 6.5, 2.0),
        (101.5, 6.5, 0.5),
        (100.0, 5.9, 0.5),
        (100.3, 5.9, 0.2),
    ],
    ids=[
        "no lease yet",
        "a lease of ten seconds that was not renewed for two",
        "the same moments for all hosts",
        "a lease of five seconds, or one that an answer was missed of",
        "moments of the short interval",
    ],
)
def test_beats_are_rare_while_three_fit_into_the_lease(now: float, left: float, expected: float) -> None:
    assert until_heartbeat(now, left) == pytest.approx(expected)


def test_a_lease_that_ends_before_the_next_beat_is_looked_at_when_it_ends() -> None:
    assert 0.3 < until_heartbeat(100.0, 0.3) < 0.32
    assert until_heartbeat(100.2, -1.0) == pytest.approx(0.3)
