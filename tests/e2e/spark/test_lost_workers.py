"""Workers of the Spark cluster are lost while lines flow: their tasks start again on those that are left."""

from __future__ import annotations

import pytest
from copycat_testkit.kafka import wait_until

from tools.containers.fleet import Fleet
from tools.containers.flow import Flow
from tools.containers.spark_cluster import hosts_on
from tools.containers.strike import Outcomes, measure

pytestmark = pytest.mark.timeout(1800, func_only=True)
SECONDS = 180.0


def test_hosts_are_spread_over_the_workers(fleet: Fleet, flow: Flow) -> None:
    first, second = fleet.spark.workers

    wait_until(lambda: hosts_on(first) > 1 and hosts_on(second) > 1, SECONDS, "hosts run on both workers")

    assert hosts_on(fleet.members["executor"][0]) == 0


def test_a_worker_that_is_killed_has_its_work_done_by_the_other(
    fleet: Fleet, flow: Flow, outcomes: Outcomes
) -> None:
    killed, left = fleet.spark.workers

    outcomes.add(measure(flow, "Spark worker killed", killed.kill))

    assert hosts_on(left) > len(flow.sources) + len(flow.sinks)
    killed.start_again()
    fleet.spark.wait_whole()


def test_the_master_of_spark_is_not_missed_while_it_is_away(
    fleet: Fleet, flow: Flow, outcomes: Outcomes
) -> None:
    master = fleet.spark.master

    outcomes.add(measure(flow, "Spark master killed and started", master.kill, master.start_again))

    fleet.spark.wait_whole()
