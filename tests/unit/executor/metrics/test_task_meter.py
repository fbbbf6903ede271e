"""What a worker reports about its tasks."""

from __future__ import annotations

from math import isnan

import pytest
from copycat.host.v1 import host_service_pb2 as pb
from copycat_telemetry.metrics.definitions import Value

from tests.unit.executor.metrics.seen import (
    FAILED,
    PAUSED,
    RUNNING,
    Worker,
    made_of,
    measure,
)

TASK, SOURCE, SINK = "connector-task-metrics", "source-task-metrics", "sink-task-metrics"
ERRORS = "task-error-metrics"


def told(worker: Worker, group: str = TASK, **more: str) -> dict[str, Value]:
    found = worker.told(group, connector="orders", task="0", **more)
    assert found is not None
    return found


def test_a_task_on_its_way_is_unassigned() -> None:
    worker = Worker()

    worker.begin("orders", 0)

    assert told(worker)["status"] == "unassigned"
    assert (told(worker)["running-ratio"], told(worker)["pause-ratio"]) == (0, 0)


def test_ratios_are_shares_of_the_time_since_the_task_began() -> None:
    worker = Worker()
    task = worker.begin("orders", 0)
    worker.now += 10
    worker.state(task, RUNNING)
    worker.now += 50
    worker.state(task, PAUSED)
    worker.now += 20
    worker.state(task, RUNNING)
    worker.now += 20

    assert told(worker)["status"] == "running"
    assert told(worker)["running-ratio"] == pytest.approx(0.7)
    assert told(worker)["pause-ratio"] == pytest.approx(0.2)


def test_a_task_that_was_never_measured_has_no_means_and_no_totals() -> None:
    worker = Worker()
    worker.run("orders", 0)

    common, source = told(worker), told(worker, SOURCE)

    assert isnan(float(common["batch-size-avg"]))
    assert isnan(float(common["offset-commit-max-time-ms"]))
    assert isnan(float(source["poll-batch-avg-time-ms"]))
    assert (source["source-record-poll-total"], source["source-record-poll-rate"]) == (0, 0)
    assert (common["offset-commit-success-percentage"], common["offset-commit-failure-percentage"]) == (0, 0)


def test_measures_become_rates_totals_means_and_maxima() -> None:
    worker = Worker()
    task = worker.run("orders", 0)
    worker.measured(task, [measure("source-record-poll", 10, 20), measure("batch-size", 10, 20)])
    worker.measured(task, [measure("source-record-poll", 30), measure("poll-batch-time-ms", 4, 8)])

    common, source = told(worker), told(worker, SOURCE)

    assert source["source-record-poll-total"] == 60
    assert source["source-record-poll-rate"] == pytest.approx(60 / 30)
    assert (common["batch-size-max"], common["batch-size-avg"]) == (20, 15)
    assert (source["poll-batch-max-time-ms"], source["poll-batch-avg-time-ms"]) == (8, 6)


def test_a_level_is_its_newest_value_however_old() -> None:
    worker = Worker()
    task = worker.run("orders", 0)
    worker.measured(task, [measure("source-record-active-count", 5, 1, 3)])
    now = told(worker, SOURCE)
    worker.now += 1000
    later = told(worker, SOURCE)

    assert [now[f"source-record-active-count{end}"] for end in ("", "-max", "-avg")] == [3, 5, 3]
    assert later["source-record-active-count"] == 3
    assert isnan(float(later["source-record-active-count-max"]))


def test_commits_are_shared_out_between_success_and_failure() -> None:
    worker = Worker()
    task = worker.run("orders", 0)
    worker.measured(task, [measure("offset-commit-time-ms", 10, 20, 60), measure("offset-commit-failure", 1)])

    found = told(worker)

    assert (found["offset-commit-max-time-ms"], found["offset-commit-avg-time-ms"]) == (60, 30)
    assert found["offset-commit-success-percentage"] == 0.75
    assert found["offset-commit-failure-percentage"] == 0.25


def test_a_sink_task_tells_of_its_puts_and_partitions() -> None:
    worker = Worker()
    task = worker.run("orders", 0, kind="sink")
    worker.measured(
        task,
        [
            measure("sink-record-read", 7), measure("sink-record-send", 5), measure("partition-count", 3),
            measure("sink-record-lag", 9, 4), measure("offset-commit-seq-no", 1, 2),
            measure("offset-commit-completion", 1, 1), measure("offset-commit-skip", 1),
        ],
    )  # fmt: skip

    found = told(worker, SINK)

    names = (
        "sink-record-read-total", "sink-record-send-total", "partition-count", "sink-record-lag-max",
        "offset-commit-seq-no", "offset-commit-completion-total", "offset-commit-skip-total",
    )  # fmt: skip
    assert [found[name] for name in names] == [7, 5, 3, 4, 2, 2, 1]
    assert worker.told(SOURCE, connector="orders", task="0") is None


def test_a_task_whose_plugins_are_not_known_is_neither_source_nor_sink() -> None:
    worker = Worker()
    worker.state(worker.begin("orders", 0), FAILED)

    assert told(worker)["status"] == "failed"
    assert told(worker, ERRORS)["total-record-errors"] == 0
    for group in (SOURCE, SINK):
        assert worker.told(group, connector="orders", task="0") is None


def test_a_task_names_its_plugins_and_their_versions() -> None:
    worker = Worker()
    worker.run("orders", 0)

    found = told(worker)

    roles = ("connector", "task", "key-converter", "value-converter", "header-converter")
    assert [(found[f"{role}-class"], found[f"{role}-version"]) for role in roles] == [
        ("Clock", "1.2"), ("ClockTask", "1.2"), ("Text", "4.0"), ("Json", "4.1"), ("Simple", "undefined"),
    ]  # fmt: skip
    assert found["connector-type"] == "source"


def test_transformations_and_predicates_are_told_by_their_aliases() -> None:
    worker = Worker()
    task = worker.begin("orders", 0)
    worker.plugins(
        task,
        [
            *made_of(),
            pb.PluginInUse(role="transform", alias="first", class_name="Cast", version="4.3"),
            pb.PluginInUse(role="transform", alias="then", class_name="Cast", version="4.3"),
            pb.PluginInUse(role="predicate", alias="first", class_name="Tombstone", version="4.2"),
        ],
    )

    cast = {"transform-class": "Cast", "transform-version": "4.3"}
    assert told(worker, "connector-transform-metrics", transform="first") == cast
    assert told(worker, "connector-transform-metrics", transform="then") == cast
    predicate = told(worker, "connector-predicate-metrics", predicate="first")
    assert predicate == {"predicate-class": "Tombstone", "predicate-version": "4.2"}
    assert not {"transform-class", "predicate-class"} & told(worker).keys()


def test_the_time_of_the_last_error_is_the_time_of_day() -> None:
    worker = Worker()
    task = worker.run("orders", 0)
    assert told(worker, ERRORS)["last-error-timestamp"] == 0

    worker.measured(task, [measure("total-record-failures", 1), measure("total-record-errors", 1)])
    failed_at = worker.wall * 1000
    worker.wall += 60
    worker.measured(task, [measure("batch-size", 1)])

    assert told(worker, ERRORS)["last-error-timestamp"] == failed_at


def test_an_attempt_that_is_repeated_is_no_error_yet() -> None:
    """Kafka Connect notes the time in `markAsFailed`, of records that failed for good."""
    worker = Worker()
    task = worker.run("orders", 0)

    worker.measured(task, [measure("total-record-failures", 1), measure("total-retries", 1)])

    found = told(worker, ERRORS)
    assert (found["total-record-failures"], found["total-retries"], found["last-error-timestamp"]) == (
        1,
        1,
        0,
    )


def test_a_failed_task_keeps_its_metrics_while_it_is_on_the_board() -> None:
    worker = Worker()
    task = worker.run("orders", 0)
    worker.measured(task, [measure("source-record-poll", 10)])
    worker.state(task, FAILED)
    worker.now += 1000

    assert told(worker)["status"] == "failed"
    assert told(worker, SOURCE)["source-record-poll-total"] == 10

    worker.leave(task)
    assert worker.told(SOURCE, connector="orders", task="0") is None


def test_a_task_that_starts_again_begins_from_0() -> None:
    worker = Worker()
    task = worker.run("orders", 0)
    worker.measured(task, [measure("source-record-poll", 10), measure("total-record-errors", 1)])
    worker.leave(task)
    worker.now += 10

    worker.run("orders", 0)

    assert told(worker, SOURCE)["source-record-poll-total"] == 0
    assert told(worker, ERRORS)["last-error-timestamp"] == 0
    worker.now += 1
    assert told(worker)["running-ratio"] == 1


def test_a_kafka_client_is_told_once_it_has_reported_and_as_long_as_its_task_runs() -> None:
    worker = Worker()
    task = worker.run("orders", 0)

    def client_told() -> dict[str, Value] | None:
        tags = {"client-id": "connector-producer-orders-0", "connector": "orders", "task": "0"}
        return worker.told("producer-metrics", **tags)

    assert client_told() is None
    worker.measured(task, [measure("client-connection-count", 2), measure("producer-record-send", 10, 20)])
    found = client_told()
    assert found is not None
    assert (found["record-send-total"], found["connection-count"]) == (30, 2)
    worker.state(task, FAILED)
    assert client_told() is None
