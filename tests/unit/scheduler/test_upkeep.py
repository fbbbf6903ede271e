"""Which statuses need a correction."""

from copycat_connect.cluster import Instance
from copycat_scheduler.domain.commands import Desired
from copycat_scheduler.domain.upkeep import Observed, Upkeep, upkeep

RUNS = Observed("w", 3, unassigned=False)


def _upkeep(
    observed: dict[Instance, Observed], *assigned: Instance, there: bool = True, **desired: int
) -> Upkeep:
    wanted = {name: Desired(tasks) for name, tasks in desired.items()}
    return upkeep(wanted, observed, lambda: set(assigned), lambda _: there)


def test_statuses_of_live_workers_stand() -> None:
    assert _upkeep({Instance("a"): RUNS, Instance("a", 0): RUNS}, a=1) == Upkeep()


def test_statuses_of_workers_that_are_gone_become_unassigned() -> None:
    silent = Observed("w", 3, unassigned=True)
    observed = {Instance("a", 0): RUNS, Instance("a"): RUNS, Instance("a", 1): silent}
    assert _upkeep(observed, there=False, a=2) == Upkeep(
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
    wanted = {name: Desired(1) for name in ("a", "paused", "other", "silent", "new")}
    faults = dict.fromkeys(("a", "paused", "silent", "new", "deleted"), "topics.regex has ...")
    found = upkeep(wanted, observed, set, lambda _: True, faults)
    assert found == Upkeep(failed=((Instance("a"), runs, "topics.regex has ..."),))


def test_a_connector_whose_worker_is_gone_is_unassigned_first() -> None:
    runs = Observed("w", 3, unassigned=False, running=True)
    found = upkeep({"a": Desired(1)}, {Instance("a"): runs}, set, lambda _: False, {"a": "topics.regex has"})
    assert found == Upkeep(unassigned=((Instance("a"), runs),))


def test_what_is_assigned_is_not_forgotten() -> None:
    observed = {Instance("a", 1): RUNS, Instance("b"): RUNS}
    assert _upkeep(observed, Instance("a", 1), Instance("b", 0), a=1) == Upkeep()
