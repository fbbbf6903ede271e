"""RebalanceSourceConnectorsIntegrationTest: workers come and go, and the work stays whole and balanced."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from copycat_testkit.kafka import unique, wait_until

from tests.integration.scenarios.cluster import Cluster
from tests.integration.scenarios.monitors import Monitor
from tests.integration.scenarios.rest import PATIENCE, Rest

pytestmark = [pytest.mark.timeout(300), pytest.mark.long]

TASKS = 4


class Crowd:
    """Connectors with four tasks each."""

    def __init__(self, rest: Rest, folder: Path, connectors: int) -> None:
        """Create them and wait until all run."""
        self._rest = rest
        self.monitors = {(name := unique("crowd")): Monitor(folder / name) for _ in range(connectors)}
        for name, monitor in self.monitors.items():
            rest.create(name, monitor.source(name, tasks_max=str(TASKS)))
        self.run()

    def run(self) -> None:
        """Wait until all run."""
        for name in self.monitors:
            self._rest.runs(name, TASKS)

    def is_balanced(self) -> bool:
        """Tell whether everything is held once and every worker has its fair share of both kinds."""
        shown = self._rest.get("/workers")
        connectors, tasks = Counter[str](), Counter[str]()
        seen: Counter[tuple[str, int]] = Counter()
        for worker in shown:
            connectors[worker["worker_id"]] = tasks[worker["worker_id"]] = 0
            for held in worker["held"]:
                seen[held["connector"], held.get("task", -1)] += 1
                (tasks if "task" in held else connectors)[worker["worker_id"]] += 1
        expected = {(name, index) for name in self.monitors for index in range(-1, TASKS)}
        return set(seen) == expected and max(seen.values()) == 1 and _even(connectors) and _even(tasks)

    def settles(self) -> None:
        """Wait until all run, held once and in balance."""
        wait_until(self.is_balanced, PATIENCE, "everything unique and balanced")
        self.run()


def _even(counts: Counter[str]) -> bool:
    return max(counts.values()) - min(counts.values()) < 2


def test_start_two_connectors(rest: Rest, tmp_path: Path) -> None:
    """testStartTwoConnectors: both run, spread over the workers."""
    Crowd(rest, tmp_path, 2).settles()


def test_reconfig_connector(cluster: Cluster, rest: Rest, monitor: Monitor) -> None:
    """testReconfigConnector: another topic restarts connector and tasks once, and gets the records."""
    name, other = unique("reconfigured"), unique("other")
    rest.create(name, monitor.source(name, tasks_max=str(TASKS)))
    rest.runs(name, TASKS)
    wait_until(lambda: len(cluster.values(name)) == 10 * TASKS, PATIENCE, "records")
    rest.configure(name, monitor.source(other, tasks_max=str(TASKS), max_messages="20"))
    wait_until(lambda: len(cluster.values(other)) == 10 * TASKS, PATIENCE, "records in the other topic")
    rest.runs(name, TASKS)
    assert monitor.counts("start") == {"connector": 2, **{f"task {index}": 2 for index in range(TASKS)}}


def test_delete_connector(rest: Rest, tmp_path: Path) -> None:
    """testDeleteConnector: the others stay, and are balanced."""
    crowd = Crowd(rest, tmp_path, 4)
    gone = next(iter(crowd.monitors))
    rest.delete(gone)
    del crowd.monitors[gone]
    crowd.settles()


def test_adding_worker(cluster: Cluster, rest: Rest, tmp_path: Path) -> None:
    """testAddingWorker: the new one gets its share."""
    crowd = Crowd(rest, tmp_path, 4)
    added = cluster.add_workers()
    crowd.settles()
    cluster.remove(added)


def test_removing_worker(cluster: Cluster, rest: Rest, tmp_path: Path) -> None:
    """testRemovingWorker: its share goes to the others."""
    added = cluster.add_workers()
    crowd = Crowd(rest, tmp_path, 4)
    cluster.remove(added)
    crowd.settles()


@pytest.mark.long
def test_multiple_workers_rejoining(cluster: Cluster, rest: Rest, tmp_path: Path) -> None:
    """testMultipleWorkersRejoining: two workers leave and two come.

    Kafka Connect leaves their work alone for `scheduled.rebalance.max.delay.ms`; here that is 0 by default, a
    documented difference: it moves at once, and back when the new ones join.
    """
    crowd = Crowd(rest, tmp_path, 4)
    first = cluster.add_workers(2)
    crowd.settles()
    cluster.remove(first)
    second = cluster.add_workers(2)
    crowd.settles()
    cluster.remove(second)
    crowd.settles()
