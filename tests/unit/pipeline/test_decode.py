"""Kafka messages as batches.

Questions that wait for answers.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest
from copycat_connect.data import STRING_SCHEMA, ConnectRecord, Schema, SinkBatch, TimestampType
from copycat_connect.data.schema import ConnectValue
from copycat_connect.errors import ConfigError, DataError, RetriableError
from copycat_connect.plugin import Transformation
from copycat_executor.pipeline.records.chain import Chain, ChainStep
from copycat_executor.pipeline.records.converters import Converters
from copycat_executor.pipeline.records.receiver import TracedRecord
from copycat_executor.pipeline.records.tolerate import ErrorPolicy, Tolerance
from copycat_executor.pipeline.sink.decode import Decoder
from copycat_executor.pipeline.task.answers import Answers
from copycat_executor.pipeline.task.stages import Stage, ToleranceExceededError
from copycat_executor.pipeline.task.topic_ledger import TopicLedger

from tests.unit.pipeline.fakes import (
    FakeMessage,
    Reports,
    TextConverter,
    TextHeaders,
    text_converters,
    tolerance,
)

ALL = ErrorPolicy(tolerate_all=True)


class NoColumns(TextConverter):
    """A converter that only works one by one, and counts."""

    def __init__(self) -> None:
        self.calls = 0

    def to_connect_batch(self, topic: str, datas: object) -> tuple[Schema | None, list[ConnectValue]] | None:
        self.calls += 1
        return None


class Drop(Transformation):
    """Drops `drop`, refuses `refuse`."""

    def apply(self, record: ConnectRecord) -> ConnectRecord | None:  # type: ignore[override]
        if record.value == "refuse":
            raise DataError("refused")
        return None if record.value == "drop" else record.replace(topic="changed")


class World:
    """A decoder with everything around it."""

    def __init__(
        self,
        *steps: ChainStep,
        handler: Tolerance | None = None,
        converters: Converters | None = None,
        traced: bool = False,
    ) -> None:
        chosen = handler or tolerance()
        self.topics = TopicLedger()
        self.decoder = Decoder(
            converters or text_converters(), Chain(steps, chosen), chosen, self.topics, traced=traced
        )

    def batch(self, *messages: FakeMessage) -> SinkBatch:
        return self.decoder.batch(messages)


def test_values_are_at_hand_and_records_are_made_on_demand() -> None:
    world = World()
    world.decoder.expect(["t"])

    batch = world.batch(FakeMessage(5, b"a", b"k"), FakeMessage(6, None))

    assert batch.values == ["a", None]
    assert batch.keys == ["k", None]
    first = batch[0]
    assert (first.topic, first.partition, first.offset) == ("t", 0, 5)
    assert (first.value_schema, first.timestamp) == (STRING_SCHEMA, 1000)
    assert first.timestamp_type is TimestampType.CREATE_TIME
    assert world.topics.take_unreported() == ["t"]


def test_messages_of_several_topics_keep_their_order_and_their_topics() -> None:
    batch = World().batch(
        FakeMessage(1, b"a"), FakeMessage(2, b"b", topic_="u"), FakeMessage(3, b"c", topic_="u")
    )

    assert [(each.topic, each.value) for each in batch] == [("t", "a"), ("u", "b"), ("u", "c")]


def test_where_messages_were_read_is_at_hand_and_what_their_records_say() -> None:
    batch = World().batch(FakeMessage(1, b"a"), FakeMessage(2, b"b", topic_="u", timestamp_=(0, -1)))

    found = batch.positions
    assert (found.topics, found.offsets, found.timestamps) == (["t", "u"], [1, 2], [1000, None])
    assert found.partitions == [each.original_partition for each in batch]


def test_headers_are_decoded() -> None:
    batch = World().batch(FakeMessage(1, b"a"), FakeMessage(2, b"b", headers_=[("h", b"v")]))

    assert not batch[0].has_headers
    assert [(each.key, each.value) for each in batch[1].headers] == [("h", "v")]


def test_a_message_without_timestamp_makes_a_record_without_one() -> None:
    assert World().batch(FakeMessage(1, b"a", timestamp_=(0, -1)))[0].timestamp is None


def test_a_converter_that_cannot_do_columns_is_asked_one_by_one() -> None:
    converter = NoColumns()
    world = World(converters=Converters(TextConverter(), converter, TextHeaders()))

    assert world.batch(FakeMessage(1, b"a"), FakeMessage(2, b"b")).values == ["a", "b"]
    assert converter.calls == 1


def test_one_bad_message_spoils_the_whole_batch() -> None:
    with pytest.raises(ToleranceExceededError):
        World().batch(FakeMessage(1, b"a"), FakeMessage(2, b"bad"))


@pytest.mark.parametrize(
    ("message", "stage"),
    [
        (FakeMessage(2, b"bad"), Stage.VALUE_CONVERTER),
        (FakeMessage(2, b"b", b"bad"), Stage.KEY_CONVERTER),
        (FakeMessage(2, b"b", headers_=[("h", b"bad")]), Stage.HEADER_CONVERTER),
        (FakeMessage(2, b"refuse"), Stage.TRANSFORMATION),
    ],
)
def test_a_tolerated_bad_message_is_left_out_and_named(message: FakeMessage, stage: Stage) -> None:
    reports = Reports()
    world = World(ChainStep(Drop(), "Drop"), handler=tolerance(ALL, reports))

    batch = world.batch(FakeMessage(1, b"a"), message, FakeMessage(3, b"c"))

    assert batch.values == ["a", "c"]
    assert [(each.stage, each.original) for each in reports.failed] == [(stage, message)]


def test_transformations_change_and_drop_records_and_topics_are_those_read() -> None:
    world = World(ChainStep(Drop(), "Drop"))

    batch = world.batch(FakeMessage(1, b"a"), FakeMessage(2, b"drop"))

    assert [(each.topic, each.original_topic) for each in batch] == [("changed", "t")]
    assert world.topics.take_unreported() == ["t"]


def test_traced_records_remember_their_message_through_transformations() -> None:
    message = FakeMessage(1, b"a")

    record = World(ChainStep(Drop(), "Drop"), traced=True).batch(message)[0]

    assert isinstance(record, TracedRecord)
    assert record.message is message


def answering(answers: Answers[str], found: str | ConfigError) -> Callable[[int], None]:
    return lambda number: threading.Thread(target=answers.answer, args=(number, found)).start()


def test_each_question_gets_its_own_answer() -> None:
    answers: Answers[str] = Answers("The oracle", 10.0)
    assert [answers.ask(answering(answers, text)) for text in ("a", "b")] == ["a", "b"]


def test_a_refusal_is_raised_where_it_was_asked() -> None:
    answers: Answers[str] = Answers("The oracle", 10.0)
    with pytest.raises(ConfigError, match="no"):
        answers.ask(answering(answers, ConfigError("no")))


def test_a_late_answer_is_no_answer_and_may_be_asked_again() -> None:
    answers: Answers[str] = Answers("The oracle", 0.0)
    numbers: list[int] = []
    with pytest.raises(RetriableError, match="The oracle did not answer in time"):
        answers.ask(numbers.append)
    answers.answer(numbers[0], "late")
