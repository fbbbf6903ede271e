"""More executors; the last of these tests, for fewer come slowly."""

from __future__ import annotations

import pytest
from copycat_testkit.kafka import wait_until

from tests.helm.cluster.release import READY_SECONDS, Release, is_ready

pytestmark = pytest.mark.timeout(1800)


def test_the_autoscaler_adds_an_executor_when_its_bounds_say_so(flow: Release) -> None:
    flow.helm("upgrade", "executor.autoscaling.minReplicas=3")

    wait_until(
        lambda: len(list(filter(is_ready, flow.pods("executor")))) == 3, READY_SECONDS, "a third executor"
    )
    flow.wait_moving()
