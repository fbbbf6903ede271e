"""Steps that work on many records at once.

How soon the memory of a process is looked at again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import pytest
from copycat_connect.data import ConnectRecord
from copycat_connect.errors import ConnectError, DataError, RetriableError
from copycat_connect.plugin import Predicate, Transformation
from copycat_executor.pipeline.records.chain import Chain, ChainStep
from copycat_executor.pipeline.records.tolerate import ErrorPolicy, Tolerance
from copycat_executor.pipeline.sink.decode import Decoder
from copycat_executor.pipeline.task.memory import (
    LONGEST_INTERVAL_SECONDS,
    SHORTEST_INTERVAL_SECONDS,
    MemoryBound,
    resident_bytes,
)
from copycat_executor.pipeline.task.stages import Stage, ToleranceExceededError
from copycat_executor.pipeline.task.topic_ledger import TopicLedger

from tests.unit.pipeline.fakes import FakeMessage, Reports, text_converters, tolerance
from tests.unit.pipeline.test_source_path import World, batch

R = TypeVar("R", bound=ConnectRecord)
ALL = ErrorPolicy(tolerate_all=True)


class Upper(Transformation):
    """Makes values upper case, all at once; drops `drop`, refuses `refuse`."""

    def __init__(self, *failures: Exception) -> None:
        self.sizes: list[int] = []
        self._failures = list(failures)

    def apply(self, record: R) -> R | None:
        return self.apply_to_records([record])[0]

    def apply_to_records(self, records: Sequence[R]) -> list[R | None]:
        self.sizes.append(len(records))
        if self._failures:
            raise self._failures.pop(0)
        if any(record.value == "refuse" for record in records):
            raise DataError("refused")
        return [None if each.value == "drop" else each.replace(value=each.value.upper()) for each in records]


class IsShort(Predicate):
    def test(self, record: ConnectRecord) -> bool:
        return len(record.value) == 1


class Mark(Transformation):
    """Appends to one value at a time; refuses `BAD`."""

    def apply(self, record: R) -> R | None:
        if record.value == "BAD":
            raise DataError("bad")
        return record.replace(value=f"{record.value}!")


class Lose(Upper):
    def apply_to_records(self, records: Sequence[R]) -> list[R | None]:
        return [None] * (len(records) - 1)


def step(transformation: Transformation, *, predicate: Predicate | None = None) -> ChainStep:
    return ChainStep(transformation, type(transformation).__name__, predicate)


def decoder(handler: Tolerance, *steps: ChainStep) -> Decoder:
    return Decoder(text_converters(), Chain(steps, handler), handler, TopicLedger())


def messages(*values: bytes) -> list[FakeMessage]:
    return [FakeMessage(place, value) for place, value in enumerate(values)]


def test_records_go_through_at_once_between_steps_that_take_them_one_by_one() -> None:
    upper = Upper()
    world = World(step(Mark()), step(upper), step(Mark()))

    world.path.deliver(batch(["a", "b"]))

    assert world.sender.values == [b"A!!", b"B!!"]
    assert upper.sizes == [2]
    assert world.offset() == b'{"p":2}'


def test_those_that_are_dropped_are_left_out_and_the_batch_counts_with_the_others() -> None:
    world = World(step(Upper()))

    world.path.deliver(batch(["a", "drop", "b"], tracked=False))

    assert world.sender.values == [b"A", b"B"]
    assert world.path.delivered == 2
    assert world.offset() == b'{"p":3}'


def test_the_record_that_fails_is_found_by_halves_and_left_out_alone() -> None:
    reports, upper = Reports(), Upper()
    world = World(step(upper), handler=tolerance(ALL, reports))

    world.path.deliver(batch(["a", "b", "refuse", "c"]))

    assert world.sender.values == [b"A", b"B", b"C"]
    assert [(each.stage, each.original.value) for each in reports.failed] == [  # type: ignore[attr-defined]
        (Stage.TRANSFORMATION, "refuse")
    ]
    assert upper.sizes == [4, 2, 2, 1, 1]


@pytest.mark.parametrize("values", [["a", "refuse", "c"], ["a", "bad", "c"]])
def test_what_came_before_a_failure_is_delivered(values: list[object]) -> None:
    world = World(step(Upper()), step(Mark()))

    with pytest.raises(ToleranceExceededError):
        world.path.deliver(batch(values))

    assert world.sender.values == [b"A!"]
    assert world.offset() == b'{"p":1}'


def test_a_failure_of_the_step_itself_fails_the_task_whatever_is_tolerated() -> None:
    world = World(step(Upper(ConnectError("the engine ended"))), handler=tolerance(ALL))

    with pytest.raises(ToleranceExceededError) as failed:
        world.path.deliver(batch(["a", "b"]))

    assert (failed.value.stage, str(failed.value.__cause__)) == (Stage.TRANSFORMATION, "the engine ended")
    assert world.sender.values == []


def test_a_step_that_is_away_is_tried_again_with_all_its_records() -> None:
    upper = Upper(RetriableError("away"))
    world = World(step(upper), handler=tolerance(ErrorPolicy(retry_timeout=10.0)))

    world.path.deliver(batch(["a", "b"]))

    assert world.sender.values == [b"A", b"B"]
    assert upper.sizes == [2, 2]


def test_a_predicate_chooses_the_records_and_the_order_stays() -> None:
    upper = Upper()
    world = World(step(upper, predicate=IsShort()))

    world.path.deliver(batch(["a", "long", "b", "refuse"]))

    assert world.sender.values == [b"A", b"long", b"B", b"refuse"]
    assert upper.sizes == [2]


def test_a_step_that_loses_a_record_is_refused() -> None:
    with pytest.raises(ToleranceExceededError) as failed:
        World(step(Lose())).path.deliver(batch(["a", "b"]))

    assert str(failed.value.__cause__) == "Lose made 1 records of 2"


def test_messages_are_transformed_at_once_too() -> None:
    upper, reports = Upper(), Reports()
    it = decoder(tolerance(ALL, reports), step(upper))

    found = it.batch(messages(b"a", b"drop", b"refuse", b"b"))

    assert [(record.offset, record.value) for record in found] == [(0, "A"), (3, "B")]
    assert len(reports.failed) == 1


def test_a_message_that_cannot_be_decoded_does_not_part_the_others() -> None:
    upper = Upper()

    found = decoder(tolerance(ALL), step(upper)).batch(messages(b"a", b"\xff", b"b"))

    assert found.values == ["A", "B"]
    assert upper.sizes == [2]


def test_nothing_of_messages_is_put_when_one_fails() -> None:
    with pytest.raises(ToleranceExceededError):
        decoder(tolerance(), step(Upper())).batch(messages(b"a", b"refuse"))


class Fickle(Predicate):
    """Chooses every record; refuses `odd`, and is away the first `away` times."""

    def __init__(self, away: int = 0) -> None:
        self._away = away

    def test(self, record: ConnectRecord) -> bool:
        if self._away:
            self._away -= 1
            raise RetriableError("away")
        if record.value == "odd":
            raise DataError("neither long nor short")
        return True


def test_a_record_that_the_predicate_fails_on_is_left_out_alone_where_errors_are_tolerated() -> None:
    reports, upper = Reports(), Upper()
    world = World(step(upper, predicate=Fickle()), handler=tolerance(ALL, reports))

    world.path.deliver(batch(["a", "odd", "b"]))

    assert world.sender.values == [b"A", b"B"]
    assert [(each.stage, each.plugin, str(each.error)) for each in reports.failed] == [
        (Stage.TRANSFORMATION, "Upper", "neither long nor short")
    ]
    assert upper.sizes == [2]
    assert world.offset() == b'{"p":3}'


@pytest.mark.parametrize("values", [["a", "odd", "b"], ["a", "odd", "refuse"]])
def test_what_came_before_a_failure_of_the_predicate_is_delivered(values: list[object]) -> None:
    world = World(step(Upper(), predicate=Fickle()))

    with pytest.raises(ToleranceExceededError) as failed:
        world.path.deliver(batch(values))

    assert str(failed.value.__cause__) == "neither long nor short"
    assert world.sender.values == [b"A"]
    assert world.offset() == b'{"p":1}'


def test_the_first_of_two_failures_ends_the_task_when_step_and_predicate_fail() -> None:
    world = World(step(Upper(), predicate=Fickle()))

    with pytest.raises(ToleranceExceededError) as failed:
        world.path.deliver(batch(["a", "refuse", "odd"]))

    assert str(failed.value.__cause__) == "refused"
    assert world.sender.values == [b"A"]


def test_a_predicate_that_is_away_is_asked_again() -> None:
    world = World(step(Upper(), predicate=Fickle(away=1)), handler=tolerance(ErrorPolicy(retry_timeout=10.0)))

    world.path.deliver(batch(["a", "b"]))

    assert world.sender.values == [b"A", b"B"]


def interval(limit: int) -> float:
    bound: MemoryBound[object] = MemoryBound(limit, "task.memory.max", lambda *_: None)  # type: ignore[type-var]
    return bound.look([])


def test_a_process_far_from_its_limit_is_looked_at_seldom() -> None:
    assert interval(1 << 50) == LONGEST_INTERVAL_SECONDS
    assert interval(0) == LONGEST_INTERVAL_SECONDS


def test_one_near_its_limit_or_beyond_is_looked_at_often() -> None:
    assert interval(resident_bytes() + (100 << 20)) == SHORTEST_INTERVAL_SECONDS
    assert interval(1) == SHORTEST_INTERVAL_SECONDS


def test_between_them_it_is_looked_at_before_it_could_have_got_there() -> None:
    assert SHORTEST_INTERVAL_SECONDS < interval(resident_bytes() + (4 << 30)) < LONGEST_INTERVAL_SECONDS
