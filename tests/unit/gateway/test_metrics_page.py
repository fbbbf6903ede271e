"""The page of metrics, read back with Prometheus's own parser."""

from __future__ import annotations

from collections.abc import Iterable
from math import inf, isnan

import pytest
from copycat.metrics.v1 import metrics_service_pb2 as pb
from copycat_gateway.routes.metrics import CONTENT_TYPE, page
from copycat_gateway.scrape import ServiceMetrics
from prometheus_client import Metric
from prometheus_client.parser import text_string_to_metric_families

WHERE = {"service": "executor", "address": "here:1"}
TASK = {"connector": "orders", "task": "0"}
SOURCE_TASK, TASK_ERROR = "source-task-metrics", "task-error-metrics"
NAMES = [
    (SOURCE_TASK, pb.Metric(name="source-record-poll-total", total=1),
     "kafka_connect_source_task_metrics_source_record_poll_total"),
    (SOURCE_TASK, pb.Metric(name="source-record-poll-rate", gauge=1),
     "kafka_connect_source_task_metrics_source_record_poll_rate"),
    ("connector-task-metrics", pb.Metric(name="batch-size-avg", gauge=1),
     "kafka_connect_connector_task_metrics_batch_size_avg"),
    ("sink-task-metrics", pb.Metric(name="sink-record-read-total", total=1),
     "kafka_connect_sink_task_metrics_sink_record_read_total"),
    (TASK_ERROR, pb.Metric(name="total-records-skipped", total=1),
     "kafka_connect_task_error_metrics_total_records_skipped"),
    (TASK_ERROR, pb.Metric(name="deadletterqueue-produce-requests", total=1),
     "kafka_connect_task_error_metrics_deadletterqueue_produce_requests"),
]  # fmt: skip


def reported(*groups: pb.MetricGroup, service: str = "executor", address: str = "here:1") -> ServiceMetrics:
    return ServiceMetrics(service, address, groups)


def group(*metrics: pb.Metric, name: str = SOURCE_TASK, tags: dict[str, str] | None = None) -> pb.MetricGroup:
    return pb.MetricGroup(name=name, tags=TASK if tags is None else tags, metrics=metrics)


def families(*services: ServiceMetrics) -> dict[str, Metric]:
    found = list(text_string_to_metric_families(page(services).decode()))
    names = [family.name for family in found]
    assert len(names) == len(set(names)), "a name is in several families"
    return {family.name: family for family in found}


def samples(families: Iterable[Metric], name: str) -> list[tuple[dict[str, str], float]]:
    return [(each.labels, each.value) for family in families for each in family.samples if each.name == name]


@pytest.mark.parametrize(("of", "metric", "name"), NAMES)
def test_a_metric_has_the_name_that_dashboards_look_for(of: str, metric: pb.Metric, name: str) -> None:
    found = families(reported(group(metric, name=of)))

    assert samples(found.values(), name) == [({**TASK, **WHERE}, 1)]


def test_a_total_is_a_counter_a_level_a_gauge_and_a_total_of_another_name_untyped() -> None:
    found = families(reported(
        group(pb.Metric(name="source-record-poll-total", total=3), pb.Metric(name="x-rate", gauge=1)),
        group(pb.Metric(name="total-retries", total=2), name=TASK_ERROR),
    ))  # fmt: skip

    types = {name: family.type for name, family in found.items() if name.startswith("kafka")}
    assert types == {
        "kafka_connect_source_task_metrics_source_record_poll": "counter",
        "kafka_connect_source_task_metrics_x_rate": "gauge",
        "kafka_connect_task_error_metrics_total_retries": "unknown",
    }


def test_the_state_of_a_connector_is_a_label_under_the_name_that_dashboards_look_for() -> None:
    state = pb.Metric(name="status", text="running")

    found = families(reported(group(state, name="connector-metrics", tags={"connector": "orders"})))

    labels = {"connector": "orders", "status": "running", **WHERE}
    assert samples(found.values(), "kafka_connect_connector_status") == [(labels, 1)]


def test_the_state_of_a_task_is_told_apart_from_that_of_its_connector() -> None:
    state = pb.Metric(name="status", text="failed")

    found = families(reported(group(state, name="connector-task-metrics")))

    labels = {**TASK, "status": "failed", **WHERE}
    assert samples(found.values(), "kafka_connect_connector_task_status") == [(labels, 1)]


def test_any_other_word_is_a_label_as_well() -> None:
    metric = pb.Metric(name="task-class", text="Clock")
    found = families(reported(group(metric, name="connector-task-metrics")))

    name = "kafka_connect_connector_task_metrics_task_class"
    assert samples(found.values(), name) == [({**TASK, "task_class": "Clock", **WHERE}, 1)]


def test_groups_of_one_type_are_told_apart_by_their_tags() -> None:
    counts = pb.Metric(name="connector-running-task-count", gauge=2)
    worker = group(pb.Metric(name="task-count", gauge=2), name="connect-worker-metrics", tags={})
    of_orders = group(counts, name="connect-worker-metrics", tags={"connector": "orders"})

    found = families(reported(worker, of_orders)).values()

    assert samples(found, "kafka_connect_connect_worker_metrics_task_count") == [(WHERE, 2)]
    assert samples(found, "kafka_connect_connect_worker_metrics_connector_running_task_count") == [
        ({"connector": "orders", **WHERE}, 2)
    ]


def test_what_several_processes_tell_stands_together_and_is_told_apart() -> None:
    count = group(pb.Metric(name="task-count", gauge=2), name="connect-worker-metrics", tags={})

    found = families(reported(count), reported(count, address="there:1"))

    told_by = samples(found.values(), "kafka_connect_connect_worker_metrics_task_count")
    assert [labels["address"] for labels, _ in told_by] == ["here:1", "there:1"]


def test_a_service_that_did_not_answer_is_shown_as_down_beside_those_that_did() -> None:
    found = families(reported(), ServiceMetrics("status", "there:1", None))

    assert samples(found.values(), "copycat_service_up") == [
        (WHERE, 1),
        ({"service": "status", "address": "there:1"}, 0),
    ]


def test_nothing_at_all_is_an_empty_page() -> None:
    assert families() == {}


@pytest.mark.parametrize(
    "value", ['the "best"', "two\nlines", "C:\\new", "\\\\n", 'a="b",c="d"} 1', "café ☕", "", " x "]
)
def test_any_value_of_a_label_survives(value: str) -> None:
    rate = group(pb.Metric(name="source-record-poll-rate", gauge=1), tags={"connector": value, "task": "0"})
    class_name = pb.Metric(name="task-class", text=value)

    found = families(reported(rate, group(class_name, name="connector-task-metrics"))).values()

    (labels, _), *more = samples(found, "kafka_connect_source_task_metrics_source_record_poll_rate")
    assert (labels["connector"], more) == (value, [])
    ((labels, _),) = samples(found, "kafka_connect_connector_task_metrics_task_class")
    assert labels["task_class"] == value


@pytest.mark.parametrize("number", [inf, -inf, 0.1, 1e300, 1_700_000_000_123])
def test_any_number_survives(number: float) -> None:
    found = families(reported(group(pb.Metric(name="x", gauge=number))))

    assert samples(found.values(), "kafka_connect_source_task_metrics_x") == [({**TASK, **WHERE}, number)]


def test_what_is_no_number_is_told_as_such() -> None:
    found = families(reported(group(pb.Metric(name="x", gauge=float("nan")))))

    ((_, value),) = samples(found.values(), "kafka_connect_source_task_metrics_x")
    assert isnan(value)


def test_a_metric_that_is_defined_says_what_it_is() -> None:
    found = families(reported(group(pb.Metric(name="source-record-poll-rate", gauge=1))))

    text = found["kafka_connect_source_task_metrics_source_record_poll_rate"].documentation
    assert text == "Records polled a second, before transformations."


def test_the_page_is_text_of_prometheus() -> None:
    assert CONTENT_TYPE.startswith("text/plain; version=")
    assert "charset" not in CONTENT_TYPE
