"""What librdkafka reports of a client, as measures of its task."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from copycat_executor.kafka.client_statistics import ConsumerStatistics, ProducerStatistics
from copycat_executor.pipeline.task.measures import Measures

NOTHING = {"cnt": 0, "sum": 0, "min": 0, "max": 0}


def broker(**more: Any) -> dict[str, Any]:
    return {"state": "UP", "waitresp_cnt": 0, "throttle": NOTHING, "int_latency": NOTHING, **more}


def report(name: str = "rdkafka#producer-1", **more: Any) -> dict[str, Any]:
    counts = {"tx": 5, "rx": 4, "tx_bytes": 900, "rx_bytes": 70, "txmsgs": 10}
    sizes = {"msg_size": 40, "msg_size_max": 100}
    return {"name": name, "brokers": {"b": broker()}, "topics": {}, **counts, **sizes, **more}


def told(statistics: ProducerStatistics | ConsumerStatistics, found: Mapping[str, Any] | str) -> None:
    """Have a client report."""
    callback = statistics.settings["stats_cb"]
    assert callable(callback)
    callback(found if isinstance(found, str) else json.dumps(found))


@pytest.fixture
def measures() -> Measures:
    return Measures(lambda: 0.0)


def test_what_only_rises_is_noted_by_what_it_rose(measures: Measures) -> None:
    statistics = ProducerStatistics(measures, 1000)
    told(statistics, report())
    told(statistics, report(tx=7, tx_bytes=1000))

    noted = measures.take()
    assert {name: noted[name].total for name in noted if name.startswith("client-")} == {
        "client-connection-count": 1,
        "client-request": 7,
        "client-response": 4,
        "client-outgoing-byte": 1000,
        "client-incoming-byte": 70,
        "client-throttle-time": 0,
    }
    assert noted["producer-record-send"].total == 10


def test_a_client_that_takes_the_place_of_another_counts_from_zero(measures: Measures) -> None:
    statistics = ProducerStatistics(measures, 1000)
    told(statistics, report())
    told(statistics, report("rdkafka#producer-2", txmsgs=3))

    assert measures.take()["producer-record-send"].total == 13


def test_a_client_at_rest_has_nothing_to_report(measures: Measures) -> None:
    statistics = ProducerStatistics(measures, 1000)
    told(statistics, report())
    measures.take()
    told(statistics, report())

    assert measures.take() == {}


def test_throttling_that_lasts_is_noted_again_and_again(measures: Measures) -> None:
    statistics = ProducerStatistics(measures, 1000)
    throttled = report(brokers={"b": broker(throttle={"cnt": 2, "sum": 60, "min": 20, "max": 40})})
    for _ in range(2):
        told(statistics, throttled)
        assert measures.take()["client-throttle-time"].highest == 40


def test_batches_waits_and_buffers_of_a_producer(measures: Measures) -> None:
    waited = {"cnt": 3, "sum": 9_000, "min": 1_000, "max": 5_000}
    sizes = {"batchsize": {"cnt": 2, "sum": 300, "min": 100, "max": 200}}
    found = report(
        brokers={"a": broker(int_latency=waited, waitresp_cnt=2), "b": broker(state="DOWN", waitresp_cnt=1)},
        topics={"t": sizes, "u": {"batchsize": NOTHING}},
    )
    told(ProducerStatistics(measures, 1000), found)

    noted = measures.take()
    assert noted["producer-record-queue-time"].highest == 5.0
    batches = noted["producer-batch-size"]
    assert (batches.count, batches.total, batches.highest, batches.lowest) == (2, 300, 200, 100)
    assert noted["producer-requests-in-flight"].last == 3
    assert noted["producer-buffer-total-bytes"].last == 100
    assert noted["producer-buffer-available-bytes"].last == 60
    assert noted["client-connection-count"].last == 1


@pytest.mark.parametrize(("committed_only", "lag"), [(False, 30), (True, 25)])
def test_a_consumer_is_behind_by_its_worst_partition(
    measures: Measures, committed_only: bool, lag: int
) -> None:
    partitions = {
        "-1": {"hi_offset": -1001, "ls_offset": -1001, "app_offset": -1001},
        "0": {"hi_offset": 50, "ls_offset": 45, "app_offset": 20},
        "1": {"hi_offset": 9, "ls_offset": 9, "app_offset": 9},
        "2": {"hi_offset": 900, "ls_offset": 900, "app_offset": -1001},
    }
    statistics = ConsumerStatistics(measures, 1000, committed_only=committed_only)
    told(statistics, report("rdkafka#consumer-1", topics={"t": {"partitions": partitions}}))

    assert measures.take()["consumer-records-lag"].highest == lag


def test_a_report_that_is_not_understood_harms_nobody(
    measures: Measures, caplog: pytest.LogCaptureFixture
) -> None:
    told(ProducerStatistics(measures, 1000), "{}")

    assert "not understood" in caplog.text


def test_a_client_that_is_not_to_report_is_made_as_before(measures: Measures) -> None:
    assert ProducerStatistics(measures, 0).settings == {}
