"""How far a sink task got, what its run counts, and what it reads of topics that were made anew."""

from __future__ import annotations

import pytest
from copycat_connect.cluster import TopicPartition
from copycat_connect.errors import ConfigError, RetriableError
from copycat_executor.pipeline.records.tolerate import ErrorPolicy
from copycat_executor.pipeline.sink.sink_delivery import SinkDelivery, SinkProgress
from copycat_executor.pipeline.sink.sink_guarantees import AtLeastOnceSink, AtMostOnceSink, ExactlyOnceSink
from copycat_executor.pipeline.task.stages import TaskFailedError

from tests.unit.pipeline.fakes import (
    FakeMessage,
)
from tests.unit.pipeline.sink_world import A, B, World


def test_a_partition_of_which_nothing_was_read_stays_where_it_began() -> None:
    assert SinkProgress({A: 5, B: 0}).put({A: 9}, ()) == {A: 9, B: 0}


def test_messages_the_task_did_not_take_do_not_count() -> None:
    unput = [FakeMessage(7, b""), FakeMessage(8, b""), FakeMessage(3, b"", partition_=1)]

    assert SinkProgress({A: 5, B: 0}).put({A: 9, B: 4}, unput) == {A: 7, B: 3}


def test_what_the_task_says_is_durable_is_committed_but_not_more_than_it_was_given() -> None:
    positions = SinkProgress({A: 5, B: 0})

    assert positions.durable({A: 8, B: 99, TopicPartition("x", 0): 1}, {A: 9, B: 4}) == {A: 8}


def test_nothing_durable_commits_nothing() -> None:
    positions = SinkProgress({A: 5})

    assert positions.durable(None, {A: 9}) == {}
    assert positions.durable({}, {A: 9}) == {}


def test_what_is_committed_already_or_on_its_way_is_not_committed_again() -> None:
    positions = SinkProgress({A: 5})
    assert positions.durable({A: 5}, {A: 5}) == {}

    positions.acknowledge({A: 9})

    assert positions.durable({A: 9}, {A: 9}) == {}
    assert positions.unsettled


def test_a_settled_position_is_where_the_task_goes_back_to() -> None:
    positions = SinkProgress({A: 5})
    positions.settle(positions.acknowledge({A: 9}), "")

    assert positions.committed == {A: 9}
    assert not positions.unsettled


def test_a_refused_position_is_tried_again() -> None:
    positions = SinkProgress({A: 5})
    positions.settle(positions.acknowledge({A: 9}), "away")

    assert positions.committed == {A: 5}
    assert positions.durable({A: 9}, {A: 9}) == {A: 9}


def test_after_going_back_the_position_is_the_one_sought() -> None:
    positions = SinkProgress({A: 5})

    positions.rewind({A: 2})

    assert positions.put({}, ()) == {A: 2}


def test_a_task_is_closed_even_if_its_last_numbers_cannot_be_read() -> None:
    world = World(FakeMessage(0, b"a"))

    def away() -> int:
        raise RuntimeError("Consumer closed")

    world.receiver.lag = away  # type: ignore[method-assign] # a consumer that is gone
    world.run()

    assert world.task.calls[-2:] == ["close", "stop"]
    assert world.receiver.closed


def test_a_task_counts_what_it_read_put_and_committed() -> None:
    world = World(FakeMessage(0, b"a"), FakeMessage(1, b"bad"), FakeMessage(2, b"c"))
    world.policy = ErrorPolicy(tolerate_all=True)

    world.run()

    names = ("sink-record-read", "sink-record-send", "offset-commit-completion", "total-record-errors")
    assert [world.link.total(name) for name in names] == [3, 2, 1, 1]


def test_a_put_that_is_to_be_repeated_is_not_counted() -> None:
    world = World(FakeMessage(0, b"a"))
    world.task.fails = {"put": [RetriableError("away"), RetriableError("away")]}

    world.run()

    puts = [each["put-batch-time-ms"].count for each in world.link.measures if "put-batch-time-ms" in each]
    assert (sum(puts), world.link.total("sink-record-send")) == (1, 1)


def test_records_that_were_read_and_not_committed_are_active() -> None:
    world = World(FakeMessage(4, b"a"), FakeMessage(5, b"b"))
    world.partitions = {A: 4}
    world.task.answer = lambda _: {A: 5}

    world.run()

    last = {name: each.last for report in world.link.measures for name, each in report.items()}
    assert last["sink-record-active-count"] == 1


def test_a_closed_task_has_no_partitions() -> None:
    world = World(FakeMessage(0, b"a"))

    world.run()

    told = [each["partition-count"].last for each in world.link.measures if "partition-count" in each]
    assert told == [1, 0]


OLD = [FakeMessage(0, b"old 0"), FakeMessage(1, b"old 1")]
NEW = [FakeMessage(0, b"new 0"), FakeMessage(1, b"new 1"), FakeMessage(2, b"new 2")]


def world_of(delivery: type[SinkDelivery]) -> World:
    """Return a sink whose topic is made anew once it has put what the former one held."""
    world = World(*OLD)
    world.delivery = delivery
    looked = world.receiver.restarted

    def restarted(*, wait: bool) -> dict[object, int]:
        if world.task.values == ["old 0", "old 1"] and world.receiver.messages == OLD:
            world.receiver.messages = list(NEW)
            world.receiver.remade = {A: 0}
        return looked(wait=wait)  # type: ignore[return-value]  # of partitions

    world.receiver.restarted = restarted  # type: ignore[method-assign, assignment]  # the fake's behaviour
    return world


@pytest.mark.parametrize("delivery", [AtLeastOnceSink, AtMostOnceSink, ExactlyOnceSink])
def test_a_topic_that_was_made_anew_is_read_from_its_beginning(delivery: type[SinkDelivery]) -> None:
    world = world_of(delivery)

    world.run()

    assert world.task.values == ["old 0", "old 1", "new 0", "new 1", "new 2"]
    assert world.receiver.sought[-1] == {A: 0}
    assert {A: 0} in world.link.sinks  # a successor begins there, too
    assert world.link.sinks[-1] == {A: 3}


def test_the_task_flushes_and_lets_go_of_the_former_topic_before_it_opens_the_new_one() -> None:
    world = world_of(AtLeastOnceSink)

    world.run()

    calls = [each for each in world.task.calls if each not in {"start", "put nothing", "stop"}]
    assert calls == ["open", "put", "pre_commit", "close", "made_anew", "open", "put", "pre_commit", "close"]


def test_a_task_whose_data_would_meet_that_of_the_former_topic_fails_and_moves_no_position() -> None:
    world = world_of(AtLeastOnceSink)
    world.task.fails["made_anew"] = [ConfigError("there are files of the former topic", key="topics.dir")]

    with pytest.raises(TaskFailedError) as failed:
        world.run()

    assert isinstance(failed.value.__cause__, ConfigError)
    assert world.task.values == ["old 0", "old 1"]
    assert world.link.sinks == [{A: 0}]  # of the new topic nothing was put


def test_positions_of_the_former_topic_are_not_committed_for_the_new_one() -> None:
    world = World(*OLD, FakeMessage(0, b"other", partition_=1))
    world.partitions = {A: None, B: None}
    world.task.on_put = lambda: world.receiver.remade.update({} if world.receiver.sought else {A: 0})
    world.until(12.0)

    world.run()

    assert next(each[A] for each in world.link.sinks if A in each) == 0
    assert any(each.get(B) == 1 for each in world.link.sinks)


def test_a_sink_that_ends_just_then_leaves_the_beginning_of_the_new_topic_to_its_successor() -> None:
    world = World(*OLD)

    def put() -> None:
        world.receiver.remade = {A: 0}
        world.control.stop()

    world.task.on_put = put

    world.run()

    assert world.link.sinks == [{A: 0}]


def test_exactly_once_what_was_put_and_not_stored_is_taken_back() -> None:
    world = World(*OLD)
    world.delivery = ExactlyOnceSink
    stored: list[dict[object, int]] = []
    world.task.answer = lambda offsets: stored.append(dict(offsets)) or offsets  # type: ignore[func-returns-value]
    looked, pending = world.receiver.restarted, [{A: 0}]

    def restarted(*, wait: bool) -> dict[object, int]:
        """Notice it only when a commit is about to rely on it."""
        return pending.pop() if wait and pending else looked(wait=wait)  # type: ignore[return-value]  # as above

    world.receiver.restarted = restarted  # type: ignore[method-assign, assignment]  # the fake's behaviour
    world.until(12.0)

    world.run()

    assert world.task.calls.count("stored_positions") == 2
    assert stored[0] == {A: 0}
    assert world.receiver.sought[-1] == {A: 0}
    assert world.task.values == ["old 0", "old 1"] * 2  # of the store's only the second time counts


def test_what_was_read_is_compared_before_it_is_committed_and_else_now_and_then() -> None:
    world = World(*OLD)

    world.run()

    assert world.receiver.looks.count(True) == 1
    assert False in world.receiver.looks
