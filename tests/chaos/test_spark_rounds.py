"""Two rounds of `make spark-rounds` for a sink and a source: those that their own tests leave out."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from copycat_testkit.arrivals import Tally

from tools.spark_rounds.rounds import end, run, running

pytestmark = [pytest.mark.timeout(900), pytest.mark.long]


@pytest.mark.parametrize("kind", ["spark_sink", "spark_state"])
def test_executors_that_are_killed_or_frozen_lose_and_repeat_nothing(kind: str, tmp_path: Path) -> None:
    with running(tmp_path, [kind]) as flows:
        for victim in ("kill executors", "freeze whole worker"):
            outcome = run(flows, victim, Random(victim))  # noqa: S311 - drawn faults are no secrets
            assert not outcome.stuck
            assert outcome.tallies == {kind: Tally()}
        assert end(flows) == {kind: Tally()}
