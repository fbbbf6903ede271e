"""Numbers of a task between two reports."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from copycat_executor.pipeline.task.measures import Measure, Measures

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
