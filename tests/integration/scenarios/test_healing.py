"""Tasks that fail, stand still or lose their host: what restarts without a hand, and what the status says."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psutil
import pytest
from copycat_testkit.commands import wait_gone
from copycat_testkit.kafka import create_topic, produce, unique, wait_until

from tests.integration.scenarios.cluster import Cluster
from tests.integration.scenarios.monitors import Monitor
from tests.integration.scenarios.rest import PATIENCE, RUNNING, Rest

SOON = {"errors_restart_backoff_ms": "100", "errors_restart_backoff_max_ms": "100"}


def trace(rest: Rest, name: str) -> str:
    reply = rest.call("GET", f"/connectors/{name}/status")
    tasks = reply.json()["tasks"] if reply.is_success else []
    return str(tasks[0].get("trace", "")) if tasks else ""


def says(rest: Rest, name: str, *texts: str) -> None:
    wait_until(lambda: all(text in trace(rest, name) for text in texts), PATIENCE, f"a trace with {texts}")


@pytest.mark.timeout(300)
def test_a_task_whose_system_is_away_runs_again_when_it_is_back(rest: Rest, monitor: Monitor) -> None:
    name = unique("healed")
    monitor.order("task 0 start finds nobody")
    rest.create(name, monitor.source(name, **SOON))
    says(rest, name, "ConnectionRefusedError", "A transient failure: restarted in 0 s, restart ")
    wait_until(lambda: monitor.counts("start")["task 0"] >= 3, PATIENCE, "more restarts")
    monitor.order()
    rest.wait(name, RUNNING, RUNNING)


@pytest.mark.timeout(300)
def test_a_connector_whose_system_is_away_runs_when_it_is_back(rest: Rest, monitor: Monitor) -> None:
    name = unique("healed")
    monitor.order("connector start finds nobody")
    rest.create(name, monitor.source(name, **SOON))
    wait_until(lambda: monitor.counts("start")["connector"] >= 3, PATIENCE, "restarts of the connector")
    monitor.order()
    rest.wait(name, RUNNING, RUNNING)


@pytest.mark.timeout(300)
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


@pytest.mark.timeout(300)
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


@pytest.mark.timeout(300)
def test_a_connector_may_leave_restarts_to_its_users(rest: Rest, monitor: Monitor) -> None:
    name = unique("byhand")
    monitor.order("task 0 start finds nobody")
    rest.create(name, monitor.source(name, errors_restart="off", **SOON))
    says(rest, name, "ConnectionRefusedError")
    assert "restart" not in trace(rest, name)


def hosts_of(process: psutil.Process) -> list[psutil.Process]:
    """Return the daemon of an executor and its hosts."""
    (daemon,) = [
        each for each in process.children() if any("plain_daemon" in word for word in each.cmdline())
    ]
    return [daemon, *daemon.children()]


def test_no_jvm_runs_and_a_killed_host_is_replaced(cluster: Cluster, rest: Rest, monitor: Monitor) -> None:
    name = unique("plain")
    rest.create(name, monitor.source(name))
    rest.runs(name)
    _, place = rest.placed(name)
    daemon, *hosts = hosts_of(cluster.up.executor(place))
    assert cluster.up.processes("spark") == []
    assert hosts
    for host in hosts:
        host.kill()
    wait_gone(hosts)
    wait_until(
        lambda: monitor.counts("start").get("task 0") == 2, PATIENCE, "its task starts in another host"
    )
    rest.runs(name)
    assert daemon.is_running()


@pytest.mark.long
def test_hosts_end_with_an_executor_that_is_killed(cluster: Cluster, rest: Rest, monitor: Monitor) -> None:
    name = unique("plain")
    rest.create(name, monitor.source(name))
    rest.runs(name)
    _, place = rest.placed(name)
    executor = cluster.up.executor(place)
    below = hosts_of(executor)
    executor.kill()
    wait_gone([executor, *below])
    wait_until(lambda: len(rest.workers()) == 3, PATIENCE, "the worker is back")
    rest.runs(name)


HEALTHY = {"state": "healthy"}
RETRIED = r"(put|poll|pre_commit) fails, (\d+) tries in \d+ s: RetriableException: task 0 finds nothing at "


def told(rest: Rest, name: str, holds: Callable[[dict[str, Any]], bool], what: str) -> dict[str, Any]:
    """Wait until the status is as wanted; a listing must say the same of all but what goes on."""
    found: list[dict[str, Any]] = []

    def is_so() -> bool:
        found[:] = [rest.get(f"/connectors/{name}/status")]
        return holds(found[0])

    wait_until(is_so, PATIENCE, what)
    return found[0]


def degraded(rest: Rest, name: str, reason: str) -> dict[str, Any]:
    def so(status: dict[str, Any]) -> bool:
        tasks = status["tasks"]
        return bool(tasks) and re.match(reason, tasks[0].get("reason", "")) is not None

    status = told(rest, name, so, f"{name}: {reason}")
    task = status["tasks"][0]
    assert task["state"] == "RUNNING"
    assert "trace" not in task
    assert status["health"]["state"] == "degraded"
    assert status["health"]["reason"].startswith("1 of 1 tasks not moving: task 0: ")
    return status


def healthy(rest: Rest, name: str) -> dict[str, Any]:
    return told(rest, name, lambda status: status["health"] == HEALTHY and status["tasks"], f"{name} is well")


def runs(rest: Rest, name: str, config: dict[str, str]) -> dict[str, Any]:
    rest.create(name, config)
    rest.runs(name)
    return healthy(rest, name)


def filled(cluster: Cluster, topic: str) -> str:
    create_topic(cluster.bootstrap, topic)
    produce(cluster.bootstrap, topic, [b"1"])
    return topic


@pytest.mark.timeout(300)
@pytest.mark.long
def test_a_status_says_since_when_and_under_which_generation(rest: Rest, monitor: Monitor) -> None:
    before, name = datetime.now(UTC), unique("since")
    status = runs(rest, name, monitor.source(name))
    assert list(status) == ["name", "connector", "tasks", "type", "health"]
    for instance in (status["connector"], *status["tasks"]):
        assert before <= datetime.fromisoformat(instance["since"]) <= datetime.now(UTC)
        assert instance["generation"] > 0
        assert "reason" not in instance
    assert list(status["connector"]) == ["state", "worker_id", "version", "since", "generation"]
    expanded = rest.get("/connectors?expand=status")
    assert expanded[name]["status"] == status
    assert rest.get(f"/connectors/{name}/tasks/0/status") == status["tasks"][0]


@pytest.mark.timeout(300)
@pytest.mark.long
@pytest.mark.parametrize(("what", "call"), [("put", "put"), ("flush", "pre_commit")])
def test_a_sink_that_hangs_is_degraded_until_it_goes_on(
    cluster: Cluster, rest: Rest, monitor: Monitor, what: str, call: str
) -> None:
    name = unique("hanging")
    before = runs(rest, name, monitor.sink(filled(cluster, name)))
    monitor.order(f"task 0 {what} blocks")
    produce(cluster.bootstrap, name, [b"2"])
    status = degraded(
        rest, name, rf"{call} has not returned for \d+ s: at obey \(copycat_monitorable\.py:\d+\), called at "
    )
    assert status["tasks"][0]["since"] == before["tasks"][0]["since"]
    monitor.order()
    assert healthy(rest, name) == before


@pytest.mark.timeout(300)
@pytest.mark.long
def test_a_source_whose_poll_hangs_is_degraded_and_one_with_nothing_to_do_is_not(
    rest: Rest, monitor: Monitor, tmp_path: Path
) -> None:
    idle = unique("idle")
    runs(rest, idle, Monitor(tmp_path / "idle").source(idle, max_messages="0"))
    name = unique("hanging")
    before = runs(rest, name, monitor.source(name))
    monitor.order("task 0 poll blocks")
    degraded(
        rest,
        name,
        r"poll has not returned for \d+ s: at obey \(copycat_monitorable\.py:\d+\), "
        r"called at poll \(copycat_monitorable\.py:",
    )
    assert rest.get(f"/connectors/{idle}/status")["health"] == HEALTHY
    monitor.order()
    assert healthy(rest, name) == before


@pytest.mark.timeout(300)
@pytest.mark.long
def test_a_start_that_hangs_shows_once_the_task_has_a_status(rest: Rest, monitor: Monitor) -> None:
    name = unique("starting")
    before = runs(rest, name, monitor.source(name))
    monitor.order("task 0 start blocks")
    rest.call("POST", f"/connectors/{name}/restart?includeTasks=true")
    told(
        rest,
        name,
        lambda status: status["tasks"][0].get("reason", "").startswith("start has not returned for "),
        "the start hangs",
    )
    monitor.order()
    assert healthy(rest, name)["tasks"][0]["since"] > before["tasks"][0]["since"]


@pytest.mark.timeout(300)
@pytest.mark.long
@pytest.mark.parametrize("what", ["put", "flush"])
def test_a_sink_whose_system_is_away_is_degraded_until_it_is_back(
    cluster: Cluster, rest: Rest, monitor: Monitor, what: str
) -> None:
    name = unique("away")
    before = runs(rest, name, monitor.sink(filled(cluster, name)))
    monitor.order(f"task 0 {what} is away")
    produce(cluster.bootstrap, name, [b"2"])
    status = degraded(rest, name, RETRIED)
    assert "caused by ConnectionRefusedError: " in status["tasks"][0]["reason"]

    def tries() -> int:
        found = re.match(RETRIED, rest.get(f"/connectors/{name}/status")["tasks"][0].get("reason", ""))
        return int(found[2]) if found else 0

    now = tries()
    wait_until(lambda: tries() > now, PATIENCE, "one more try")
    monitor.order()
    assert healthy(rest, name) == before
    wait_until(lambda: {"1", "2"} <= {*monitor.values()}, PATIENCE, "both records")


@pytest.mark.timeout(300)
@pytest.mark.long
def test_a_source_whose_system_is_away_is_degraded_and_its_secret_is_not_told(
    rest: Rest, monitor: Monitor, tmp_path: Path
) -> None:
    secrets, name = tmp_path / "secrets.properties", unique("away")
    secrets.write_text(f"place={monitor.folder}\n")
    placeholder = f"${{file:{secrets}:place}}"
    before = runs(rest, name, {**monitor.source(name), "monitor": placeholder})
    monitor.order("task 0 poll is away")
    status = degraded(rest, name, RETRIED + re.escape(placeholder))
    assert str(monitor.folder) not in str(status)
    monitor.order()
    assert healthy(rest, name) == before


EXAMPLE = Path(__file__).parents[3] / "deploy" / "examples" / "made-up-orders.json"
ORDERS = 7000


@pytest.fixture
def orders(cluster: Cluster, rest: Rest) -> Callable[..., str]:
    """Start the example with more speed and an end, so that it can be waited for; returns name and topic."""

    def start(rate: int) -> str:
        name = unique("orders")
        written = json.loads(EXAMPLE.read_text("utf-8"))["config"]
        rest.create(name, {**written, "topic": name, "throughput": str(rate), "max.records": str(ORDERS)})
        wait_until(lambda: cluster.values(name), PATIENCE, "the first orders")
        return name

    return start


def all_of(cluster: Cluster, name: str) -> list[str]:
    wait_until(lambda: len(cluster.values(name)) >= ORDERS, PATIENCE, "all orders")
    return cluster.values(name)


@pytest.mark.timeout(300)
def test_the_example_makes_each_order_once_though_it_is_stopped(
    cluster: Cluster, rest: Rest, orders: Callable[..., str]
) -> None:
    """Stopped, and resumed at another rate, it has made what a run without a stop makes."""
    stopped = orders(100)
    rest.ok("PUT", f"/connectors/{stopped}/stop")
    rest.wait(stopped, "STOPPED")
    assert len(cluster.values(stopped)) < ORDERS
    faster = {**rest.get(f"/connectors/{stopped}/config"), "throughput": "-1"}
    rest.configure(stopped, faster)
    rest.ok("PUT", f"/connectors/{stopped}/resume")
    whole = all_of(cluster, orders(-1))
    assert [json.loads(value)["id"] for value in whole] == list(range(1, ORDERS + 1))
    assert all_of(cluster, stopped) == whole
