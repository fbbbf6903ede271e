"""The core: a file through three brokers and every service, while an executor and leaders are killed."""

from __future__ import annotations

import pytest
from copycat_testkit.cluster import OWNERS

from tools.containers.fleet import Fleet
from tools.containers.flow import Flow
from tools.containers.strike import Outcomes, measure

pytestmark = pytest.mark.timeout(1800, func_only=True)


def test_an_executor_that_is_killed_has_its_work_done_by_others(
    fleet: Fleet, flow: Flow, outcomes: Outcomes
) -> None:
    struck = fleet.executor(fleet.worker_of(flow.sources[0]))

    outcomes.add(measure(flow, "executor killed", struck.kill))

    assert fleet.worker_of(flow.sources[0]).partition(":")[0] != struck.name
    struck.start_again()
    fleet.wait_serving("executor", struck)


@pytest.mark.parametrize("role", OWNERS)
def test_the_leader_of_a_log_that_is_killed_is_replaced_by_the_other_instance(
    fleet: Fleet, flow: Flow, outcomes: Outcomes, role: str
) -> None:
    struck = fleet.leader(role)

    outcomes.add(measure(flow, f"leader of the {role} service killed", struck.kill))

    assert fleet.leader(role) is not struck
    struck.start_again()
    fleet.wait_serving(role, struck)
