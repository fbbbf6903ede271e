"""Values from a source through the bytes of a topic to a sink: as they were, and nobody paid for more."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

import pytest
from copycat_connect.data import SourceBatch
from copycat_connect.data.schema import ConnectValue
from copycat_connect.plugin import HeaderConverter, PluginKind, Plugins, load_plugins
from copycat_executor.pipeline.records.chain import Chain, ChainStep
from copycat_executor.pipeline.records.converters import Converters
from copycat_executor.pipeline.sink.decode import Decoder
from copycat_executor.pipeline.source.encoding_sender import EncodingSender
from copycat_executor.pipeline.source.sent_records import WrittenRecords
from copycat_executor.pipeline.source.source_offsets import SourceProgress
from copycat_executor.pipeline.source.source_path import SourcePath
from copycat_executor.pipeline.task.topic_ledger import TopicLedger

from tests.unit.pipeline.fakes import FakeMessage, FakeSender, TextHeaders, tolerance
from tests.unit.pipeline.test_source_path import Upper

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
