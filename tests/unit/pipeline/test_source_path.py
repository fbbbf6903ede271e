"""The way of source records."""

import pytest
from copycat_connect.data import (
    STRING_SCHEMA,
    ConnectRecord,
    Header,
    SourceBatch,
    SourceRecord,
    UnreadableRecord,
)
from copycat_connect.data.records import RecordMetadata
from copycat_connect.errors import DataError
from copycat_connect.plugin import Predicate, Transformation
from copycat_executor.pipeline.records.chain import Chain, ChainStep
from copycat_executor.pipeline.records.sender import OutgoingRecord
from copycat_executor.pipeline.records.tolerate import ErrorPolicy, Tolerance
from copycat_executor.pipeline.source.sent_records import CommitRecord, CommitWatched, WrittenRecords
from copycat_executor.pipeline.source.source_offsets import SourceProgress
from copycat_executor.pipeline.task.stages import Stage, ToleranceExceededError
from copycat_executor.pipeline.task.topic_ledger import TopicLedger

from tests.unit.pipeline.fakes import FakeSender, Reports, source_path, tolerance

ALL = ErrorPolicy(tolerate_all=True)


class Upper(Transformation):
    """Makes values upper case; drops `drop`, refuses `refuse`."""

    def apply(self, record: ConnectRecord) -> ConnectRecord | None:  # type: ignore[override]
        if record.value == "drop":
            return None
        if record.value == "refuse":
            raise DataError("refused")
        return record.replace(value=record.value.upper())


class StartsWithA(Predicate):
    """Tells whether a value starts with a."""

    def test(self, record: ConnectRecord) -> bool:
        return str(record.value).startswith("a")


class World:
    """A path with everything around it."""

    def __init__(
        self,
        *steps: ChainStep,
        handler: Tolerance | None = None,
        commit_record: CommitRecord | None = None,
        commit_watched: CommitWatched | None = None,
    ) -> None:
        self.sender = FakeSender()
        self.progress = SourceProgress()
        self.topics = TopicLedger()
        chosen = handler or tolerance()
        self.written = WrittenRecords(commit_record, commit_watched)
        self.path = source_path(
            Chain(steps, chosen), self.sender, self.progress, self.topics, chosen, self.written
        )

    def offset(self) -> bytes | None:
        return self.progress.take().get(b'{"f":"x"}')


def batch(values: list[object], *, tracked: bool = True, **more: object) -> SourceBatch:
    offsets = [{"p": place} for place in range(1, len(values) + 1)]
    return SourceBatch(
        "t",
        values,
        value_schema=STRING_SCHEMA,
        source_partition={"f": "x"},
        source_offset={"p": len(values)},
        offsets=(lambda: offsets) if tracked else None,
        **more,  # type: ignore[arg-type]
    )


def record(value: object, offset: int = 1, **more: object) -> SourceRecord:
    return SourceRecord({"f": "x"}, {"p": offset}, "t", value, value_schema=STRING_SCHEMA, **more)  # type: ignore[arg-type]


def test_encoded_text_goes_to_the_producer_as_it_is() -> None:
    world = World()
    values: list[object] = ["a", "b"]

    world.path.deliver(batch(values))

    assert world.sender.values == [b"a", b"b"]
    assert world.sender.columns == 1
    assert world.offset() == b'{"p":2}'
    assert world.topics.take_unreported() == ["t"]


def test_keys_travel_with_their_values() -> None:
    world = World()

    world.path.deliver(batch(["a", "b"], keys=["k", None]))

    assert [each.key for each in world.sender.records] == [b"k", None]


def test_records_of_one_kind_travel_as_columns_too() -> None:
    world = World()

    world.path.deliver([record("a", 1), record("b", 2)])

    assert (world.sender.values, world.sender.columns) == ([b"a", b"b"], 1)
    assert world.offset() == b'{"p":2}'


def test_what_is_out_of_the_ordinary_goes_record_by_record_and_in_order() -> None:
    world = World()
    odd = record("b", 2, kafka_partition=3, timestamp=77, headers=[Header("h", "v")])

    world.path.deliver([record("a", 1), odd, record("c", 3)])

    assert world.sender.values == [b"a", b"b", b"c"]
    assert world.sender.records[1] == OutgoingRecord("t", b"b", None, [("h", b"v")], 3, 77)


@pytest.mark.row("K26-16", "K26-19")
def test_one_source_partition_feeds_two_topics_and_a_partition_of_its_choice() -> None:
    world = World()
    told = SourceRecord({"f": "x"}, {"p": 2, "word": "b"}, "other", None, kafka_partition=7)

    world.path.deliver([record("a", 1), told])
    assert world.sender.records == [
        OutgoingRecord("t", b"a"),
        OutgoingRecord("other", None, None, (), 7),
    ]
    assert world.offset() == b'{"p":2,"word":"b"}'

    world.path.deliver([record("c", 3)])
    assert world.sender.records[2:] == [OutgoingRecord("t", b"c")]
    assert world.offset() == b'{"p":3}'


class AppendTimestamp(Transformation):
    """Appends a record's timestamp to its value; `late` becomes a minute younger."""

    def apply(self, record: ConnectRecord) -> ConnectRecord:  # type: ignore[override]
        assert record.timestamp is not None
        later = record.timestamp + 60_000 if record.value == "late" else record.timestamp
        return record.replace(value=f"{record.value}{record.timestamp}", timestamp=later)


def test_the_time_that_transformations_see_is_the_one_that_kafka_keeps_and_costs_no_columns() -> None:
    world = World(ChainStep(AppendTimestamp(), "AppendTimestamp"))

    world.path.deliver(batch(["a", "b"], timestamp=77))

    assert (world.sender.values, world.sender.columns) == ([b"a77", b"b77"], 1)
    assert [each.timestamp for each in world.sender.records] == [77, 77]


def test_the_time_of_a_batch_costs_no_record() -> None:
    world = World()

    world.path.deliver(batch([b"a", b"b"], timestamp=77, utf8=True))

    assert world.sender.records == [
        OutgoingRecord("t", b"a", timestamp=77),
        OutgoingRecord("t", b"b", timestamp=77),
    ]
    assert world.sender.columns == 1


def test_a_timestamp_that_a_transformation_gave_reaches_kafka() -> None:
    world = World(ChainStep(AppendTimestamp(), "AppendTimestamp"))

    world.path.deliver(batch(["a", "b", "late", "c", "d"], timestamp=77))

    assert world.sender.values == [b"a77", b"b77", b"late77", b"c77", b"d77"]
    assert [each.timestamp for each in world.sender.records] == [77, 77, 60_077, 77, 77]


def test_records_with_times_of_their_own_travel_as_columns_too() -> None:
    world = World()

    world.path.deliver([record("a", 1, timestamp=5), record("b", 2), record("c", 3, timestamp=6)])

    assert [each.timestamp for each in world.sender.records] == [5, None, 6]
    assert (world.sender.values, world.sender.columns) == ([b"a", b"b", b"c"], 1)


UNWRITABLE = [
    ({"topic": None}, "no topic"),
    ({"topic": ""}, "no topic"),
    ({"kafka_partition": -1}, "partition -1"),
    ({"timestamp": -2}, "timestamp -2"),
    ({"timestamp": 1.5}, "timestamp 1.5"),
    ({"timestamp": 2**63}, "timestamp 9223372036854775808"),
    ({"headers": [Header(None, "v")]}, "no key"),  # type: ignore[arg-type]
]


@pytest.mark.parametrize(("odd", "said"), UNWRITABLE)
def test_what_kafka_cannot_hold_fails_its_record_and_no_other(odd: dict[str, object], said: str) -> None:
    reports = Reports()
    world = World(handler=tolerance(ALL, reports))

    world.path.deliver([record("a", 1), record("b", 2).replace(**odd), record("c", 3)])

    assert world.sender.values == [b"a", b"c"]
    assert [each.stage for each in reports.failed] == [Stage.KAFKA_PRODUCE]
    assert said in str(reports.failed[0].error)
    assert world.offset() == b'{"p":3}'


def test_records_of_several_topics_keep_their_order() -> None:
    world = World()
    other = SourceRecord({"f": "x"}, {"p": 2}, "u", "b")

    world.path.deliver([record("a", 1), other, record("c", 3)])

    assert [each.topic for each in world.sender.records] == ["t", "u", "t"]


def test_transformations_change_and_drop_records() -> None:
    world = World(ChainStep(Upper(), "Upper"))

    world.path.deliver(batch(["a", "drop", "b"]))

    assert world.sender.values == [b"A", b"B"]
    assert world.path.delivered == 2
    assert world.offset() == b'{"p":3}'


def test_a_predicate_chooses_the_records_and_negation_the_others() -> None:
    chosen = World(ChainStep(Upper(), "Upper", StartsWithA()))
    others = World(ChainStep(Upper(), "Upper", StartsWithA(), negate=True))

    chosen.path.deliver(batch(["ab", "b"]))
    others.path.deliver(batch(["ab", "b"]))

    assert chosen.sender.values == [b"AB", b"b"]
    assert others.sender.values == [b"ab", b"B"]


def test_a_batch_that_was_dropped_as_a_whole_moves_no_offset() -> None:
    world = World(ChainStep(Upper(), "Upper"))

    world.path.deliver(batch(["drop", "drop"], tracked=False))

    assert world.offset() is None


@pytest.mark.parametrize("values", [["a", 7, "c"], ["a", "refuse", "c"]])
def test_a_bad_record_stops_the_batch_but_not_what_came_before_it(values: list[object]) -> None:
    world = World(ChainStep(Upper(), "Upper")) if "refuse" in values else World()

    with pytest.raises(ToleranceExceededError):
        world.path.deliver(batch(values))

    assert len(world.sender.values) == 1
    assert world.offset() == b'{"p":1}'


def test_an_untracked_batch_moves_its_offset_as_a_whole_or_not_at_all() -> None:
    world = World()

    with pytest.raises(ToleranceExceededError):
        world.path.deliver(batch(["a", 7], tracked=False))

    assert world.offset() is None


def test_a_tolerated_bad_record_is_left_out_and_named() -> None:
    reports = Reports()
    world = World(handler=tolerance(ALL, reports))

    world.path.deliver(batch(["a", 7, "c"]))

    assert world.sender.values == [b"a", b"c"]
    assert [(each.stage, each.plugin) for each in reports.failed] == [(Stage.VALUE_CONVERTER, "ValueText")]
    assert world.offset() == b'{"p":3}'


@pytest.mark.parametrize(
    ("bad", "stage"),
    [
        ({"key": 7}, Stage.KEY_CONVERTER),
        ({"headers": [Header("h", 7)]}, Stage.HEADER_CONVERTER),
    ],
)
def test_a_failure_names_its_stage(bad: dict[str, object], stage: Stage) -> None:
    reports = Reports()
    world = World(handler=tolerance(ALL, reports))

    world.path.deliver([record("a", 1, **bad)])

    assert world.sender.records == []
    assert [each.stage for each in reports.failed] == [stage]


def test_a_task_that_wants_to_hear_of_each_record_does() -> None:
    heard: list[tuple[object, RecordMetadata | None]] = []
    world = World(
        ChainStep(Upper(), "Upper"), commit_record=lambda each, metadata: heard.append((each.value, metadata))
    )

    world.path.deliver([record("a", 1), record("drop", 2)])
    world.written.report()
    assert heard == [("drop", None)]

    world.sender.flush(1)
    world.written.report()
    assert heard == [("drop", None), ("a", RecordMetadata("t", 0, 1))]


def test_a_task_that_fails_to_take_note_of_a_record_goes_on() -> None:
    def broken(_: SourceRecord, __: RecordMetadata | None) -> None:
        raise DataError("no")

    world = World(commit_record=broken)
    world.path.deliver([record("a", 1)])
    world.sender.flush(1)

    world.written.report()

    assert world.sender.values == [b"a"]


class Creator:
    """Remembers which topics were to be made."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def ensure(self, topic: str) -> None:
        self.asked.append(topic)


def test_a_topic_is_made_before_its_first_record_and_asked_for_once() -> None:
    creator = Creator()
    ledger = TopicLedger(creator)

    for topic in ("a", "b", "a"):
        ledger.meet(topic)

    assert creator.asked == ["a", "b"]


def test_a_topic_in_use_is_reported_with_every_commit() -> None:
    ledger = TopicLedger()
    ledger.meet("a")
    assert ledger.take_unreported() == ["a"]
    assert ledger.take_unreported() == []

    ledger.meet("a")

    assert ledger.take_unreported() == ["a"]


def test_what_a_task_could_not_read_is_reported_in_its_turn_and_its_offset_counts() -> None:
    reports = Reports()
    world = World(handler=tolerance(ALL, reports))
    unreadable = UnreadableRecord(
        {"f": "x"}, {"p": 2}, "t", "?", DataError("no record"), value_schema=STRING_SCHEMA
    )

    world.path.deliver([record("a", 1), unreadable])

    assert world.sender.values == [b"a"]
    (failed,) = reports.failed
    assert (failed.original, failed.stage, failed.plugin) == (unreadable, Stage.TASK_POLL, "ReadingTask")
    assert world.offset() == b'{"p":2}'


def test_what_a_task_could_not_read_ends_it_after_all_before_it_was_handed_over() -> None:
    world = World()
    unreadable = UnreadableRecord({"f": "x"}, {"p": 2}, "t", "?", DataError("no record"))

    with pytest.raises(ToleranceExceededError) as raised:
        world.path.deliver([record("a", 1), unreadable, record("b", 3)])

    assert raised.value.stage is Stage.TASK_POLL
    assert world.sender.values == [b"a"]
    assert world.offset() == b'{"p":1}'
