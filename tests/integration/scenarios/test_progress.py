"""Tasks that have work and do not move: the status says so while it lasts, beside Kafka Connect's fields."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from copycat_testkit.kafka import create_topic, produce, unique, wait_until

from tests.integration.scenarios.cluster import Cluster
from tests.integration.scenarios.monitors import Monitor
from tests.integration.scenarios.rest import PATIENCE, Rest

pytestmark = [pytest.mark.timeout(300), pytest.mark.long]

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


@pytest.mark.parametrize(("what", "call"), [("put", "put"), ("flush", "pre_commit")])
def test_a_sink_that_hangs_is_degraded_until_it_goes_on(
    cluster: Cluster, rest: Rest, monitor: Monitor, what: str, call: str
) -> None:
    name = unique("hanging")
    before = runs(rest, name, monitor.sink(filled(cluster, name)))
    monitor.order(f"task 0 {what} blocks")
    produce(cluster.bootstrap, name, [b"2"])
    status = degraded(
        rest, name, rf"{call} has not returned for \d+ s: at obey \(monitor\.py:\d+\), called at "
    )
    assert status["tasks"][0]["since"] == before["tasks"][0]["since"]
    monitor.order()
    assert healthy(rest, name) == before


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
        r"poll has not returned for \d+ s: at obey \(monitor\.py:\d+\), called at poll \(source\.py:",
    )
    assert rest.get(f"/connectors/{idle}/status")["health"] == HEALTHY
    monitor.order()
    assert healthy(rest, name) == before


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
