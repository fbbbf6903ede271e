"""What sink tasks are given, where they begin and what is committed, under each guarantee of delivery."""

import pytest
from copycat_connect.errors import ConnectError, RetriableError
from copycat_executor.pipeline.records.receiver import KafkaMessage
from copycat_executor.pipeline.sink.sink_guarantees import AtMostOnceSink, ExactlyOnceSink
from copycat_executor.pipeline.task.stages import Stage, StaleTaskError, TaskFailedError

from tests.unit.pipeline.fakes import FakeMessage
from tests.unit.pipeline.sink_world import A, B, World


@pytest.fixture
def most() -> World:
    world = World(FakeMessage(0, b"a"), FakeMessage(1, b"b"))
    world.delivery = AtMostOnceSink
    return world


@pytest.fixture
def exact() -> World:
    world = World(FakeMessage(0, b"a"), FakeMessage(1, b"b"))
    world.delivery = ExactlyOnceSink
    return world


# ---- At most once.


def test_at_most_once_a_batch_is_put_after_its_positions_were_committed(most: World) -> None:
    seen: list[object] = []
    most.task.on_put = lambda: seen.append(most.link.sinks[-1])

    most.run(most=1)

    assert seen[:2] == [{A: 1}, {A: 2}]
    assert most.task.values == ["a", "b"]


def test_at_most_once_nothing_is_put_while_a_commit_is_under_way(most: World) -> None:
    read = most.receiver.read

    def deaf(count: int, seconds: float) -> list[KafkaMessage]:
        most.link.control = None
        return read(count, seconds)

    most.receiver.read = deaf  # type: ignore[method-assign, assignment]  # the fake gets its behaviour here
    end = most.clock.now + 60
    most.control.on_wait = lambda: most.control.stop() if most.clock.now >= end else None

    most.run()

    assert most.task.values == []
    assert most.link.sinks[-1] == {A: 2}


def test_at_most_once_begins_at_the_groups_position_once_no_older_task_can_commit(most: World) -> None:
    most.partitions = {A: 0}
    most.receiver.group = {A: 1}

    most.run()

    assert most.link.sinks[0] == {}
    assert most.task.values == ["b"]


def test_at_most_once_a_flush_that_fails_repeats_nothing(most: World) -> None:
    most.task.fails["pre_commit"] = [ConnectError("disk full")]
    most.until(2.0)

    most.run()

    assert most.receiver.sought == []
    assert most.task.values == ["a", "b"]


def test_at_most_once_a_batch_that_was_not_taken_is_given_again(most: World) -> None:
    most.task.fails["put"] = [RetriableError("away")]

    most.run()

    assert most.task.values == ["a", "b"]
    assert most.link.sinks == [{}, {A: 2}]


def test_at_most_once_an_error_of_put_loses_the_batch(most: World) -> None:
    most.task.fails["put"] = [ValueError("broken")]

    with pytest.raises(TaskFailedError):
        most.run()

    assert most.link.sinks == [{}, {A: 2}]


def test_at_most_once_a_record_that_fails_to_convert_is_committed_before(most: World) -> None:
    most.receiver.messages.append(FakeMessage(2, b"bad"))

    with pytest.raises(TaskFailedError) as raised:
        most.run()

    assert raised.value.stage is Stage.VALUE_CONVERTER
    assert most.link.sinks == [{}, {A: 3}]


def test_at_most_once_a_task_cannot_go_back(most: World) -> None:
    again = [{A: 0}]
    most.task.on_put = lambda: most.task.context.offset(again.pop()) if again else None

    most.run()

    assert most.task.values == ["a", "b"]


def test_at_most_once_a_refused_commit_fails_the_task_and_says_why(most: World) -> None:
    most.task.on_put = lambda: setattr(most.link, "error", "no right to commit")

    with pytest.raises(TaskFailedError) as raised:
        most.run(most=1)

    assert most.task.values == ["a"]
    assert raised.value.stage is Stage.FLUSH
    assert "delivery.guarantee" in str(raised.value.__cause__)
    assert "no right to commit" in str(raised.value.__cause__)


def test_at_most_once_a_stale_task_gets_nothing(most: World) -> None:
    most.task.on_put = lambda: setattr(most.link, "stale", True)

    with pytest.raises(StaleTaskError):
        most.run(most=1)

    assert most.task.values == ["a"]


# ---- Exactly once.


def test_exactly_once_reading_begins_at_the_tasks_positions_whatever_the_group_says(exact: World) -> None:
    exact.partitions = {A: 2}
    exact.receiver.group = {A: 2}
    exact.task.stored = {A: 1, B: 7}

    exact.run()

    assert exact.task.calls[:3] == ["start", "stored_positions", "open"]
    assert exact.task.values == ["b"]
    assert exact.link.sinks == [{}, {A: 1}, {A: 2}]


def test_exactly_once_a_partition_the_task_does_not_know_begins_at_the_groups_position(exact: World) -> None:
    exact.partitions = {A: None, B: None}
    exact.receiver.messages.append(FakeMessage(0, b"x", partition_=1))
    exact.receiver.group = {A: 1}
    exact.task.stored = {}

    exact.run()

    assert exact.task.values == ["b", "x"]


def test_exactly_once_where_a_partition_begins_is_committed_before_its_first_record_is_put(
    exact: World,
) -> None:
    first: list[object] = []
    exact.task.on_put = lambda: first.append(list(exact.link.sinks))

    exact.run()

    assert first[0] == [{}, {A: 0}]


def test_exactly_once_a_task_that_is_not_the_newest_is_never_started(exact: World) -> None:
    exact.link.stale = True

    with pytest.raises(StaleTaskError):
        exact.run()

    assert "start" not in exact.task.calls


def test_exactly_once_the_group_follows_what_the_task_made_durable(exact: World) -> None:
    exact.task.answer = lambda offsets: {A: offsets[A] - 1}

    exact.run()

    assert exact.link.sinks[-1] == {A: 1}


def test_exactly_once_a_flush_that_fails_takes_the_task_back_to_its_own_positions(exact: World) -> None:
    exact.task.stored = {A: 0}
    exact.task.fails["pre_commit"] = [ConnectError("disk full")]
    exact.until(2.0)

    exact.run()

    assert exact.task.calls.count("stored_positions") == 2
    assert exact.receiver.sought == [{A: 0}]
    assert exact.task.values == ["a", "b", "a", "b"]


def test_exactly_once_a_batch_that_waits_is_forgotten_when_reading_goes_back(exact: World) -> None:
    exact.task.stored = {A: 0}

    def waits_and_cannot_flush() -> None:
        if exact.task.values == ["a"]:
            exact.task.fails |= {"put": [RetriableError("away")] * 4, "pre_commit": [ConnectError("full")]}

    exact.task.on_put = waits_and_cannot_flush
    exact.until(3.0)

    exact.run(most=1)

    assert exact.task.values == ["a", "a", "b"]


def test_exactly_once_a_stale_task_whose_flush_failed_does_not_come_back(exact: World) -> None:
    exact.task.fails["pre_commit"] = [ConnectError("taken over")]
    exact.task.on_put = lambda: setattr(exact.link, "stale", True)
    exact.until(2.0)

    with pytest.raises(StaleTaskError):
        exact.run()

    assert exact.task.calls.count("stored_positions") == 1


def test_exactly_once_nothing_is_flushed_after_a_failure(exact: World) -> None:
    exact.task.on_put = lambda: exact.task.fails.update(put=[ValueError("broken")])

    with pytest.raises(TaskFailedError):
        exact.run(most=1)

    assert "pre_commit" not in exact.task.calls
    assert exact.task.calls[-2:] == ["close", "stop"]


def test_exactly_once_positions_that_cannot_be_read_fail_the_task(exact: World) -> None:
    exact.task.fails["stored_positions"] = [ConnectError("the journal is another connector's")]

    with pytest.raises(TaskFailedError) as raised:
        exact.run()

    assert raised.value.stage is Stage.START
    assert "another connector's" in str(raised.value.__cause__)


def test_exactly_once_kafka_is_asked_until_it_answers(exact: World) -> None:
    exact.receiver.away = 2

    exact.run()

    assert exact.task.values == ["a", "b"]
