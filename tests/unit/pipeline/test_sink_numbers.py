"""What runs of sink tasks count."""

from copycat_connect.errors import RetriableError
from copycat_executor.pipeline.records.tolerate import ErrorPolicy

from tests.unit.pipeline.fakes import (
    FakeMessage,
)
from tests.unit.pipeline.sink_world import A, World


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
