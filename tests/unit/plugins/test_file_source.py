"""The file source: any bytes, any batch size, any restart."""

from __future__ import annotations

import logging
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from copycat_connect.errors import ConnectError
from copycat_connect.plugin import ExactlyOnceSupport
from copycat_plugins.connectors.file_stream_source import FileStreamSourceConnector, FileStreamSourceTask
from copycat_testkit.conformance import FakeSourceContext
from hypothesis import given
from hypothesis import strategies as st

ENDS = (b"\n", b"\r\n", b"\r")
TEXTS = st.lists(
    st.one_of(
        st.sampled_from([*ENDS, b"", b"a", b"\xc3\xa9", b"\xed\xa0\x80", b"\xff", b"x" * 40]),
        st.binary(max_size=5),
    ),
    max_size=30,
).map(b"".join)


def ended_lines(text: bytes) -> list[tuple[bytes, int]]:
    """Return the lines that have ended, each with the position after it; byte by byte, to be plain."""
    found, start, place = [], 0, 0
    while place < len(text):
        end = place
        if text[place] == 0x0A:
            place += 1
        elif text[place] == 0x0D and place + 1 < len(text):
            place += 2 if text[place + 1] == 0x0A else 1
        else:
            place += 1
            continue
        found.append((text[start:end], place))
        start = place
    return found


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "in.txt"


def started(
    file: Path, *, position: object = None, chunk_size: int = 1 << 20, batch_size: int = 2000
) -> FileStreamSourceTask:
    """Start a task whose waits end at once, as they do while a task is being stopped."""
    context = FakeSourceContext({"file": str(file), "topic": "t", "batch.size": str(batch_size)})
    context.stopping.set()
    if position is not None:
        context.store({"filename": str(file)}, {"position": position})
    task = FileStreamSourceTask(chunk_size)
    task.initialize(context)
    task.start(context.configs())
    return task


def lines_of(task: FileStreamSourceTask) -> Iterator[tuple[bytes, int]]:
    """Yield what polls give until one gives nothing."""
    while (batch := task.poll()) is not None:
        assert batch.offsets is not None
        positions = [offset["position"] for offset in batch.offsets()]
        assert batch.source_offset == {"position": positions[-1]}
        yield from zip(batch.values, positions, strict=True)


@given(text=TEXTS, batch_size=st.integers(1, 7), chunk=st.integers(1, 9))
def test_any_bytes_give_the_same_lines_however_they_are_read(
    text: bytes, batch_size: int, chunk: int
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "in"
        file.write_bytes(text)
        task = started(file, chunk_size=chunk, batch_size=batch_size)
        found = list(lines_of(task))
        task.stop()
    expected = ended_lines(text)
    assert [position for _, position in found] == [position for _, position in expected]
    for (line, _), (raw, _) in zip(found, expected, strict=True):
        assert line == raw or b"\xef\xbf\xbd" in line
        line.decode()


@given(text=TEXTS, data=st.data())
def test_a_restart_at_any_position_goes_on_with_the_next_line(text: bytes, data: st.DataObject) -> None:
    expected = ended_lines(text)
    place = data.draw(st.integers(0, len(expected)))
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "in"
        file.write_bytes(text)
        task = started(file, position=expected[place - 1][1] if place else 0)
        found = [position for _, position in lines_of(task)]
        task.stop()
    assert found == [position for _, position in expected[place:]]


def test_a_line_without_end_waits_for_one(file: Path) -> None:
    file.write_bytes(b"a\nb")
    task = started(file)
    assert [line for line, _ in lines_of(task)] == [b"a"]
    with file.open("ab") as more:
        more.write(b"c\n")
    assert [line for line, _ in lines_of(task)] == [b"bc"]


def test_a_carriage_return_at_the_end_waits_for_what_follows(file: Path) -> None:
    file.write_bytes(b"a\r")
    task = started(file)
    assert list(lines_of(task)) == []
    with file.open("ab") as more:
        more.write(b"\nb\rc")
    assert list(lines_of(task)) == [(b"a", 3), (b"b", 5)]


def test_a_batch_holds_no_more_lines_than_its_size(file: Path) -> None:
    file.write_bytes(b"a\nb\nc\nd\ne\n")
    task = started(file, batch_size=2)
    sizes = []
    while (batch := task.poll()) is not None:
        sizes.append(len(batch))
    assert sizes == [2, 2, 1]


def test_malformed_text_becomes_replacement_characters_as_in_java(file: Path) -> None:
    file.write_bytes(b"ok\nbad\xff\xed\xa0\x80end\n")
    assert [line.decode() for line, _ in lines_of(started(file))] == ["ok", "bad��end"]


def test_records_say_where_they_come_from(file: Path) -> None:
    file.write_bytes("é\nb\n".encode())
    batch = started(file).poll()
    assert batch is not None
    records = list(batch)
    assert [record.source_offset for record in records] == [{"position": 3}, {"position": 5}]
    first = records[0]
    assert (first.topic, first.value, first.key, first.kafka_partition) == ("t", "é", None, None)
    assert first.source_partition == {"filename": str(file)}
    assert str(first.value_schema) == "Schema{STRING}"


def test_a_missing_file_is_waited_for_and_named_once(file: Path, caplog: pytest.LogCaptureFixture) -> None:
    task = started(file)
    with caplog.at_level(logging.WARNING):
        assert task.poll() is None
        assert task.poll() is None
    assert [record.getMessage() for record in caplog.records] == [
        f"Couldn't find file {file}, waiting for it to be created"
    ]
    file.write_bytes(b"a\n")
    assert [line for line, _ in lines_of(task)] == [b"a"]


def test_a_position_beyond_the_end_waits_for_the_file_to_grow(file: Path) -> None:
    file.write_bytes(b"a\n")
    task = started(file, position=4)
    assert task.poll() is None
    with file.open("ab") as more:
        more.write(b"b\nc\n")
    assert list(lines_of(task)) == [(b"c", 6)]


def test_a_position_that_is_no_number_is_refused(file: Path) -> None:
    with pytest.raises(ConnectError, match="Offset position is the incorrect type"):
        started(file, position="7")


def test_a_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConnectError, match="it is a directory"):
        started(tmp_path).poll()


def test_a_pipe_is_read_from_where_it_is(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = os.open(pipe, os.O_RDWR)
    os.write(writer, b"a\nb\n")
    task = started(pipe, batch_size=1)
    batches = [task.poll(), task.poll()]
    task.stop()
    os.close(writer)
    assert [batch.values for batch in batches if batch is not None] == [[b"a"], [b"b"]]


def test_there_is_one_task_whatever_the_limit() -> None:
    connector = FileStreamSourceConnector()
    connector.start({"file": "f", "topic": "t"})
    assert connector.task_configs(5) == [{"file": "f", "topic": "t"}]


def test_only_a_file_can_be_delivered_exactly_once() -> None:
    connector = FileStreamSourceConnector()
    assert connector.exactly_once_support({"file": "f"}) is ExactlyOnceSupport.SUPPORTED
    assert connector.exactly_once_support({}) is ExactlyOnceSupport.UNSUPPORTED


@pytest.mark.parametrize(
    ("partition", "offset", "text"),
    [
        ({"filename": "f"}, {}, "Offset objects should either be null or contain the key 'position'"),
        (
            {"filename": "f"},
            {"position": "7"},
            "The value for the 'position' key in the offset is expected to be a Long value",
        ),
        (
            {"filename": "f"},
            {"position": -1},
            "The value for the 'position' key in the offset should be a non-negative value",
        ),
        (None, {"position": 1}, "Partition objects cannot be null"),
        ({"file": "f"}, {"position": 1}, "Partition objects should contain the key 'filename'"),
    ],
)
@pytest.mark.row("K875-16")
def test_offsets_that_make_no_sense_are_refused(
    partition: dict[str, str] | None, offset: dict[str, object], text: str
) -> None:
    with pytest.raises(ConnectError) as refused:
        FileStreamSourceConnector().alter_offsets({"file": "f"}, [(partition, offset)])
    assert refused.value.message == text


def test_offsets_of_any_file_are_accepted_and_may_be_forgotten() -> None:
    connector = FileStreamSourceConnector()
    assert connector.alter_offsets({"file": "f"}, [({"filename": "g"}, {"position": 28}), (None, None)])


def test_the_standard_input_has_no_offsets() -> None:
    with pytest.raises(ConnectError, match="stdin is used for input and offsets are not tracked"):
        FileStreamSourceConnector().alter_offsets({"file": ""}, [({"filename": "g"}, {"position": 28})])


def test_records_carry_the_time_at_which_they_were_read(file: Path) -> None:
    file.write_text("a\nb\nc\n")
    seconds = iter([1700000000.0015, 1700000001.25])
    context = FakeSourceContext({"file": str(file), "topic": "t", "batch.size": "2"})
    task = FileStreamSourceTask(clock=lambda: next(seconds))
    task.initialize(context)
    task.start(context.configs())

    batches = [task.poll(), task.poll()]

    stamps = [[record.timestamp for record in batch] for batch in batches if batch is not None]
    assert stamps == [[1700000000001, 1700000000001], [1700000001250]]


def test_a_file_that_is_quiet_for_ten_seconds_is_looked_at_once_a_second(file: Path) -> None:
    waits: list[float] = []

    class Noted(FakeSourceContext):
        def wait(self, seconds: float) -> bool:
            waits.append(seconds)
            return False

    context = Noted({"file": str(file), "topic": "t"})
    file.write_bytes(b"one\n")
    task = FileStreamSourceTask()
    task.initialize(context)
    task.start(context.configs())

    for _ in range(43):
        task.poll()
    assert (sum(waits[:40]), waits[40:]) == (10.0, [1.0, 1.0])

    with file.open("ab") as lines:
        lines.write(b"two\n")
    waits.clear()
    assert [line for line, _ in lines_of(task)] == [b"two"]
    assert waits == [0.25]
    task.stop()
