"""Each instance of the last release is replaced by one of this tree, in turn; then the way back."""

from __future__ import annotations

import pytest
from copycat_testkit.cluster import ROLES

from tools.containers.asking import Asking
from tools.containers.fleet import Fleet
from tools.containers.flow import Flow
from tools.containers.strike import Outcome, Outcomes, measure

pytestmark = pytest.mark.timeout(1800, func_only=True)


def replaced(fleet: Fleet, flow: Flow, role: str, version: str) -> tuple[Outcome, list[str]]:
    """Replace the instances of a role one after the other; returns what it cost and which requests failed."""

    def replace_in_turn() -> None:
        for box in list(fleet.members[role]):
            fleet.replace(role, box, version)

    way = "downgrade" if version else "upgrade"
    with Asking(fleet, flow.sources[0]) as asking:
        outcome = measure(flow, f"{way} of {role}", replace_in_turn)
    assert asking.answered > 0
    return outcome, asking.failures


@pytest.mark.parametrize("role", ROLES)
def test_an_upgrade_fails_no_request(fleet: Fleet, flow: Flow, outcomes: Outcomes, role: str) -> None:
    outcome, failures = replaced(fleet, flow, role, "")

    outcomes.add(outcome)
    assert failures == []


@pytest.mark.parametrize("role", ROLES[::-1])
def test_the_way_back_fails_no_request(
    fleet: Fleet, flow: Flow, outcomes: Outcomes, role: str, version: str
) -> None:
    outcome, failures = replaced(fleet, flow, role, version)

    outcomes.add(outcome)
    assert failures == []
