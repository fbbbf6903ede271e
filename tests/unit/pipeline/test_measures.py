"""Numbers of a task: measures between two reports, commits of offsets, statistics of its Kafka clients."""

from __future__ import annotations

import json
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from copycat_executor.kafka.client_statistics import ConsumerStatistics, ProducerStatistics
from copycat_executor.pipeline.task.measures import CommitMeter, Measure, Measures

from tests.unit.pipeline.fakes import Clock


def test_values_of_one_name_are_reported_together() -> None:
    measures = Measures(Clock())

    for value in (5.0, 1.0, 3.0):
        measures.note("batch-size", value)

    assert measures.take() == {"batch-size": Measure(count=3, total=9, highest=5, lowest=1, last=3)}


def test_what_merely_happened_counts_as_1() -> None:
    measures = Measures(Clock())

    measures.note("total-retries")
    measures.note("total-retries")

    assert measures.take() == {"total-retries": Measure(count=2, total=2, highest=1, lowest=1, last=1)}


def test_what_was_reported_is_not_reported_again() -> None:
    measures = Measures(Clock())
    measures.note("batch-size", 5)
    taken = measures.take()

    measures.note("batch-size", 7)

    assert taken["batch-size"].total == 5
    assert measures.take()["batch-size"].total == 7
    assert measures.take() == {}


def test_values_may_be_negative() -> None:
    measures = Measures(Clock())

    measures.note("drift", -4)

    assert measures.take() == {"drift": Measure(count=1, total=-4, highest=-4, lowest=-4, last=-4)}


def test_a_state_is_reported_only_when_it_changes() -> None:
    measures = Measures(Clock())
    reported = []

    for value in (3, 3, 4, 3):
        measures.note_state("partition-count", value)
        reported.append({name: each.last for name, each in measures.take().items()})

    assert reported == [{"partition-count": 3}, {}, {"partition-count": 4}, {"partition-count": 3}]


def test_a_state_that_begins_at_0_is_reported_once() -> None:
    measures = Measures(Clock())

    measures.note_state("sink-record-lag", 0)
    measures.note_state("sink-record-lag", 0)

    assert measures.take()["sink-record-lag"].count == 1


def test_a_report_is_due_a_second_after_the_one_before() -> None:
    clock = Clock()
    measures = Measures(clock)
    assert not measures.due(1.0)

    clock.now += 1
    assert measures.due(1.0)

    measures.take()
    assert not measures.due(1.0)


def test_what_several_threads_note_is_counted_whole() -> None:
    measures, each = Measures(Clock()), 20_000

    def note_each() -> None:
        for _ in range(each):
            measures.note("errors")

    with ThreadPoolExecutor(4) as threads:
        for _ in range(4):
            threads.submit(note_each)

    assert measures.take()["errors"].count == 4 * each


TIME, FAILURE, SKIP = "offset-commit-time-ms", "offset-commit-failure", "offset-commit-skip"
COMPLETION, NUMBER = "offset-commit-completion", "offset-commit-seq-no"


class World:
    """A meter with its clock."""

    def __init__(self) -> None:
        self.clock = Clock()
        self.measures = Measures(self.clock)
        self.meter = CommitMeter(self.measures)

    def acknowledge(self, sequence: int, *, after: float = 0.0) -> None:
        """Begin a commit and acknowledge its offsets some seconds later."""
        self.meter.begin()
        self.clock.now += after
        self.meter.acknowledged(sequence)

    def settle(self, sequence: int, error: str = "", *, after: float = 0.0) -> None:
        """Have a commit answered some seconds later."""
        self.clock.now += after
        self.meter.settled(sequence, error)

    def totals(self) -> dict[str, float]:
        """Return the sums of what was noted, but for the sequence number."""
        return {name: each.total for name, each in self.measures.take().items() if name != NUMBER}


def test_a_commit_takes_from_its_beginning_to_its_answer() -> None:
    world = World()

    world.acknowledge(1, after=2)
    assert world.totals() == {}
    world.settle(1, after=3)

    assert world.totals() == {COMPLETION: 1, TIME: pytest.approx(5000)}


def test_a_commit_with_nothing_to_commit_has_succeeded() -> None:
    world = World()

    world.meter.begin()
    world.clock.now += 0.5
    world.meter.nothing_new()

    assert world.totals() == {TIME: pytest.approx(500)}


def test_a_commit_that_was_refused_has_failed_and_no_time() -> None:
    world = World()

    world.acknowledge(1)
    world.settle(1, "away", after=3)

    assert world.totals() == {FAILURE: 1}


def test_a_commit_that_never_came_to_be_acknowledged_has_failed() -> None:
    world = World()

    world.meter.begin()
    world.meter.failed()

    assert world.totals() == {FAILURE: 1}


def test_commits_under_way_at_once_keep_their_own_times() -> None:
    world = World()
    world.acknowledge(1)
    world.clock.now += 10
    world.acknowledge(2)

    world.settle(1, after=1)
    world.settle(2, after=1)

    times = world.measures.take()[TIME]
    assert times.count == 2
    assert (times.highest, times.lowest) == pytest.approx((11_000, 2000))


@pytest.mark.parametrize("error", ["", "away"])
def test_an_answer_that_comes_after_that_of_a_later_commit_is_skipped(error: str) -> None:
    world = World()
    world.acknowledge(1)
    world.acknowledge(2)
    world.settle(2)
    world.totals()

    world.settle(1, error)

    assert world.totals() == {SKIP: 1}


def test_a_later_commit_that_failed_supersedes_none() -> None:
    world = World()
    world.acknowledge(1)
    world.acknowledge(2)

    world.settle(2, "away")
    world.settle(1)

    assert world.totals() == {FAILURE: 1, COMPLETION: 1, TIME: 0}


def test_an_answer_to_nothing_is_not_counted() -> None:
    world = World()
    world.acknowledge(1)
    world.settle(1)
    world.totals()

    world.settle(1)
    world.settle(7)

    assert world.totals() == {}


def test_the_number_of_the_newest_commit_is_told_before_its_answer() -> None:
    world = World()

    world.acknowledge(1)
    world.acknowledge(2)

    assert world.measures.take()[NUMBER].last == 2


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
