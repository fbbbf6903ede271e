"""What a worker reports about itself and its connectors."""

from __future__ import annotations

import pytest
from copycat.types.v1 import types_pb2
from copycat_connect.cluster import Instance
from copycat_executor.domain.running import UsedPlugin
from copycat_telemetry.metrics.definitions import Value
from copycat_telemetry.metrics.groups import GROUPS

from tests.unit.executor.metrics.seen import (
    FAILED,
    PAUSED,
    RESTARTING,
    RUNNING,
    STOPPED,
    UNASSIGNED,
    Worker,
)

WORKER, CONNECTOR = "connect-worker-metrics", "connector-metrics"


def startups(worker: Worker, kind: str) -> list[Value]:
    told = worker.told(WORKER) or {}
    names = ("attempts-total", "success-total", "failure-total", "success-percentage", "failure-percentage")
    return [told[f"{kind}-startup-{name}"] for name in names]


def counts(worker: Worker, connector: str) -> dict[str, Value] | None:
    told = worker.told(WORKER, connector=connector)
    if told is None:
        return None
    short = {name.removeprefix("connector-").removesuffix("-task-count"): each for name, each in told.items()}
    return {name: each for name, each in short.items() if each}


def test_a_worker_that_runs_nothing_says_so() -> None:
    worker = Worker()

    told = worker.told(WORKER)

    assert told is not None
    assert len(told) == 12
    assert set(told.values()) == {0}


def test_connectors_and_tasks_of_a_worker_are_counted() -> None:
    worker = Worker()
    worker.run("orders")
    worker.run("orders", 0)
    worker.begin("clicks", 3)

    told = worker.told(WORKER) or {}

    assert (told["connector-count"], told["task-count"]) == (1, 2)


@pytest.mark.parametrize(("kind", "task"), [("connector", None), ("task", 0)])
def test_starts_are_counted_by_how_they_ended(kind: str, task: int | None) -> None:
    worker = Worker()
    for name in ("a", "b", "c"):
        worker.run(name, task)
    worker.state(worker.begin("d", task), FAILED)

    assert startups(worker, kind) == [4, 3, 1, 0.75, 0.25]
    assert startups(worker, "task" if kind == "connector" else "connector") == [0, 0, 0, 0, 0]


def test_a_start_that_has_not_ended_is_not_counted() -> None:
    worker = Worker()

    worker.begin("orders", 0)

    assert startups(worker, "task") == [0, 0, 0, 0, 0]


@pytest.mark.parametrize("state", [PAUSED, STOPPED])
def test_an_instance_that_begins_at_rest_has_started_well(state: types_pb2.State.ValueType) -> None:
    worker = Worker()

    worker.state(worker.begin("orders"), state)

    assert startups(worker, "connector") == [1, 1, 0, 1, 0]


def test_what_happens_after_a_start_is_no_start() -> None:
    worker = Worker()
    task = worker.run("orders", 0)

    for state in (PAUSED, RUNNING, FAILED, UNASSIGNED):
        worker.state(task, state)

    assert startups(worker, "task") == [1, 1, 0, 1, 0]


def test_a_restart_is_a_start_of_its_own_once_it_has_ended() -> None:
    worker = Worker()
    task = worker.run("orders", 0)
    worker.state(task, RESTARTING)
    assert startups(worker, "task") == [1, 1, 0, 1, 0]

    worker.leave(task)
    worker.run("orders", 0)

    assert startups(worker, "task") == [2, 2, 0, 1, 0]


def test_a_restart_asked_for_during_a_start_is_not_the_end_of_that_start() -> None:
    worker = Worker()
    task = worker.begin("orders", 0)

    worker.state(task, RESTARTING)
    assert startups(worker, "task") == [0, 0, 0, 0, 0]

    worker.state(task, FAILED)
    assert startups(worker, "task") == [1, 0, 1, 0, 1]


def test_shares_of_starts_are_of_the_last_windows_and_totals_are_not() -> None:
    worker = Worker()
    worker.state(worker.begin("orders", 0), FAILED)
    worker.now += 100

    worker.run("orders", 1)

    assert startups(worker, "task") == [2, 1, 1, 1, 0]


def test_tasks_of_a_connector_are_counted_by_their_states() -> None:
    worker = Worker()
    for task, state in enumerate((RUNNING, RUNNING, PAUSED, FAILED, RESTARTING)):
        worker.state(worker.begin("orders", task), state)
    worker.begin("orders", 5)
    worker.run("clicks", 0)

    assert counts(worker, "orders") == {
        "total": 6, "running": 2, "paused": 1, "failed": 1, "restarting": 1, "unassigned": 1,
    }  # fmt: skip
    assert counts(worker, "clicks") == {"total": 1, "running": 1}


def test_a_connector_without_tasks_here_has_no_counts_of_tasks() -> None:
    worker = Worker()
    worker.run("orders")

    assert counts(worker, "orders") is None


def test_a_connector_is_told_with_its_state_and_its_plugin() -> None:
    worker = Worker()
    connector = worker.begin("orders")
    worker.plugin("orders", UsedPlugin("Clock", "source", "1.2"))
    worker.state(connector, RUNNING)

    assert worker.told(CONNECTOR, connector="orders") == {
        "status": "running",
        "connector-class": "Clock",
        "connector-type": "source",
        "connector-version": "1.2",
    }


def test_a_plugin_without_version_says_so_as_kafka_connect_does() -> None:
    worker = Worker()
    worker.run("orders")
    worker.plugin("orders", UsedPlugin("Clock", "sink", None))

    told = worker.told(CONNECTOR, connector="orders") or {}

    assert told["connector-version"] == "undefined"


def test_a_connector_whose_plugin_is_not_found_is_told_with_the_class_it_asks_for() -> None:
    worker = Worker()

    worker.state(worker.begin("orders", config={"connector.class": "Missing"}), FAILED)

    assert worker.told(CONNECTOR, connector="orders") == {"status": "failed", "connector-class": "Missing"}


def test_a_connector_that_got_another_class_is_not_told_with_the_former_one() -> None:
    worker = Worker()
    worker.run("orders")
    worker.plugin("orders", UsedPlugin("Clock", "source", "1.2"))
    worker.leave(Instance("orders"))

    worker.state(worker.begin("orders", config={"connector.class": "Missing"}), FAILED)

    assert worker.told(CONNECTOR, connector="orders") == {"status": "failed", "connector-class": "Missing"}


def test_what_left_is_told_no_longer() -> None:
    worker = Worker()
    worker.run("orders")
    task = worker.run("orders", 0)
    worker.run("orders", 1)

    worker.leave(Instance("orders"))
    worker.leave(task)

    assert worker.told(CONNECTOR, connector="orders") is None
    assert worker.told("connector-task-metrics", connector="orders", task="0") is None
    assert counts(worker, "orders") == {"total": 1, "running": 1}


def test_news_of_an_instance_that_never_began_here_change_nothing() -> None:
    worker = Worker()
    stranger = Instance("orders", 0)

    worker.state(stranger, RUNNING)
    worker.state(Instance("orders"), RUNNING)

    assert [reading.group.name for reading in worker.readings()] == [WORKER]


def test_all_that_is_told_has_a_definition() -> None:
    worker = Worker()
    worker.run("orders")
    worker.run("orders", 0)
    worker.run("clicks", 0, kind="sink")

    for reading in worker.readings():
        assert reading.group in GROUPS
        assert set(reading.tags) == set(reading.group.tags)
        assert reading.values.keys() <= reading.group.by_name.keys()


def test_all_that_is_defined_of_tasks_is_told_but_for_transactions() -> None:
    worker = Worker()
    worker.run("orders", 0)
    worker.run("clicks", 0, kind="sink")

    for reading in worker.readings():
        missing = reading.group.by_name.keys() - reading.values.keys()
        assert {name for name in missing if not name.startswith("transaction-size-")} == set()
