"""Restarts of connectors, tasks and workers: nothing else restarts, and the work stays whole and balanced.

ConnectorRestartApiIntegrationTest: that nothing else was restarted is counted after one more restart of
everything, which comes later in the same log. The answers themselves are compared with Kafka Connect's by
`tests/compat/rest`. RebalanceSourceConnectorsIntegrationTest, and connect_distributed_test of kafkatest:
workers come, go and are restarted under a running cluster; services and hosts killed under load are the
subject of `tests/chaos`.
"""

from __future__ import annotations

import signal
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from copycat_testkit.kafka import unique, wait_until

from tests.integration.scenarios.cluster import Cluster
from tests.integration.scenarios.monitors import LineFile, Monitor
from tests.integration.scenarios.rest import PATIENCE, RUNNING, Rest

pytestmark = [pytest.mark.timeout(300), pytest.mark.long]

TASKS = 4
FLAGS = [(include, failed) for include in ("false", "true") for failed in ("false", "true")]


class Restarted:
    """A connector with four tasks and how often each of them was started."""

    def __init__(self, rest: Rest, monitor: Monitor) -> None:
        """Nothing is created yet."""
        self.rest, self.monitor, self.name = rest, monitor, unique("restarted")

    def create(self, *states: str, orders: tuple[str, ...] = ()) -> None:
        """Create it under orders to fail, wait for what comes of it, and take the orders back."""
        self.monitor.order(*orders)
        self.rest.create(self.name, self.monitor.source(self.name, tasks_max=str(TASKS)))
        self.rest.wait(self.name, *states)
        self.monitor.order()

    def restart(self, include_tasks: str = "", only_failed: str = "") -> Any:
        """Ask for a restart and return the answer's body; without flags it has no body."""
        query = f"?includeTasks={include_tasks}&onlyFailed={only_failed}" if include_tasks else ""
        return self.rest.ok("POST", f"/connectors/{self.name}/restart{query}")

    def started(self, connector: int, *tasks: int) -> None:
        """Wait until everything runs and was started so often."""
        self.rest.runs(self.name, len(tasks))
        wait_until(lambda: self._counts() == [connector, *tasks], PATIENCE, f"{connector} {tasks} starts")

    def restart_all(self) -> None:
        """Restart everything, so that what came before it can be counted."""
        assert shown(self.restart("true", "false")) == ["RESTARTING"] * (1 + TASKS)

    def _counts(self) -> list[int]:
        starts = self.monitor.counts("start")
        return [starts["connector"], *(starts[f"task {index}"] for index in range(TASKS))]


def shown(body: Any) -> list[str]:
    """Return the states in the answer to a restart."""
    return [body["connector"]["state"], *(task["state"] for task in body["tasks"])]


@pytest.fixture
def restarted(rest: Rest, monitor: Monitor) -> Restarted:
    """A connector to be created."""
    return Restarted(rest, monitor)


ALL_RUN = (RUNNING,) * (1 + TASKS)
TASKS_FAILED = (RUNNING, *("FAILED",) * TASKS)
NO_CONNECTOR_STARTS = ("connector start raises",)
NO_TASK_STARTS = tuple(f"task {index} start raises" for index in range(TASKS))


def test_restart_unknown_connector_no_params(rest: Rest) -> None:
    """testRestartUnknownConnectorNoParams: not found."""
    assert rest.call("POST", f"/connectors/{unique('none')}/restart").status_code == 404


@pytest.mark.parametrize(("include_tasks", "only_failed"), FLAGS)
def test_restart_unknown_connector(rest: Rest, include_tasks: str, only_failed: str) -> None:
    """testRestartUnknownConnector: not found, whatever the flags."""
    query = f"includeTasks={include_tasks}&onlyFailed={only_failed}"
    assert rest.call("POST", f"/connectors/{unique('none')}/restart?{query}").status_code == 404


def test_running_connector_and_tasks_restart_only_connector(restarted: Restarted) -> None:
    """testRunningConnectorAndTasksRestartOnlyConnector: the connector once, no task."""
    restarted.create(*ALL_RUN)
    restarted.restart("false", "false")
    restarted.started(2, 1, 1, 1, 1)
    restarted.restart_all()
    restarted.started(3, 2, 2, 2, 2)


def test_running_connector_and_tasks_restart_both_connector_and_tasks(restarted: Restarted) -> None:
    """testRunningConnectorAndTasksRestartBothConnectorAndTasks: each once."""
    restarted.create(*ALL_RUN)
    assert shown(restarted.restart("true", "false")) == ["RESTARTING"] * (1 + TASKS)
    restarted.started(2, 2, 2, 2, 2)


def test_running_connector_and_tasks_restart_only_failed_connector_noop(restarted: Restarted) -> None:
    """testRunningConnectorAndTasksRestartOnlyFailedConnectorNoop: nothing failed, nothing restarts."""
    restarted.create(*ALL_RUN)
    assert shown(restarted.restart("false", "true")) == list(ALL_RUN)
    restarted.restart_all()
    restarted.started(2, 2, 2, 2, 2)


def test_running_connector_and_tasks_restart_both_connector_and_tasks_noop(restarted: Restarted) -> None:
    """testRunningConnectorAndTasksRestartBothConnectorAndTasksNoop: nothing failed, nothing restarts."""
    restarted.create(*ALL_RUN)
    assert shown(restarted.restart("true", "true")) == list(ALL_RUN)
    restarted.restart_all()
    restarted.started(2, 2, 2, 2, 2)


def test_failed_connector_restart_only_connector(restarted: Restarted) -> None:
    """testFailedConnectorRestartOnlyConnector: it comes up, and its tasks start for the first time."""
    restarted.create("FAILED", orders=NO_CONNECTOR_STARTS)
    restarted.restart("false", "false")
    restarted.started(2, 1, 1, 1, 1)


def test_failed_connector_restart_both_connector_and_tasks(restarted: Restarted) -> None:
    """testFailedConnectorRestartBothConnectorAndTasks: likewise, there are no tasks to restart yet."""
    restarted.create("FAILED", orders=NO_CONNECTOR_STARTS)
    assert shown(restarted.restart("true", "false")) == ["RESTARTING"]
    restarted.started(2, 1, 1, 1, 1)


def test_failed_connector_restart_only_failed_connector_and_tasks(restarted: Restarted) -> None:
    """testFailedConnectorRestartOnlyFailedConnectorAndTasks: likewise, since the connector failed."""
    restarted.create("FAILED", orders=NO_CONNECTOR_STARTS)
    assert shown(restarted.restart("true", "true")) == ["RESTARTING"]
    restarted.started(2, 1, 1, 1, 1)


def test_failed_tasks_restart_only_connector(restarted: Restarted) -> None:
    """testFailedTasksRestartOnlyConnector: the connector once, and the tasks stay FAILED."""
    restarted.create(*TASKS_FAILED, orders=NO_TASK_STARTS)
    restarted.restart("false", "false")
    restarted.rest.wait(restarted.name, *TASKS_FAILED)
    restarted.restart("true", "true")
    restarted.started(2, 2, 2, 2, 2)


def test_failed_tasks_restart_only_tasks(restarted: Restarted) -> None:
    """testFailedTasksRestartOnlyTasks: the tasks once, not the connector."""
    restarted.create(*TASKS_FAILED, orders=NO_TASK_STARTS)
    assert shown(restarted.restart("true", "true")) == [RUNNING, *["RESTARTING"] * TASKS]
    restarted.started(1, 2, 2, 2, 2)


def test_failed_tasks_restart_without_include_tasks_noop(restarted: Restarted) -> None:
    """testFailedTasksRestartWithoutIncludeTasksNoop: nothing."""
    restarted.create(*TASKS_FAILED, orders=NO_TASK_STARTS)
    assert shown(restarted.restart("false", "true")) == list(TASKS_FAILED)
    restarted.restart("true", "true")
    restarted.started(1, 2, 2, 2, 2)


def test_failed_tasks_restart_both_connector_and_tasks(restarted: Restarted) -> None:
    """testFailedTasksRestartBothConnectorAndTasks: each once."""
    restarted.create(*TASKS_FAILED, orders=NO_TASK_STARTS)
    restarted.restart("true", "false")
    restarted.started(2, 2, 2, 2, 2)


def test_one_failed_tasks_restart_only_one_tasks(restarted: Restarted) -> None:
    """testOneFailedTasksRestartOnlyOneTasks: that one."""
    restarted.create(RUNNING, RUNNING, "FAILED", RUNNING, RUNNING, orders=("task 1 start raises",))
    assert shown(restarted.restart("true", "true")) == [RUNNING, RUNNING, "RESTARTING", RUNNING, RUNNING]
    restarted.started(1, 1, 2, 1, 1)


def test_multi_worker_restart_only_connector(restarted: Restarted) -> None:
    """testMultiWorkerRestartOnlyConnector: asked where nothing runs: the gateway never runs anything."""
    restarted.create(*ALL_RUN)
    assert len(set(restarted.rest.placed(restarted.name))) > 1
    restarted.restart()
    restarted.started(2, 1, 1, 1, 1)


def test_multi_worker_restart_both_connector_and_tasks(restarted: Restarted) -> None:
    """testMultiWorkerRestartBothConnectorAndTasks: workers that run a part restart their part."""
    restarted.create(*ALL_RUN)
    assert len(set(restarted.rest.placed(restarted.name))) > 1
    restarted.restart("true", "false")
    restarted.started(2, 2, 2, 2, 2)


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


BOUNCED_TASKS = 3
WORKERS = 3
SERVICES = ("config", "offset", "status", "scheduler", "gateway")


def test_pause_state_persistent(cluster: Cluster, rest: Rest, tmp_path: Path) -> None:
    """What was paused stays paused when all workers are restarted, and so do the services."""
    name = unique("paused")
    file = LineFile(tmp_path / "lines.txt")
    file.append(["before"])
    rest.create(name, file.source(name))
    wait_until(lambda: cluster.values(name) == ["before"], PATIENCE, "a line")
    rest.ok("PUT", f"/connectors/{name}/pause")
    rest.wait(name, "PAUSED", "PAUSED")
    before = rest.get(f"/connectors/{name}/status")
    cluster.restart_at_once("executor", *SERVICES)
    wait_until(lambda: len(rest.workers()) == WORKERS, PATIENCE, "three workers")
    rest.wait(name, "PAUSED", "PAUSED")
    assert rest.get(f"/connectors/{name}/status")["name"] == before["name"]
    assert cluster.values(name) == ["before"]
    rest.ok("PUT", f"/connectors/{name}/resume")
    rest.runs(name)


def test_file_source_and_sink(cluster: Cluster, rest: Rest, tmp_path: Path) -> None:
    """Lines before and after a rolling restart arrive in order, once."""
    topic = unique("lines")
    read, write = LineFile(tmp_path / "in.txt"), LineFile(tmp_path / "out.txt")
    first, second = ([f"{half} {number}" for number in range(100)] for half in ("first", "second"))
    read.append(first)
    rest.create(f"{topic}-in", read.source(topic))
    rest.create(f"{topic}-out", write.sink(topic))
    write.holds(*first)
    cluster.restart("executor")
    read.append(second)
    write.holds(*first, *second)


@pytest.mark.long
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_bounce(cluster: Cluster, rest: Rest, tmp_path: Path, how: signal.Signals) -> None:
    """Workers bounced under load lose no record; those bounced cleanly repeat none either."""
    name = unique("bounced")
    source, sink = Monitor(tmp_path / "source"), Monitor(tmp_path / "sink")
    endless = {"max_messages": "1000000", "messages_per_poll": "5"}
    rest.create(name, source.source(name, tasks_max=str(BOUNCED_TASKS), **endless))
    rest.create(f"{name}-sink", sink.sink(name, tasks_max=str(BOUNCED_TASKS)))
    rest.runs(name, BOUNCED_TASKS)
    wait_until(lambda: len(sink.values()) > 100, PATIENCE, "records before")
    cluster.restart("executor", how)
    wait_until(lambda: len(rest.workers()) == WORKERS, PATIENCE, "every worker is back")
    rest.runs(name, BOUNCED_TASKS)
    seen = len(sink.values())
    wait_until(lambda: len(sink.values()) > seen + 100, PATIENCE, "records after")
    rest.ok("PUT", f"/connectors/{name}/stop")
    rest.released(name)
    produced = cluster.values(name)
    wait_until(lambda: set(sink.values()) == set(produced), PATIENCE, "every record at the sink")
    for task in range(BOUNCED_TASKS):
        numbers = {int(value.rpartition("-")[2]) for value in produced if f"{name}-{task}-" in value}
        assert numbers == set(range(1, max(numbers) + 1)), "a gap"
    if how == signal.SIGTERM:
        assert len(produced) == len(set(produced)), "a repeated record"
        assert len(sink.values()) == len(produced), "a record delivered again"
