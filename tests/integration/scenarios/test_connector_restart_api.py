"""ConnectorRestartApiIntegrationTest: what a restart covers, with every combination of its flags.

That nothing else was restarted is counted after one more restart of everything, which comes later in the
same log. The answers themselves are compared with Kafka Connect's by `tests/compat/rest`.
"""

from __future__ import annotations

from typing import Any

import pytest
from copycat_testkit.kafka import unique, wait_until

from tests.integration.scenarios.monitors import Monitor
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
