"""The file sink: what it prints, and that it loses no record and glues no lines wherever a disk is full."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from copycat_connect.data import INT32_SCHEMA, ConnectValue, SchemaBuilder, SinkBatch, SinkRecord, Struct
from copycat_connect.errors import ConnectError
from copycat_plugins.connectors.file_stream_sink.connector import FileStreamSinkConnector, FileStreamSinkTask
from copycat_plugins.connectors.file_stream_sink.line_file import LineFile
from copycat_testkit.conformance import FakeSinkContext

from tests.unit.full_disk import room_for


def written(file: Path, *values: ConnectValue) -> str:
    config = {"file": str(file)}
    task = FileStreamSinkTask()
    task.initialize(FakeSinkContext(config))
    task.start(config)
    task.put(SinkBatch.of([SinkRecord("t", 0, place, None, value) for place, value in enumerate(values)]))
    text = file.read_text("utf-8")
    task.stop()
    return text


def test_values_are_printed_one_a_line_as_java_prints_them(tmp_path: Path) -> None:
    struct = Struct(SchemaBuilder.struct().field("a", INT32_SCHEMA).build(), {"a": 1})
    values = ["text é", None, True, 1e10, {"a": 1, "b": "x"}, [1, 2], struct, ""]
    assert written(tmp_path / "out", *values) == (
        "text é\nnull\ntrue\n1.0E10\n{a=1, b=x}\n[1, 2]\nStruct{a=1}\n\n"
    )


def test_lines_are_appended_to_what_is_there(tmp_path: Path) -> None:
    file = tmp_path / "out"
    file.write_text("old\n", "utf-8")
    assert written(file, "new") == "old\nnew\n"


def test_half_a_surrogate_pair_is_written_as_a_question_mark(tmp_path: Path) -> None:
    assert written(tmp_path / "out", "a\ud800b") == "a?b\n"


def test_a_file_that_cannot_be_opened_fails_the_task(tmp_path: Path) -> None:
    file = tmp_path / "missing" / "out"
    with pytest.raises(ConnectError) as refused:
        FileStreamSinkTask().start({"file": str(file)})
    assert refused.value.message == f"Couldn't find or create file '{file}' for FileStreamSinkTask"


def test_without_a_file_lines_go_to_the_standard_output(capfd: pytest.CaptureFixture[str]) -> None:
    task = FileStreamSinkTask()
    task.start({})
    task.put(SinkBatch.of([SinkRecord("t", 0, 0, None, "a")]))
    task.stop()
    assert capfd.readouterr().out == "a\n"


def test_a_disk_that_is_full_fails_the_task() -> None:
    task = FileStreamSinkTask()
    task.start({"file": "/dev/full"})
    with pytest.raises(ConnectError, match="Writing to /dev/full failed: No space left on device"):
        task.put(SinkBatch.of([SinkRecord("t", 0, 0, None, "a")]))


def test_every_task_gets_the_whole_configuration() -> None:
    connector = FileStreamSinkConnector()
    connector.start({"file": "f", "topics": "t"})
    assert connector.task_configs(2) == [{"file": "f", "topics": "t"}] * 2
    assert connector.alter_offsets({}, {})


VALUES = ["first é", "", "the third", "4"]
BATCH = "".join(f"{value}\n" for value in VALUES).encode()


#: In a process where no other thread may open a file, the next descriptor is known.
BEFORE = """
import os, resource, sys
from copycat_connect.errors import ConnectError
from copycat_plugins.connectors.file_stream_sink.line_file import LineFile
following = os.open(os.devnull, os.O_RDONLY)
os.close(following)
"""
#: The file opens for writing, and not a second time for reading.
CANNOT_READ = """
soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (following + 1, hard))
lines = LineFile(sys.argv[1])
resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
lines.append(b"a\\n")
lines.append(b"b\\n")
lines.close()
"""
FAILS_AT_THE_END = """
lines = LineFile(sys.argv[1])
os.close(following)
try:
    lines.close()
except ConnectError as error:
    print(error.message)
"""


def alone(program: str, file: Path) -> str:
    """Run a program on a file in a process of its own, and return what it printed."""
    command = [sys.executable, "-c", BEFORE + program, str(file)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def started(file: Path) -> FileStreamSinkTask:
    task = FileStreamSinkTask()
    task.start({"file": str(file)})
    return task


def records(*values: str) -> SinkBatch:
    return SinkBatch.of([SinkRecord("t", 0, place, None, value) for place, value in enumerate(values)])


@pytest.mark.parametrize("room", range(len(BATCH)))
def test_after_a_disk_was_full_at_any_byte_every_record_is_there_on_a_line_of_its_own(
    tmp_path: Path, room: int
) -> None:
    file = tmp_path / "out"
    file.write_bytes(b"before\n")
    task = started(file)
    with room_for(len(b"before\n") + room), pytest.raises(ConnectError, match=f"Writing to {file} failed: "):
        task.put(records(*VALUES))
    task.stop()
    left = file.read_bytes()

    again = started(file)  # what was not committed is delivered again
    again.put(records(*VALUES))
    again.stop()

    whole_lines = BATCH[: BATCH.rfind(b"\n", 0, room) + 1]
    assert left == b"before\n" + whole_lines
    assert file.read_bytes() == left + BATCH


def test_the_owners_unended_line_stays_when_the_disk_is_full_behind_it(tmp_path: Path) -> None:
    file = tmp_path / "out"
    file.write_text("the owner's")
    with room_for(len("the owner's") + 5), pytest.raises(ConnectError):
        started(file).put(records("a", "bcdef"))

    assert file.read_text() == "the owner's\na\n"


def test_a_piece_that_somebody_has_written_behind_stays(tmp_path: Path) -> None:
    file = tmp_path / "out"

    def write(descriptor: int, rest: memoryview) -> int:
        if len(rest) == len("failed\n"):
            return os.write(descriptor, rest[:3])
        with file.open("ab") as other:  # one that asks for no lock
            other.write(b"the owner's\n")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    lines = LineFile(str(file), write)
    with pytest.raises(ConnectError, match="No space left"):
        lines.append(b"failed\n")

    assert file.read_text() == "faithe owner's\n"


def test_a_file_whose_owner_left_its_last_line_unended_keeps_that_line(tmp_path: Path) -> None:
    file = tmp_path / "out"
    file.write_text("the owner's")

    started(file).put(records("a"))

    assert file.read_text() == "the owner's\na\n"


def test_a_disk_that_stays_full_is_an_error_for_every_write_and_leaves_nothing_in_the_task(
    tmp_path: Path,
) -> None:
    file = tmp_path / "out"
    task = started(file)
    with room_for(0):
        for _ in range(2):
            with pytest.raises(ConnectError, match="failed: File too large"):
                task.put(records("a"))
        task.flush({})
        task.stop()
    assert file.read_bytes() == b""


def test_writes_that_take_only_a_part_are_continued(tmp_path: Path) -> None:
    file = tmp_path / "out"
    lines = LineFile(str(file), lambda descriptor, rest: os.write(descriptor, rest[:3]))
    lines.append(BATCH)
    lines.append(b"")
    lines.append(b"next\n")
    lines.close()
    assert file.read_bytes() == BATCH + b"next\n"


def test_a_file_that_cannot_be_read_gets_a_line_of_its_own_too(tmp_path: Path) -> None:
    file = tmp_path / "out"
    file.write_text("half")
    alone(CANNOT_READ, file)
    assert file.read_text() == "half\na\nb\n"


def test_a_file_system_that_fails_at_the_end_is_reported(tmp_path: Path) -> None:
    file = tmp_path / "out"
    assert alone(FAILS_AT_THE_END, file) == f"Closing {file} failed: Bad file descriptor\n"


def test_tasks_that_write_at_once_leave_no_empty_line_between_theirs(tmp_path: Path) -> None:
    file = tmp_path / "out"
    value = "x" * 100_000  # a line the operating system writes in several steps

    def write() -> None:
        task = started(file)
        for _ in range(30):
            task.put(records(value))
        task.stop()

    writers = [threading.Thread(target=write) for _ in range(4)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()

    assert file.read_text() == f"{value}\n" * 120
