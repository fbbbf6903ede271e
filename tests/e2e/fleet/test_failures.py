"""Every other failure: brokers, instances, processes that stand still, cables and disks; nothing is lost."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from copycat_testkit.cluster import OWNERS
from copycat_testkit.kafka import produce, unique, wait_until

from tools.containers.fleet import SMALL, Fleet
from tools.containers.flow import Flow
from tools.containers.strike import Outcome, Outcomes, measure

pytestmark = pytest.mark.timeout(1800, func_only=True)
#: How long something is away that does not come back by itself.
AWAY_SECONDS = 20.0
SECONDS = 180.0


def away(flow: Flow, failure: str, strike: Callable[[], None], undo: Callable[[], None]) -> Outcome:
    """Measure a failure that lasts; its name ends with how long."""
    return measure(flow, f"{failure} {AWAY_SECONDS:.0f} s", strike, undo, away=AWAY_SECONDS)


def test_a_broker_that_is_killed_is_done_without(fleet: Fleet, flow: Flow, outcomes: Outcomes) -> None:
    broker = fleet.brokers.boxes[0]

    outcomes.add(away(flow, "broker killed, back after", broker.kill, broker.start_again))

    fleet.brokers.wait_whole()


def test_a_broker_that_stands_still_is_done_without(fleet: Fleet, flow: Flow, outcomes: Outcomes) -> None:
    broker = fleet.brokers.boxes[1]

    outcomes.add(away(flow, "broker paused for", broker.pause, broker.unpause))

    fleet.brokers.wait_whole()


@pytest.mark.parametrize("role", [*OWNERS, "gateway"])
def test_an_instance_that_is_killed_and_started_again_is_not_missed(
    fleet: Fleet, flow: Flow, outcomes: Outcomes, role: str
) -> None:
    struck = fleet.members[role][0]

    outcomes.add(
        measure(flow, f"first instance of {role} killed and started", struck.kill, struck.start_again)
    )

    fleet.wait_serving(role, struck)


@pytest.mark.parametrize("role", OWNERS)
def test_a_leader_that_stands_still_is_replaced(
    fleet: Fleet, flow: Flow, outcomes: Outcomes, role: str
) -> None:
    struck = fleet.leader(role)

    outcomes.add(away(flow, f"leader of {role} paused for", struck.pause, struck.unpause))

    fleet.wait_serving(role, struck)


def test_an_executor_that_stands_still_has_its_work_done_by_others(
    fleet: Fleet, flow: Flow, outcomes: Outcomes
) -> None:
    struck = fleet.executor(fleet.worker_of(flow.sources[0]))

    outcomes.add(away(flow, "executor paused for", struck.pause, struck.unpause))

    fleet.wait_serving("executor", struck)


def test_an_executor_without_a_network_has_its_work_done_by_others(
    fleet: Fleet, flow: Flow, outcomes: Outcomes
) -> None:
    struck = fleet.executor(fleet.worker_of(flow.sources[0]))

    outcomes.add(away(flow, "executor cut off for", struck.cut, struck.mend))

    fleet.wait_serving("executor", struck)


@pytest.mark.parametrize("role", OWNERS)
def test_a_leader_without_a_network_is_replaced(
    fleet: Fleet, flow: Flow, outcomes: Outcomes, role: str
) -> None:
    struck = fleet.leader(role)

    outcomes.add(away(flow, f"leader of {role} cut off for", struck.cut, struck.mend))

    fleet.wait_serving(role, struck)


def test_a_sink_whose_disk_was_full_goes_on_by_itself(fleet: Fleet, outcomes: Outcomes) -> None:
    padding = "x" * 100  # so many that they need pages of their own: the last one takes lines on a full disk
    name, values = unique("disk"), [f"line {number} {padding}" for number in range(200)]
    box, fill = fleet.members["executor"][0], f"{SMALL}/fill"
    first, more = values[:100], values[100:]

    def written() -> list[str]:
        return box.run("sh", "-c", f"cat {SMALL}/{name}.txt || true").splitlines()

    def states() -> set[str]:
        return {task["state"] for task in fleet.status(name).get("tasks", [])}

    produce(fleet.brokers.outside, name, [value.encode() for value in first])
    fleet.create(name, {"connector.class": "FileStreamSink", "topics": name, "file": f"{SMALL}/{name}.txt"})
    wait_until(lambda: set(first) <= set(written()), SECONDS, f"lines are written; {fleet.status(name)}")
    box.run("sh", "-c", f"head -c 64M /dev/zero > {fill} || true")
    produce(fleet.brokers.outside, name, [value.encode() for value in more])
    wait_until(lambda: states() - {"RUNNING"}, SECONDS, "the status says that the task does not run")

    moment = time.monotonic()
    box.run("rm", fill)
    wait_until(lambda: set(values) <= set(written()), SECONDS, f"every line is there; {fleet.status(name)}")
    flows = time.monotonic() - moment
    wait_until(lambda: states() == {"RUNNING"}, SECONDS, "the task runs")

    lines = written()
    well = time.monotonic() - moment
    outcomes.add(Outcome("disk full under a sink, from its end", flows, well, len(lines) - len(set(lines))))
    fleet.delete(name)
