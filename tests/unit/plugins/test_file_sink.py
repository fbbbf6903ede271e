"""The file sink prints values as Java does."""

from __future__ import annotations

from pathlib import Path

import pytest
from copycat_connect.data import INT32_SCHEMA, ConnectValue, SchemaBuilder, SinkBatch, SinkRecord, Struct
from copycat_connect.errors import ConnectError
from copycat_plugins.connectors.file_stream_sink.connector import FileStreamSinkConnector, FileStreamSinkTask
from copycat_testkit.conformance import FakeSinkContext


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
