"""Records on their way: with places, times and headers from a source, through a topic's bytes to a sink."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import FrameType

import pytest
from copycat_connect.data import SourceBatch
from copycat_connect.data.records import RecordMetadata
from copycat_connect.data.schema import ConnectValue
from copycat_connect.plugin import HeaderConverter, PluginKind, Plugins, load_plugins
from copycat_executor.pipeline.records.chain import Chain, ChainStep
from copycat_executor.pipeline.records.converters import Converters
from copycat_executor.pipeline.records.sender import OutgoingRecord
from copycat_executor.pipeline.sink.decode import Decoder
from copycat_executor.pipeline.source.encoding_sender import EncodingSender
from copycat_executor.pipeline.source.sent_records import WrittenRecords
from copycat_executor.pipeline.source.source_offsets import SourceProgress
from copycat_executor.pipeline.source.source_path import SourcePath
from copycat_executor.pipeline.task.stages import ToleranceExceededError
from copycat_executor.pipeline.task.topic_ledger import TopicLedger

from tests.unit.pipeline.fakes import FakeMessage, FakeSender, TextHeaders, tolerance
from tests.unit.pipeline.test_source_path import Upper, World, batch

WRITTEN = [
    OutgoingRecord("t", b"a", b"k", (), 2, 11),
    OutgoingRecord("t", b"b", None, [("h", b"1"), ("h", None)], 2, 12),
    OutgoingRecord("t", b"c", b"", (), 2, None),
]


def placed(watched: Mapping[int, object] | None = None) -> SourceBatch:
    return batch(
        ["a", "b", "c"],
        keys=["k", None, ""],
        kafka_partition=2,
        timestamps=[11, 12, None],
        headers=[(), [("h", b"1"), ("h", None)], ()],
        watched=watched,
    )


def test_they_travel_as_columns() -> None:
    world = World()

    world.path.deliver(placed())

    assert (world.sender.records, world.sender.columns) == (WRITTEN, 1)
    assert world.offset() == b'{"p":3}'
    assert world.path.delivered == 3


def test_transformed_they_go_record_by_record_and_keep_what_they_have() -> None:
    world = World(ChainStep(Upper(), "Upper"))

    world.path.deliver(placed())

    assert world.sender.columns == 0
    expected = [(each.value or b"").upper() for each in WRITTEN]
    assert [each.value for each in world.sender.records] == expected
    assert [(each.partition, each.timestamp) for each in world.sender.records] == [
        (2, 11),
        (2, 12),
        (2, None),
    ]


@pytest.mark.parametrize("steps", [(), (ChainStep(Upper(), "Upper"),)])
def test_the_task_hears_of_watched_records_only_and_of_their_place(steps: tuple[ChainStep, ...]) -> None:
    heard: list[tuple[object, RecordMetadata | None]] = []
    world = World(*steps, commit_watched=lambda mark, metadata: heard.append((mark, metadata)))

    world.path.deliver(placed(watched={1: "second"}))
    assert heard == []
    world.sender.flush(0)
    world.written.report()

    assert [mark for mark, _ in heard] == ["second"]
    assert heard[0][1] is not None


def test_a_watched_record_that_is_dropped_has_no_place() -> None:
    heard: list[tuple[object, RecordMetadata | None]] = []
    world = World(ChainStep(Upper(), "Upper"), commit_watched=lambda *each: heard.append(each))

    world.path.deliver(batch(["drop", "kept"], kafka_partition=0, watched={0: "gone"}))
    world.written.report()

    assert heard == [("gone", None)]


def test_a_transaction_that_is_aborted_tells_of_nothing() -> None:
    heard: list[object] = []
    world = World(commit_watched=lambda mark, _: heard.append(mark))

    world.path.deliver(placed(watched={0: "first"}))
    world.sender.flush(0)
    world.written.forget()
    world.written.report()

    assert heard == []


def test_a_batch_with_a_timestamp_that_kafka_refuses_stops_at_its_record() -> None:
    world = World()

    with pytest.raises(ToleranceExceededError):
        world.path.deliver(batch(["a", "b"], timestamps=[5, -2]))

    assert world.sender.values == [b"a"]


@pytest.mark.parametrize("stamps", [[0, -1], [0, None]])
def test_the_epoch_and_no_timestamp_reach_the_producer(stamps: list[int | None]) -> None:
    world = World()

    world.path.deliver(batch(["a", "b"], timestamps=stamps))

    assert [each.timestamp for each in world.sender.records] == stamps


PLUGINS: Plugins = load_plugins()
SCHEMALESS: list[ConnectValue] = [
    {"id": 1, "tags": ["a", None, {"deep": [True, 1.5]}], "none": None},
    [1, "two", {"three": 3}],
    "text é😀",
    7,
    2.5,
    False,
    None,
]


class Way:
    """Both ends of a topic with the same converters and transformations."""

    def __init__(self, converter: str, *steps: ChainStep, **settings: str) -> None:
        made = PLUGINS.find(converter, (PluginKind.CONVERTER,)).make()
        made.configure({key.replace("_", "."): value for key, value in settings.items()})
        headers: HeaderConverter = TextHeaders()
        self._converters = Converters(made, made, headers)
        self._chain = Chain(steps, tolerance())
        self.sender = FakeSender()
        written, topics = WrittenRecords(None), TopicLedger()
        encoding = EncodingSender(self._converters, tolerance(), self.sender, topics, written)
        self._path = SourcePath(
            self._chain, encoding, SourceProgress(), written, tolerance=tolerance(), task_class="Task"
        )

    def deliver(self, values: list[ConnectValue]) -> None:
        """Hand values to the producer."""
        self._path.deliver(SourceBatch("t", values, source_partition={"f": "x"}, source_offset={"p": 1}))

    def received(self) -> list[ConnectValue]:
        """Return what a sink is given of all that was handed to the producer."""
        messages = [FakeMessage(place, value) for place, value in enumerate(self.sender.values)]
        decoder = Decoder(self._converters, Chain((), tolerance()), tolerance(), TopicLedger())
        return list(decoder.batch(messages).values)


@contextmanager
def counted(is_counted: Callable[[FrameType], bool]) -> Iterator[list[str]]:
    """Count calls of Python functions, by name."""
    calls: list[str] = []

    def profile(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and is_counted(frame):
            calls.append(frame.f_code.co_name)

    sys.setprofile(profile)
    try:
        yield calls
    finally:
        sys.setprofile(None)


def of_transformations(frame: FrameType) -> bool:
    return frame.f_code.co_filename.endswith(("/records/chain.py", "/test_source_path.py"))


@pytest.mark.row("K26-07")
def test_values_without_a_schema_pass_unchanged() -> None:
    way = Way("Json", schemas_enable="false")

    way.deliver(SCHEMALESS)

    assert way.received() == SCHEMALESS


@pytest.mark.row("K26-13")
@pytest.mark.parametrize("converter", ["Json", "String"])
def test_the_same_texts_arrive_by_either_converter(converter: str) -> None:
    way = Way(converter)

    way.deliver(["one", "zwei é", None])

    assert way.received() == ["one", "zwei é", None]


@pytest.mark.row("K26-02")
def test_without_transformations_bytes_are_identical_and_no_record_costs_a_call_for_them() -> None:
    costs = []
    for count in (10, 1000):
        way, values = Way("String"), [f"line {number}" for number in range(count)]
        with counted(of_transformations) as calls:
            way.deliver(values)
        assert way.sender.values == [value.encode() for value in values]
        costs.append(calls)

    assert costs[0] == costs[1]


@pytest.mark.row("K26-02")
def test_a_transformation_costs_a_call_a_record_which_the_count_shows() -> None:
    way = Way("String", ChainStep(Upper(), "Upper", None))

    with counted(of_transformations) as calls:
        way.deliver(["a"] * 100)

    assert way.sender.values == [b"A"] * 100
    assert calls.count("apply") >= 100
