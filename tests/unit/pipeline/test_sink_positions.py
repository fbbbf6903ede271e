"""How far a sink task got."""

from copycat_connect.cluster import TopicPartition
from copycat_executor.pipeline.sink.sink_delivery import SinkProgress

from tests.unit.pipeline.fakes import FakeMessage

A, B = TopicPartition("t", 0), TopicPartition("t", 1)


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
