"""Runs of sink tasks."""

from asyncio import CancelledError

import pytest
from copycat_connect.errors import ConnectError, RetriableError
from copycat_connect.failure_kind import causes
from copycat_executor.pipeline.records.receiver import KafkaMessage
from copycat_executor.pipeline.records.tolerate import ErrorPolicy
from copycat_executor.pipeline.task.control import Ending, Settlement
from copycat_executor.pipeline.task.stages import Stage, StaleTaskError, TaskFailedError
from copycat_executor.pipeline.task.task_link import ReportedState

from tests.unit.pipeline.fakes import (
    FakeMessage,
)
from tests.unit.pipeline.sink_world import A, B, World


def test_a_task_reports_that_it_runs_puts_and_is_drained() -> None:
    world = World(FakeMessage(0, b"a"), FakeMessage(1, b"b"))

    world.run()

    assert world.link.states == [ReportedState.RUNNING]
    assert world.task.values == ["a", "b"]
    assert world.task.calls[:2] == ["start", "open"]
    assert world.task.calls[-3:] == ["pre_commit", "close", "stop"]
    assert world.link.sinks == [{A: 2}]
    assert world.link.topics == ["t"]
    assert world.receiver.closed


def test_positions_are_acknowledged_after_the_task_flushed() -> None:
    world = World(FakeMessage(0, b"a"))
    world.task.answer = lambda offsets: {A: offsets[A] - 1}

    world.run()

    assert world.link.sinks == []


def test_the_task_is_also_given_nothing_now_and_then() -> None:
    world = World()
    world.until(3.0)

    world.run()

    assert world.task.calls.count("put nothing") >= 3


def test_the_first_commit_comes_soon_after_the_first_data() -> None:
    world = World(FakeMessage(0, b"a"))
    world.until(1.0)

    world.run()

    assert world.link.sinks == [{A: 1}]
    assert world.task.calls.index("pre_commit") < len(world.task.calls) - 3


def test_a_batch_the_sink_cannot_take_now_is_given_again_as_it_is() -> None:
    world = World(FakeMessage(0, b"a"), FakeMessage(1, b"b"))
    world.task.fails["put"] = [RetriableError("away"), RetriableError("away")]

    world.run()

    assert world.task.calls.count("put") == 3
    assert world.task.values == ["a", "b"]
    assert world.link.sinks == [{A: 2}]


@pytest.mark.parametrize("error", [SystemExit(3), KeyboardInterrupt(), GeneratorExit(), CancelledError()])
@pytest.mark.parametrize(
    ("call", "stage"), [("start", Stage.START), ("open", Stage.START), ("put", Stage.TASK_PUT)]
)
def test_whatever_a_task_raises_fails_it_and_all_is_closed(
    call: str, stage: Stage, error: BaseException
) -> None:
    world = World(FakeMessage(0, b"a"))
    world.task.fails[call] = [error]

    with pytest.raises(TaskFailedError) as failed:
        world.run()

    assert failed.value.stage is stage
    assert error in causes(failed.value)
    assert world.task.calls[-2:] == ["close", "stop"]
    assert world.receiver.closed


@pytest.mark.parametrize("call", ["close", "stop"])
def test_a_task_that_raises_at_its_end_leaves_nothing_open(call: str) -> None:
    world = World(FakeMessage(0, b"a"))
    world.task.fails[call] = [SystemExit(3)]

    world.run()

    assert world.receiver.closed


def test_a_flush_that_exits_is_one_that_failed_and_is_tried_again() -> None:
    world = World(FakeMessage(0, b"a"))
    world.task.fails["pre_commit"] = [SystemExit(3)]
    world.until(15.0)

    world.run()

    assert world.link.sinks == [{A: 1}]


def test_the_task_says_when_it_wants_the_batch_again() -> None:
    world = World(FakeMessage(0, b"a"))
    world.task.fails["put"] = [RetriableError("away")]
    original = world.task._called

    def called(what: str) -> None:
        if what == "put":
            world.task.context.timeout(3000)
        original(what)

    world.task._called = called  # type: ignore[method-assign]  # the fake gets its behaviour here
    start = world.clock.now
    world.run()

    assert world.clock.now - start >= 3.0


def test_a_task_that_refuses_a_put_of_nothing_is_not_asked_again_before_it_wants_to_be() -> None:
    world = World(FakeMessage(0, b"a"))
    original, asked = world.task._called, list[float]()

    def called(what: str) -> None:
        if what == "put nothing":
            asked.append(world.clock.now)
            if len(asked) <= 2:  # what it took before could not be written
                world.task.context.timeout(3000)
                raise RetriableError("away")
        original(what)

    world.task._called = called  # type: ignore[method-assign]  # the fake gets its behaviour here
    world.until(12.0)
    world.run()

    assert asked[1] - asked[0] >= 3.0
    assert asked[2] - asked[1] >= 3.0


def test_a_batch_that_was_never_taken_is_not_acknowledged() -> None:
    world = World(FakeMessage(0, b"a"), FakeMessage(1, b"b"))
    world.task.fails["put"] = [RetriableError("away")] * 99
    world.until(2.0)

    world.run(most=1)

    assert world.link.sinks == []


def test_an_error_of_put_fails_the_task_and_what_came_before_is_committed() -> None:
    world = World(FakeMessage(0, b"a"), FakeMessage(1, b"b"))

    def breaks() -> None:
        world.task.fails.setdefault("put", [ValueError("broken")])

    world.task.on_put = breaks

    with pytest.raises(TaskFailedError) as raised:
        world.run(most=1)

    assert raised.value.stage is Stage.TASK_PUT
    assert str(raised.value.__cause__) == "Exiting WorkerSinkTask due to unrecoverable exception."
    assert world.link.sinks == [{A: 1}]
    assert world.task.calls[-2:] == ["close", "stop"]


def test_a_bad_message_fails_the_task_and_nothing_of_its_batch_is_put() -> None:
    world = World(FakeMessage(0, b"a"), FakeMessage(1, b"bad"))

    with pytest.raises(TaskFailedError) as raised:
        world.run()

    assert raised.value.stage is Stage.VALUE_CONVERTER
    assert world.task.values == []
    assert world.link.sinks == []


def test_a_tolerated_bad_message_is_passed_over_for_good() -> None:
    world = World(FakeMessage(0, b"a"), FakeMessage(1, b"bad"))
    world.policy = ErrorPolicy(tolerate_all=True)

    world.run()

    assert world.task.values == ["a"]
    assert world.link.sinks == [{A: 2}]
    assert world.link.total("total-records-skipped") == 1


def test_a_flush_that_fails_takes_the_task_back_to_the_last_commit() -> None:
    world = World(FakeMessage(0, b"a"), FakeMessage(1, b"b"))
    world.task.fails["pre_commit"] = [ConnectError("disk full")]
    world.until(2.0)

    world.run()

    assert world.receiver.sought == [{A: 0}]
    assert world.task.values == ["a", "b", "a", "b"]
    assert world.link.sinks == [{A: 2}]


def test_a_task_may_continue_elsewhere() -> None:
    world = World(FakeMessage(0, b"a"), FakeMessage(1, b"b"))
    again = [{A: 0}]
    world.task.on_put = lambda: world.task.context.offset(again.pop()) if again else None

    world.run()

    assert world.task.values == ["a", "b", "a", "b"]


def test_a_task_may_ask_for_a_commit() -> None:
    world = World(FakeMessage(0, b"a"), FakeMessage(1, b"b"))
    world.task.on_put = lambda: world.task.context.request_commit()  # noqa: PLW0108  # no context yet

    world.run(most=1)

    assert world.link.sinks == [{A: 1}, {A: 2}]


def test_a_task_may_pause_partitions_of_its_own_only() -> None:
    world = World(FakeMessage(0, b"a"), FakeMessage(1, b"b"))
    world.task.on_put = lambda: world.task.context.pause([A])

    world.run(most=1)

    assert world.task.values == ["a"]
    with pytest.raises(ConnectError, match="may not pause partitions"):
        world.task.context.pause([B])


def test_a_paused_task_is_started_and_given_nothing() -> None:
    world = World(FakeMessage(0, b"a"), paused=True)
    world.until(1.0)

    world.run()

    assert world.link.states == [ReportedState.PAUSED]
    assert world.task.values == []
    assert "open" in world.task.calls


def test_a_resumed_task_goes_on_except_where_it_paused_itself() -> None:
    world = World(FakeMessage(0, b"a"), FakeMessage(0, b"x", partition_=1))
    world.partitions = {A: None, B: None}
    world.control.set_paused(True)
    end = world.clock.now + 2.0

    def later() -> None:
        if world.link.states == [ReportedState.PAUSED]:
            world.task.context.pause([B])
            world.control.set_paused(False)
        elif world.clock.now >= end:
            world.control.stop()

    world.receiver.on_empty = later
    world.run()

    assert world.link.states == [ReportedState.PAUSED, ReportedState.RUNNING]
    assert world.task.values == ["a"]


def test_a_stale_generation_ends_the_task_without_a_last_commit() -> None:
    world = World(FakeMessage(0, b"a"))
    world.task.on_put = lambda: world.control.settle(Settlement(1, "stale", stale=True))

    with pytest.raises(StaleTaskError):
        world.run()

    assert world.link.sinks == []
    assert world.task.calls[-2:] == ["close", "stop"]


def test_a_task_of_a_lost_executor_commits_nothing() -> None:
    world = World(FakeMessage(0, b"a"))
    world.task.on_put = lambda: world.control.stop(Ending.DROP)

    world.run()

    assert world.link.sinks == []


def test_reading_continues_at_the_committed_position() -> None:
    world = World(FakeMessage(0, b"a"), FakeMessage(1, b"b"))
    world.partitions = {A: 1}

    world.run()

    assert world.task.values == ["b"]


def test_a_task_waits_for_a_kafka_that_is_away() -> None:
    world = World(FakeMessage(0, b"a"))
    world.receiver.away = 2

    world.run()

    assert world.task.values == ["a"]


def test_a_task_that_is_stopped_while_kafka_is_away_ends() -> None:
    world = World(FakeMessage(0, b"a"))
    world.receiver.away = 99
    world.control.on_wait = world.control.stop

    world.run()

    assert world.link.states == []
    assert world.task.calls[-1] == "stop"


def test_a_task_at_rest_waits_longer_for_records_and_one_that_moves_does_not() -> None:
    world = World(FakeMessage(0, b"a"))
    waits = noted_waits(world, seconds=10.0)
    world.run()
    assert max(waits[:5]) <= 0.1
    assert max(waits[-5:]) > 0.1
    assert max(waits) <= 0.5  # it is stopped only between two


def test_a_paused_task_waits_for_its_resume_and_not_for_kafka() -> None:
    world = World()
    world.control.set_paused(True)
    waits = noted_waits(world, seconds=10.0)
    world.run()
    assert max(waits) == 0.0
    assert len(waits) < 20
    assert len(world.control.waits) >= len(waits)


def noted_waits(world: World, *, seconds: float) -> list[float]:
    """Return the seconds that the task waits for Kafka, until it is stopped after so many."""
    waits: list[float] = []
    read, end = world.receiver.read, world.clock.now + seconds

    def noted(most: int, seconds: float) -> list[KafkaMessage]:
        waits.append(seconds)
        return read(most, seconds)

    def stop() -> None:
        if world.clock.now >= end:
            world.control.stop()

    world.receiver.read = noted  # type: ignore[method-assign]
    world.receiver.on_empty = stop
    return waits
