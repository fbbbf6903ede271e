"""Runs of source tasks."""

from collections.abc import Callable

import pytest
from copycat_connect.data import SourceRecord
from copycat_connect.errors import ConnectError, RetriableError
from copycat_executor.pipeline.records.tolerate import ErrorPolicy
from copycat_executor.pipeline.task.control import Ending, Settlement
from copycat_executor.pipeline.task.stages import Stage, StaleTaskError, TaskFailedError
from copycat_executor.pipeline.task.task_link import ReportedState
from copycat_executor.pipeline.task.timing import Timing

from tests.unit.pipeline.source_world import Polled, World, lines, offset


def test_a_task_reports_that_it_runs_delivers_and_is_drained() -> None:
    world = World(lines(2, "a", "b"))

    world.run()

    assert world.link.states == [ReportedState.RUNNING]
    assert world.sender.values == [b"a", b"b"]
    assert world.link.sources == [offset(2)]
    assert world.task.calls[0] == "start"
    assert world.task.calls[-2:] == ["commit", "stop"]
    assert world.sender.closed


def test_offsets_are_acknowledged_only_after_a_flush_and_topics_between() -> None:
    world = World(lines(1, "a"))

    world.run()

    assert world.link.events == ["RUNNING", "flushed", "topics", "acknowledged"]


def test_the_first_commit_comes_soon_after_the_first_data() -> None:
    world = World(lines(1, "a"))

    def passes() -> Polled:
        world.clock.now += 0.5
        return lines(2, "b")

    world.task.script += [passes, lines(3, "c")]
    world.run()

    assert world.link.sources == [offset(2), offset(3)]


def test_nothing_is_acknowledged_while_records_are_not_durable() -> None:
    world = World(lines(1, "a"))
    world.sender.slow = True
    world.sender.on_flush = lambda: setattr(world.clock, "now", world.clock.now + 1)

    world.run()

    assert world.link.sources == []


def test_while_kafka_is_behind_nothing_is_polled_and_then_the_offsets_are_acknowledged() -> None:
    world = World(lines(1, "a"), lines(2, "b"))
    world.sender.slow = True
    polls: list[int] = []

    def flushes() -> None:
        world.clock.now += 1
        polls.append(world.task.calls.count("poll"))
        world.sender.slow = len(polls) < 9

    world.task.script.insert(1, world.later(1))
    world.sender.on_flush = flushes
    world.run()

    assert world.link.sources == [offset(1), offset(2)]
    assert set(polls[:9]) == {2}


def test_a_refused_commit_is_tried_again() -> None:
    world = World(lines(1, "a"))
    world.link.error = "away"

    def passes() -> None:
        world.clock.now += 6

    def heals() -> None:
        world.link.error = ""
        world.clock.now += 6

    world.task.script += [passes, heals]
    world.run()

    assert world.link.sources == [offset(1), offset(1)]


def test_a_commit_without_news_is_told_to_the_task() -> None:
    world = World()
    world.task.script += [world.later(6), world.later(6)]

    world.run()

    assert world.task.calls.count("commit") == 2
    assert world.link.sources == []


def test_a_stale_generation_ends_the_task_without_a_last_commit() -> None:
    world = World(lines(1, "a"))
    world.link.control = None

    def stale() -> Polled:
        world.control.settle(Settlement(1, "stale", stale=True))
        return lines(2, "b")

    world.task.script += [stale]
    with pytest.raises(StaleTaskError):
        world.run()

    assert world.link.sources == []
    assert world.task.calls[-1] == "stop"


def test_a_task_of_a_lost_executor_commits_nothing() -> None:
    world = World(lines(1, "a"))

    def lost() -> None:
        world.control.stop(Ending.DROP)

    world.task.script += [lost]
    world.run()

    assert world.link.sources == []
    assert world.task.calls[-1] == "stop"


def test_a_paused_task_is_started_but_not_polled() -> None:
    world = World(lines(1, "a"), paused=True)
    world.control.on_wait = world.control.stop

    world.run()

    assert world.link.states == [ReportedState.PAUSED]
    assert world.task.calls == ["start", "stop"]


def test_a_task_can_be_paused_and_resumed_and_commits_meanwhile() -> None:
    world = World()

    def pause() -> Polled:
        world.control.set_paused(True)
        return lines(1, "a")

    def resume() -> None:
        if world.link.sources:
            world.control.set_paused(False)

    world.task.script += [pause, lines(2, "b")]
    world.control.on_wait = resume
    world.run()

    assert world.link.states == [ReportedState.RUNNING, ReportedState.PAUSED, ReportedState.RUNNING]
    assert world.link.sources == [offset(1), offset(2)]


def test_a_source_that_is_away_is_polled_again_with_growing_delays() -> None:
    world = World()

    def away() -> Polled:
        raise RetriableError("away")

    world.task.script += [away, away, lines(1, "a")]
    world.run()

    assert world.control.waits[:2] == pytest.approx([0.1, 0.2])
    assert world.sender.values == [b"a"]


@pytest.mark.parametrize(("call", "stage"), [("start", Stage.START), ("poll", Stage.TASK_POLL)])
def test_an_error_of_the_task_fails_it_at_its_stage(call: str, stage: Stage) -> None:
    world = World()
    world.task.fails[call] = ValueError("broken")

    with pytest.raises(TaskFailedError) as raised:
        world.run()

    assert raised.value.stage is stage
    assert isinstance(raised.value.__cause__, ValueError)
    assert world.task.calls[-1] == "stop"
    assert world.sender.closed


def test_what_was_delivered_before_a_failure_is_committed() -> None:
    world = World(lines(1, "a"))

    def broken() -> Polled:
        raise ValueError("broken")

    world.task.script += [broken]
    with pytest.raises(TaskFailedError):
        world.run()

    assert world.link.sources == [offset(1)]


def test_a_record_that_cannot_be_converted_fails_the_task_at_the_converter() -> None:
    world = World([SourceRecord({"f": "x"}, {"p": 1}, "t", 7)])

    with pytest.raises(TaskFailedError) as raised:
        world.run()

    assert raised.value.stage is Stage.VALUE_CONVERTER
    assert str(raised.value.__cause__) == "Tolerance exceeded in error handler"


def lose_a_record(world: World) -> Callable[[], Polled]:
    def lost() -> None:
        world.failures.add(ConnectError("too large"), "message")

    return lost


def test_a_record_that_was_not_written_fails_the_task_and_no_offset_after_it_is_committed() -> None:
    world = World(lines(1, "a"))
    world.task.script += [lose_a_record(world)]

    with pytest.raises(TaskFailedError) as raised:
        world.run()

    assert raised.value.stage is Stage.KAFKA_PRODUCE
    assert str(raised.value.__cause__) == "Unrecoverable exception from producer send callback"
    assert world.link.sources == []


def test_a_record_that_was_not_written_can_be_tolerated() -> None:
    world = World(lines(1, "a"))
    world.policy = ErrorPolicy(tolerate_all=True)
    world.task.script += [lose_a_record(world)]

    world.run()

    assert world.link.sources == [offset(1)]


def test_a_task_that_waits_in_poll_has_its_offsets_committed_meanwhile() -> None:
    world = World(lines(1, "a"))
    seen: list[int] = []

    def waits() -> None:
        world.task.context.wait(1.0)
        seen.append(len(world.link.sources))

    world.task.script += [waits]
    world.run()

    assert seen == [1]


def test_a_drain_leaves_time_for_the_tasks_own_stop() -> None:
    world = World(lines(1, "a"))
    world.timing = Timing(5.0, 60.0, last_commit=3.0)
    world.sender.slow = True
    world.sender.on_flush = lambda: setattr(world.clock, "now", world.clock.now + 1)
    began = world.clock.now

    world.run()

    assert world.clock.now - began < 5.0
    assert world.task.calls[-1] == "stop"


def test_the_last_commit_takes_no_longer_than_a_flush_and_than_most_of_a_drain() -> None:
    drain, flush = "task.shutdown.graceful.timeout.ms", "offset.flush.timeout.ms"

    assert Timing.parse({}).last_commit == 4.0
    assert Timing.parse({flush: "1000"}).last_commit == 1.0
    assert Timing.parse({drain: "1000"}).last_commit == 0.8


def test_a_task_reads_its_offsets_from_the_context() -> None:
    world = World()
    world.link.stored[b'{"f":"x"}'] = b'{"p":7}'
    found: list[object] = []

    def asks() -> None:
        found.append(world.task.context.offset({"f": "x"}))
        found.append(world.task.context.offsets([{"f": "y"}]))

    world.task.script += [asks]
    world.run()

    assert found == [{"p": 7}, [None]]


def test_errors_of_commit_and_stop_do_not_fail_a_task() -> None:
    world = World(lines(1, "a"))
    world.task.fails = {"commit": ValueError("x"), "stop": ValueError("y")}

    world.run()

    assert world.link.sources == [offset(1)]
    assert world.sender.closed


def test_numbers_are_reported_and_garbage_is_collected_at_commits() -> None:
    world = World(lines(2, "a", "b"))

    world.run()

    assert (world.link.total("source-record-poll"), world.link.total("source-record-write")) == (2, 2)
    assert world.tidied >= 1


def test_a_task_waits_for_offsets_that_cannot_be_read_now() -> None:
    world = World()
    world.link.stored[b'{"f":"x"}'] = b'{"p":7}'
    world.link.away = 2
    found: list[object] = []

    def asks() -> None:
        found.append(world.task.context.offset({"f": "x"}))

    world.task.script += [asks]
    world.run()

    assert found == [{"p": 7}]


def test_a_task_that_is_stopped_while_it_waits_for_offsets_ends() -> None:
    world = World()
    world.link.away = 99
    world.control.on_wait = world.control.stop

    def asks() -> None:
        world.task.context.offset({"f": "x"})

    world.task.script += [asks]
    world.run()

    assert world.task.calls[-1] == "stop"


def test_a_task_is_closed_even_if_its_last_numbers_cannot_be_read() -> None:
    world = World(lines(1, "a"))

    def away() -> int:
        raise RuntimeError("Producer closed")

    world.sender.under_way = away  # type: ignore[method-assign] # a producer that is gone
    world.run()

    assert world.task.calls[-1] == "stop"
    assert world.sender.closed
