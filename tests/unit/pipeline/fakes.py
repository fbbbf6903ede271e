"""Stands in for Kafka, the executor and the clock at the pipeline's ports."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from copycat_connect.cluster import TopicPartition
from copycat_connect.data import STRING_SCHEMA, Headers, Schema, SchemaAndValue
from copycat_connect.data.records import RecordMetadata
from copycat_connect.data.schema import ConnectValue
from copycat_connect.errors import DataError, RetriableError
from copycat_connect.plugin import Converter, HeaderConverter
from copycat_executor.pipeline.records.chain import Chain
from copycat_executor.pipeline.records.converters import Converters
from copycat_executor.pipeline.records.receiver import KafkaMessage
from copycat_executor.pipeline.records.sender import Done, OutgoingRecord, PlacedRecords
from copycat_executor.pipeline.records.tolerate import ErrorPolicy, FailedRecord, Tolerance
from copycat_executor.pipeline.source.encoding_sender import EncodingSender
from copycat_executor.pipeline.source.sent_records import WrittenRecords
from copycat_executor.pipeline.source.source_offsets import SourceProgress
from copycat_executor.pipeline.source.source_path import SourcePath
from copycat_executor.pipeline.task.call_log import CallLog
from copycat_executor.pipeline.task.control import Settlement, TaskControl
from copycat_executor.pipeline.task.measures import Measure, Measures
from copycat_executor.pipeline.task.task_link import ReportedState
from copycat_executor.pipeline.task.topic_ledger import TopicLedger


class Clock:
    """A clock that only moves when somebody waits."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


class ClockedControl(TaskControl):
    """A control whose waits take no time but move the clock."""

    def __init__(self, clock: Clock, *, paused: bool = False) -> None:
        super().__init__(paused=paused)
        self._clock = clock
        self.waits: list[float] = []
        self.on_wait: Callable[[], None] = lambda: None

    def wait(self, seconds: float) -> bool:
        self.waits.append(seconds)
        self._clock.now += seconds
        self.on_wait()
        return self.stopping

    def wait_for_news(self, seconds: float) -> None:
        self.wait(seconds)


@dataclass
class FakeLink:
    """Remembers what a task reports, and settles acknowledgements at once when it has a control."""

    control: TaskControl | None = None
    error: str = ""
    stale: bool = False
    events: list[str] = field(default_factory=list)
    states: list[ReportedState] = field(default_factory=list)
    sources: list[dict[bytes, bytes | None]] = field(default_factory=list)
    expected: list[dict[bytes, bytes | None]] = field(default_factory=list)
    sinks: list[dict[TopicPartition, int]] = field(default_factory=list)
    topics: list[str] = field(default_factory=list)
    measures: list[Mapping[str, Measure]] = field(default_factory=list)
    stored: dict[bytes, bytes] = field(default_factory=dict)
    away: int = 0
    fences: list[Exception | None] = field(default_factory=list)

    def state(self, state: ReportedState) -> None:
        self.states.append(state)
        self.events.append(state.value)

    def acknowledge_source(
        self,
        sequence: int,
        offsets: Mapping[bytes, bytes | None],
        expected: Mapping[bytes, bytes | None] | None = None,
    ) -> None:
        self.sources.append(dict(offsets))
        self.expected.append(dict(expected or {}))
        self._settle(sequence)

    def acknowledge_sink(self, sequence: int, offsets: Mapping[TopicPartition, int]) -> None:
        self.sinks.append(dict(offsets))
        self._settle(sequence)

    def _settle(self, sequence: int) -> None:
        self.events.append("acknowledged")
        if self.control is not None:
            self.control.settle(Settlement(sequence, self.error, self.stale))

    def topics_seen(self, topics: Sequence[str]) -> None:
        self.topics += topics
        self.events.append("topics")

    def source_offsets(self, partitions: Sequence[bytes]) -> list[bytes | None]:
        if self.away:
            self.away -= 1
            raise RetriableError("away")
        return [self.stored.get(partition) for partition in partitions]

    def await_fence(self) -> None:
        self.events.append("fenced")
        if self.fences and (answer := self.fences.pop(0)) is not None:
            raise answer

    def measured(self, measures: Mapping[str, Measure]) -> None:
        self.measures.append(measures)

    def total(self, name: str) -> float:
        """Return the sum of what was reported under a name."""
        return sum(each[name].total for each in self.measures if name in each)


class FakeSender:
    """Keeps what it is given; durable at each flush unless it has to be slow."""

    def __init__(self, events: list[str] | None = None) -> None:
        self.records: list[OutgoingRecord] = []
        self.columns = 0
        self.slow = False
        self.on_flush: Callable[[], None] = lambda: None
        self.closed = False
        self._waiting: list[Done] = []
        self._events = [] if events is None else events

    def send_values(
        self, topic: str, values: Sequence[bytes | None], keys: Sequence[bytes | None] | None
    ) -> None:
        self.columns += 1
        for place, value in enumerate(values):
            self.records.append(OutgoingRecord(topic, value, None if keys is None else keys[place]))

    def send_placed(self, records: PlacedRecords, done: Mapping[int, Done]) -> None:
        self.columns += 1
        nothing = [None] * len(records.values)
        stamps = records.timestamps
        times = [stamps] * len(nothing) if stamps is None or isinstance(stamps, int) else stamps
        columns = (records.keys or nothing, records.headers or nothing, times)
        for place, (value, key, headers, at) in enumerate(zip(records.values, *columns, strict=True)):
            record = OutgoingRecord(records.topic, value, key, headers or (), records.partition, at)
            self.send(record, done.get(place))

    def send(self, record: OutgoingRecord, done: Done | None = None) -> None:
        self.records.append(record)
        if done is not None:
            self._waiting.append(done)

    def flush(self, seconds: float) -> bool:
        self.on_flush()
        if self.slow:
            return False
        self._events.append("flushed")
        for done in self._waiting:
            done(RecordMetadata("t", 0, 1), None)
        self._waiting.clear()
        return True

    def under_way(self) -> int:
        return 0

    def attend(self) -> None:
        pass

    def drop(self) -> None:
        self.records.clear()

    def close(self) -> None:
        self.closed = True

    @property
    def values(self) -> list[bytes | None]:
        return [record.value for record in self.records]


class TextConverter(Converter):
    """Text as UTF-8; refuses what is not text, and the bytes `bad`."""

    def to_connect(self, topic: str, headers: Headers | None, data: bytes | None) -> SchemaAndValue:
        if data == b"bad":
            raise DataError("bad bytes")
        return SchemaAndValue(STRING_SCHEMA, None if data is None else data.decode())

    def from_connect(
        self, topic: str, headers: Headers | None, schema: Schema | None, value: ConnectValue
    ) -> bytes | None:
        if value is None:
            return None
        if not isinstance(value, str):
            message = f"not text: {value}"
            raise DataError(message)
        return value.encode()


class TextHeaders(HeaderConverter):
    """Headers as UTF-8 text, or bytes as they are; refuses `bad`."""

    def to_connect_header(self, topic: str, key: str, data: bytes | None) -> SchemaAndValue:
        return TextConverter().to_connect(topic, None, data)

    def from_connect_header(
        self, topic: str, key: str, schema: Schema | None, value: ConnectValue
    ) -> bytes | None:
        return value if type(value) is bytes else TextConverter().from_connect(topic, None, schema, value)


def text_converters() -> Converters:
    """Return converters for plain text."""
    return Converters(TextConverter(), TextConverter(), TextHeaders(), "KeyText", "ValueText", "HeaderText")


def source_path(  # noqa: PLR0917  # as many as there are parts
    chain: Chain,
    sender: FakeSender,
    progress: SourceProgress,
    topics: TopicLedger,
    handler: Tolerance,
    written: WrittenRecords | None = None,
) -> SourcePath:
    """Compose the way of source records around a sender."""
    written = written or WrittenRecords(None)
    encoding = EncodingSender(text_converters(), handler, sender, topics, written)
    return SourcePath(chain, encoding, progress, written, tolerance=handler, task_class="ReadingTask")


class Reports:
    """A reporter that remembers."""

    def __init__(self) -> None:
        self.failed: list[FailedRecord] = []

    def report(self, failed: FailedRecord) -> None:
        self.failed.append(failed)


def tolerance(
    policy: ErrorPolicy | None = None,
    reports: Reports | None = None,
    clock: Clock | None = None,
    measures: Measures | None = None,
) -> Tolerance:
    """Return a handler whose waits move the clock."""
    chosen = clock or Clock()
    control = ClockedControl(chosen)
    reporters = () if reports is None else (reports,)
    return Tolerance(
        policy or ErrorPolicy(),
        reporters,
        wait=control.wait,
        measures=measures or Measures(chosen),
        calls=CallLog(chosen),
        random=lambda: 0.5,
    )


@dataclass(frozen=True)
class FakeMessage:
    """A Kafka message."""

    offset_: int
    value_: bytes | None
    key_: bytes | None = None
    topic_: str = "t"
    partition_: int = 0
    headers_: list[tuple[str, bytes | None]] | None = None
    timestamp_: tuple[int, int] = (1, 1000)

    def topic(self) -> str:
        return self.topic_

    def partition(self) -> int:
        return self.partition_

    def offset(self) -> int:
        return self.offset_

    def key(self) -> bytes | None:
        return self.key_

    def value(self) -> bytes | None:
        return self.value_

    def headers(self) -> list[tuple[str, bytes | None]] | None:
        return self.headers_

    def timestamp(self) -> tuple[int, int]:
        return self.timestamp_


class FakeReceiver:
    """Hands out messages in chunks of what it is given."""

    def __init__(self, messages: Iterable[FakeMessage] = (), clock: Clock | None = None) -> None:
        self.messages = list(messages)
        self.sought: list[dict[TopicPartition, int]] = []
        self.paused: set[TopicPartition] = set()
        self.closed = False
        self.remade: dict[TopicPartition, int] = {}
        self.looks: list[bool] = []
        self.on_empty: Callable[[], None] = lambda: None
        self.away = 0
        self.group: dict[TopicPartition, int] = {}
        self._clock = clock
        self._next: dict[TopicPartition, int] = {}
        self._read: dict[TopicPartition, int] = {}

    def committed(self, partitions: Sequence[TopicPartition]) -> dict[TopicPartition, int | None]:
        self._be_away()
        return {partition: self.group.get(partition) for partition in partitions}

    def _be_away(self) -> None:
        if self.away:
            self.away -= 1
            raise RetriableError("away")

    def assign(self, offsets: Mapping[TopicPartition, int | None]) -> dict[TopicPartition, int]:
        self._be_away()
        self._next = {partition: offset or 0 for partition, offset in offsets.items()}
        return dict(self._next)

    def restarted(self, *, wait: bool) -> dict[TopicPartition, int]:
        self.looks.append(wait)
        taken, self.remade = self.remade, {}
        return taken

    def read(self, most: int, seconds: float) -> list[KafkaMessage]:
        found = [each for each in self.messages if self._wanted(each)][:most]
        for each in found:
            place = TopicPartition(each.topic_, each.partition_)
            self._next[place] = self._read[place] = each.offset_ + 1
        if not found:
            if self._clock is not None:
                self._clock.now += seconds
            self.on_empty()
        return [*found]

    def _wanted(self, message: FakeMessage) -> bool:
        place = TopicPartition(message.topic_, message.partition_)
        return place not in self.paused and message.offset_ >= self._next.get(place, 1 << 60)

    def positions(self) -> dict[TopicPartition, int]:
        return dict(self._read)

    def lag(self) -> int:
        return sum(1 for each in self.messages if self._wanted(each))

    def seek(self, offsets: Mapping[TopicPartition, int]) -> None:
        self.sought.append(dict(offsets))
        self._next |= offsets
        for place in offsets:
            self._read.pop(place, None)

    def pause(self, partitions: Iterable[TopicPartition]) -> None:
        self.paused |= set(partitions)

    def resume(self, partitions: Iterable[TopicPartition]) -> None:
        self.paused -= set(partitions)

    def close(self) -> None:
        self.closed = True
