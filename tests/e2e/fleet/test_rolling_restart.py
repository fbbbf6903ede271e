"""Every instance of a service is replaced in turn while people use it and lines flow."""

from __future__ import annotations

import pytest
from copycat_testkit.cluster import ROLES

from tools.containers.asking import Asking
from tools.containers.fleet import Fleet
from tools.containers.flow import Flow
from tools.containers.strike import Outcomes, measure

pytestmark = pytest.mark.timeout(1800, func_only=True)


@pytest.mark.parametrize("role", ROLES)
def test_a_service_whose_instances_are_restarted_in_turn_fails_no_request(
    fleet: Fleet, flow: Flow, outcomes: Outcomes, role: str
) -> None:
    def restart_in_turn() -> None:
        for box in fleet.members[role]:
            assert box.stop() == 0, f"{box.name} ended badly:\n{box.said()[-3000:]}"
            box.start_again()
            fleet.wait_serving(role, box)

    with Asking(fleet, flow.sources[0]) as asking:
        outcomes.add(measure(flow, f"rolling restart of {role}", restart_in_turn))

    assert asking.answered > 0
    assert not asking.failures
