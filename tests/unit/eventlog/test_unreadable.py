"""Records that cannot be read: whatever a header, a codec or a fold does about one, the service goes on."""

from __future__ import annotations

from typing import Any

import pytest
from aiokafka.consumer import fetcher
from aiokafka.errors import CorruptRecordException
from aiokafka.record.default_records import DefaultRecordBatchBuilder, _DefaultRecordBatchBuilderPy
from copycat_eventlog.any_headers import read_any_headers
from copycat_eventlog.decider import Decider
from copycat_eventlog.handler import EventSourced
from copycat_eventlog.log import Record
from copycat_eventlog.memory import MemoryLog, MemoryTopic
from copycat_testkit.puts import EMPTY, PutCodec, PutKey, Puts, State, WasPut, decide, evolve

FAULTS = (
    RuntimeError("hunter2"),
    RecursionError(),
    KeyError("hunter2"),
    UnicodeEncodeError("u", "", 0, 1, "x"),
)


class FaultyCodec(PutCodec):
    """Has a fault that shows with the key `bad`."""

    def __init__(self, fault: Exception) -> None:
        self._fault = fault

    def decode(self, record: Record) -> WasPut:
        if record.key == b"bad":
            raise self._fault
        return super().decode(record)


class ForgettingCodec(FaultyCodec):
    """Its fault is about values; they replaced what was there."""

    forgets_unreadable = True  # type: ignore[misc]

    def decode(self, record: Record) -> WasPut:
        return PutCodec().decode(record) if record.value is None else super().decode(record)


def following(state: State, event: WasPut) -> State:
    """Follow all but one event, though a fold never raises."""
    if event.value == "not to be followed":
        raise ZeroDivisionError(event.value)
    return evolve(state, event)


def records(*keys: str, value: str = "v") -> list[Record]:
    return [Record(key.encode(), value.encode()) for key in keys]


async def started(topic: MemoryTopic, codec: PutCodec) -> Puts:
    events: Puts = EventSourced(Decider(EMPTY, decide, following), codec, MemoryLog(topic))
    await events.start()
    return events


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: type(fault).__name__)
async def test_a_fault_of_the_codec_costs_one_record_at_start_and_later(
    fault: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    topic = MemoryTopic()
    topic.write(records("a", "bad", "b"))
    events = await started(topic, FaultyCodec(fault))
    topic.write(records("bad", "c"))

    assert dict((await events.execute(PutKey("d", "v"))).state) == dict.fromkeys("abcd", "v")
    assert events.unreadable.records == 2
    assert events.unreadable.last == "topic in memory, partition 0, offset 3"
    assert "hunter2" not in caplog.text + str([line.__dict__["fields"] for line in caplog.records])


async def test_a_fault_about_a_value_forgets_the_key_where_values_replace() -> None:
    topic = MemoryTopic()
    topic.write(records("a", "bad"))
    events = await started(topic, PutCodec())
    assert dict(events.state) == {"a": "v", "bad": "v"}
    await events.stop()

    again = await started(topic, ForgettingCodec(RuntimeError()))

    assert dict(again.state) == {"a": "v"}
    assert again.unreadable.records == 1


async def test_a_record_that_cannot_be_followed_costs_itself_alone() -> None:
    topic = MemoryTopic()
    topic.write(records("x", value="not to be followed"))
    events = await started(topic, PutCodec())
    topic.write(records("y", value="not to be followed"))
    topic.write(records("z"))

    assert dict(events.state) == {"z": "v"}
    assert events.unreadable.records == 2


async def test_an_event_of_ours_that_cannot_be_followed_is_not_appended() -> None:
    topic = MemoryTopic()
    events = await started(topic, PutCodec())

    with pytest.raises(ZeroDivisionError):
        await events.execute(PutKey("x", "not to be followed"))

    assert topic.entries == ()


NONE, GZIP, SNAPPY, LZ4, ZSTD = range(5)


class NotText(str):
    """A name that is written as it is in another client."""

    __slots__ = ()

    def encode(self, *_: object, **__: object) -> bytes:
        return b"\xff\xfe"


@pytest.fixture
def _installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetcher, "MemoryRecords", fetcher.MemoryRecords)  # put back after the test
    read_any_headers()


def batch(
    codec: int, headers: list[tuple[str, bytes | None]], *, builder: Any = DefaultRecordBatchBuilder
) -> bytes:
    """Return three records, of which the second one has headers."""
    made = builder(2, codec, 0, -1, -1, -1, 100_000)
    for offset, (key, value) in enumerate(((b"a", b"1" * 500), (b"b", None), (None, b"3"))):
        made.append(offset, 1_000 + offset, key, value, headers if key == b"b" else [])
    return bytes(made.build())


def read(data: bytes) -> list[Any]:
    records, found = fetcher.MemoryRecords(data), []
    while records.has_next():
        found += list(records.next_batch())
    return found


@pytest.mark.usefixtures("_installed")
@pytest.mark.parametrize("codec", [NONE, GZIP, SNAPPY, LZ4, ZSTD])
def test_a_name_that_is_not_text_costs_no_record(codec: int) -> None:
    bad = batch(codec, [(NotText("x"), b"v"), ("ö", None)], builder=_DefaultRecordBatchBuilderPy)
    good = batch(codec, [("x", b"v"), ("ö", None)])

    found = read(bad + good)

    assert [(each.offset, each.timestamp, each.key, each.value) for each in found[:3]] == [
        (each.offset, each.timestamp, each.key, each.value) for each in found[3:]
    ]
    assert found[1].headers == [("\ufffd\ufffd", b"v"), ("ö", None)]
    assert found[4].headers == [("x", b"v"), ("ö", None)]


@pytest.mark.usefixtures("_installed")
def test_what_is_broken_stays_so() -> None:
    data = bytearray(batch(NONE, []))
    data[-1] += 2  # the count of the last record's headers

    with pytest.raises(CorruptRecordException):
        read(bytes(data))


@pytest.mark.usefixtures("_installed")
def test_an_answer_that_ends_in_the_middle_of_a_batch_has_the_whole_ones() -> None:
    whole = batch(NONE, [])

    assert len(read(whole + whole[:-7])) == 3
