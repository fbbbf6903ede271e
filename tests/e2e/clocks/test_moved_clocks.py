"""A clock that jumps moves nothing else: leases, timeouts and orders go by what does not jump."""

from __future__ import annotations

import pytest
from copycat_testkit.cluster import OWNERS

from tools.containers.fleet import Fleet
from tools.containers.flow import Flow
from tools.containers.strike import Outcomes, measure

pytestmark = pytest.mark.timeout(1800, func_only=True)
HOUR_SECONDS = 3600
#: How long a clock is wrong: longer than every lease.
WRONG_SECONDS = 15.0
DIRECTIONS = pytest.mark.parametrize("seconds", [HOUR_SECONDS, -HOUR_SECONDS], ids=["ahead", "behind"])


def strike(fleet: Fleet, flow: Flow, outcomes: Outcomes, role: str, seconds: int) -> None:
    struck, clocks, where = fleet.leader(role), fleet.clocks, "ahead" if seconds > 0 else "behind"
    assert clocks is not None
    right = float(struck.run("python", "-c", "import time; print(time.time())"))

    def jump() -> None:
        clocks.move(struck.name, seconds)

    def jump_back() -> None:
        wrong = float(struck.run("python", "-c", "import time; print(time.time())"))
        assert abs(wrong - right - seconds) < HOUR_SECONDS / 2, "the clock was not moved"
        clocks.move(struck.name, 0)

    text = f"clock of {role} an hour {where} for {WRONG_SECONDS:.0f} s"
    outcomes.add(measure(flow, text, jump, jump_back, away=WRONG_SECONDS))

    fleet.wait_serving(role, struck)


@DIRECTIONS
@pytest.mark.parametrize("role", OWNERS)
def test_a_clock_that_jumps_and_jumps_back_costs_no_record(
    fleet: Fleet, flow: Flow, outcomes: Outcomes, role: str, seconds: int
) -> None:
    strike(fleet, flow, outcomes, role, seconds)
