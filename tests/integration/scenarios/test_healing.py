"""Failed tasks that are restarted without a hand (`errors.restart`), and those that are not."""

from __future__ import annotations

import pytest
from copycat_testkit.kafka import unique, wait_until

from tests.integration.scenarios.monitors import Monitor
from tests.integration.scenarios.rest import PATIENCE, RUNNING, Rest

pytestmark = pytest.mark.timeout(300)

SOON = {"errors_restart_backoff_ms": "100", "errors_restart_backoff_max_ms": "100"}


def trace(rest: Rest, name: str) -> str:
    reply = rest.call("GET", f"/connectors/{name}/status")
    tasks = reply.json()["tasks"] if reply.is_success else []
    return str(tasks[0].get("trace", "")) if tasks else ""


def says(rest: Rest, name: str, *texts: str) -> None:
    wait_until(lambda: all(text in trace(rest, name) for text in texts), PATIENCE, f"a trace with {texts}")


def test_a_task_whose_system_is_away_runs_again_when_it_is_back(rest: Rest, monitor: Monitor) -> None:
    name = unique("healed")
    monitor.order("task 0 start finds nobody")
    rest.create(name, monitor.source(name, **SOON))
    says(rest, name, "ConnectionRefusedError", "A transient failure: restarted in 0 s, restart ")
    wait_until(lambda: monitor.counts("start")["task 0"] >= 3, PATIENCE, "more restarts")
    monitor.order()
    rest.wait(name, RUNNING, RUNNING)


def test_a_connector_whose_system_is_away_runs_when_it_is_back(rest: Rest, monitor: Monitor) -> None:
    name = unique("healed")
    monitor.order("connector start finds nobody")
    rest.create(name, monitor.source(name, **SOON))
    wait_until(lambda: monitor.counts("start")["connector"] >= 3, PATIENCE, "restarts of the connector")
    monitor.order()
    rest.wait(name, RUNNING, RUNNING)


def test_a_failure_that_does_not_pass_stays_and_says_what_to_do(rest: Rest, monitor: Monitor) -> None:
    name = unique("unhealed")
    monitor.order("task 0 start raises")
    rest.create(name, monitor.source(name, **SOON))
    says(rest, name, "A bug failure does not pass by itself", "errors.restart=always")
    monitor.order()
    rest.configure(name, monitor.source(name, errors_restart="always", **SOON))
    rest.wait(name, RUNNING, RUNNING)
    monitor.order("task 0 poll raises")
    says(rest, name, "A bug failure: restarted in")
    monitor.order()
    rest.wait(name, RUNNING, RUNNING)


def test_after_too_many_restarts_a_task_waits_for_a_user(rest: Rest, monitor: Monitor) -> None:
    name = unique("hopeless")
    monitor.order("task 0 start finds nobody")
    rest.create(name, monitor.source(name, errors_restart_max_per_hour="2", **SOON))
    says(rest, name, "after 2 restarts within an hour (errors.restart.max.per.hour)", "stays FAILED")
    assert monitor.counts("start")["task 0"] == 3
    rest.ok("POST", f"/connectors/{name}/tasks/0/restart")
    wait_until(lambda: monitor.counts("start")["task 0"] == 6, PATIENCE, "a new budget of restarts")
    says(rest, name, "after 2 restarts within an hour")
    monitor.order()
    rest.ok("POST", f"/connectors/{name}/restart?includeTasks=true&onlyFailed=true")
    rest.wait(name, RUNNING, RUNNING)


def test_a_connector_may_leave_restarts_to_its_users(rest: Rest, monitor: Monitor) -> None:
    name = unique("byhand")
    monitor.order("task 0 start finds nobody")
    rest.create(name, monitor.source(name, errors_restart="off", **SOON))
    says(rest, name, "ConnectionRefusedError")
    assert "restart" not in trace(rest, name)
