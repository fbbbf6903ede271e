"""Whatever the moment, the next beat is one that others with the same clock wait for, too."""

from __future__ import annotations

import math

from copycat_connect.beats import until_beat
from hypothesis import given
from hypothesis import strategies as st

INTERVALS = st.sampled_from((0.25, 0.5, 1.0, 2.0))


@given(st.floats(min_value=0, max_value=1e7), INTERVALS)
def test_a_wait_is_never_longer_than_the_interval(now: float, interval: float) -> None:
    assert 0 < until_beat(now, interval) <= interval


@given(st.floats(min_value=0, max_value=1e6), st.floats(min_value=0, max_value=0.2), INTERVALS)
def test_who_begins_to_wait_later_wakes_at_a_beat_of_the_others(
    now: float, later: float, interval: float
) -> None:
    one, other = now + until_beat(now, interval), now + later + until_beat(now + later, interval)
    beats = (other - one) / interval
    assert math.isclose(beats, round(beats), abs_tol=1e-6)
