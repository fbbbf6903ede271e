"""Changes of assignments in numbers.

Which statuses need a correction.
"""

from __future__ import annotations

from math import inf, isnan

import pytest
from copycat_connect.cluster import Instance
from copycat_scheduler.adapters.rebalances import Rebalances
from copycat_scheduler.domain.commands import DesiredConnector
from copycat_scheduler.domain.upkeep import Corrections, Observed, upkeep
from copycat_telemetry.metrics.definitions import Value
from copycat_telemetry.metrics.sampled import Windows


class World:
    """Rebalances with a clock that a test moves."""

    def __init__(self) -> None:
        self.now = 50.0
        self.rebalances = Rebalances(Windows(), lambda: self.now)

    def rebalance(self, seconds: float, generation: int = 1) -> None:
        """Have assignments change, for so long."""
        self.rebalances.planned(generation, changed=True)
        self.now += seconds
        self.rebalances.planned(generation, changed=False)

    def told(self, leader: str = "here:1") -> dict[str, Value]:
        """Return what is reported now."""
        return dict(self.rebalances.reading(leader).values)


def test_before_the_first_change_nothing_was_ever_completed() -> None:
    told = World().told()

    assert (told["completed-rebalances-total"], told["rebalancing"], told["epoch"]) == (0, 0, 0)
    assert told["time-since-last-rebalance-ms"] == inf
    assert isnan(float(told["rebalance-max-time-ms"]))
    assert isnan(float(told["rebalance-avg-time-ms"]))


def test_a_plan_that_changes_nothing_is_no_rebalance() -> None:
    world = World()

    world.rebalances.planned(7, changed=False)

    assert (world.told()["completed-rebalances-total"], world.told()["rebalancing"]) == (0, 0)
    assert world.told()["time-since-last-rebalance-ms"] == inf


def test_the_epoch_is_known_without_any_change() -> None:
    world = World()

    world.rebalances.planned(7, changed=False)

    assert world.told()["epoch"] == 7


def test_assignments_change_until_a_plan_finds_nothing_to_change() -> None:
    world = World()

    world.rebalances.planned(3, changed=True)
    world.now += 1
    world.rebalances.planned(4, changed=True)
    assert (world.told()["rebalancing"], world.told()["completed-rebalances-total"]) == (1, 0)
    world.now += 2
    world.rebalances.planned(4, changed=False)

    told = world.told()
    assert (told["rebalancing"], told["completed-rebalances-total"], told["epoch"]) == (0, 1, 4)
    assert told["rebalance-max-time-ms"] == pytest.approx(3000)


def test_times_of_changes_are_sampled_and_the_last_one_is_remembered() -> None:
    world = World()
    world.rebalance(1)
    world.rebalance(3)
    told = world.told()
    assert told["rebalance-max-time-ms"] == pytest.approx(3000)
    assert told["rebalance-avg-time-ms"] == pytest.approx(2000)

    world.now += 1000

    told = world.told()
    assert isnan(float(told["rebalance-max-time-ms"]))
    assert told["time-since-last-rebalance-ms"] == pytest.approx(1_000_000)
    assert told["completed-rebalances-total"] == 2


def test_a_change_that_another_instance_has_to_complete_is_counted_by_that_one() -> None:
    world = World()
    world.rebalances.planned(3, changed=True)

    world.rebalances.stood_down()
    world.now += 500
    assert world.told("")["rebalancing"] == 0

    world.rebalance(2)
    assert world.told()["completed-rebalances-total"] == 1
    assert world.told()["rebalance-max-time-ms"] == pytest.approx(2000)


def test_who_plans_is_told_by_that_instance_only() -> None:
    assert World().told("here:1")["leader-name"] == "here:1"
    assert "leader-name" not in World().told("")


def test_a_scheduler_is_no_protocol_of_kafka_connect() -> None:
    assert World().told()["connect-protocol"] == "SCHEDULER"


RUNS = Observed("w", 3, unassigned=False)


def _upkeep(
    observed: dict[Instance, Observed], *assigned: Instance, there: bool = True, **desired: int
) -> Corrections:
    wanted = {name: DesiredConnector(tasks) for name, tasks in desired.items()}
    return upkeep(wanted, observed, lambda: set(assigned), lambda _: there)


def test_statuses_of_live_workers_stand() -> None:
    assert _upkeep({Instance("a"): RUNS, Instance("a", 0): RUNS}, a=1) == Corrections()


def test_statuses_of_workers_that_are_gone_become_unassigned() -> None:
    silent = Observed("w", 3, unassigned=True)
    observed = {Instance("a", 0): RUNS, Instance("a"): RUNS, Instance("a", 1): silent}
    assert _upkeep(observed, there=False, a=2) == Corrections(
        unassigned=((Instance("a"), RUNS), (Instance("a", 0), RUNS))
    )


def test_connectors_and_tasks_that_are_not_configured_are_forgotten() -> None:
    observed = {Instance(name, task): RUNS for name in "ab" for task in (None, 0, 1, 2)}
    assert _upkeep(observed, there=False, a=3).forgotten == (("b", ()),)
    assert _upkeep(observed, a=1, b=3).forgotten == (("a", (1, 2)),)


def test_a_connector_that_runs_and_cannot_know_what_it_reads_has_failed() -> None:
    runs = Observed("w", 3, unassigned=False, running=True)
    observed = {
        Instance("a"): runs,
        Instance("a", 0): runs,
        Instance("paused"): RUNS,
        Instance("other"): runs,
        Instance("silent"): Observed("w", 3, unassigned=True),
    }
    wanted = {name: DesiredConnector(1) for name in ("a", "paused", "other", "silent", "new")}
    faults = dict.fromkeys(("a", "paused", "silent", "new", "deleted"), "topics.regex has ...")
    found = upkeep(wanted, observed, set, lambda _: True, faults)
    assert found == Corrections(failed=((Instance("a"), runs, "topics.regex has ..."),))


def test_a_connector_whose_worker_is_gone_is_unassigned_first() -> None:
    runs = Observed("w", 3, unassigned=False, running=True)
    found = upkeep(
        {"a": DesiredConnector(1)}, {Instance("a"): runs}, set, lambda _: False, {"a": "topics.regex has"}
    )
    assert found == Corrections(unassigned=((Instance("a"), runs),))


def test_what_is_assigned_is_not_forgotten() -> None:
    observed = {Instance("a", 1): RUNS, Instance("b"): RUNS}
    assert _upkeep(observed, Instance("a", 1), Instance("b", 0), a=1) == Corrections()
