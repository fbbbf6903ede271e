"""The log source: which files, which records, which limits."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from copycat_connect.data import (
    INT64_SCHEMA,
    STRING_SCHEMA,
    SchemaType,
    SourceBatch,
    SourceRecord,
    Struct,
    UnreadableRecord,
)
from copycat_connect.errors import ConfigError, ConnectError
from copycat_connect.plugin import ExactlyOnceSupport
from copycat_plugins.connectors.log_source.choice import DirectoryListing, FileChoice
from copycat_plugins.connectors.log_source.connector import LogSourceConnector
from copycat_plugins.connectors.log_source.settings import LogSourceSettings
from copycat_plugins.connectors.log_source.task import LogSourceTask
from copycat_testkit.conformance import FakeSourceContext

from tests.unit.plugins.log_files import Reader, append

ACCESS = r'(?<host>\S+) - - \[(?<time>[^\]]+)\] "(?<request>[^"]*)" (?<status>\d{3}) (?<bytes>\d+|-)'
HIT = '10.0.0.1 - - [23/Nov/2026:10:00:00 +0000] "GET /é HTTP/1.1" 200 1234'
MISS = '10.0.0.2 - - [23/Nov/2026:10:00:01 +0000] "GET /x HTTP/1.1" 404 -'


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "app.log"


def fields(records: list[SourceRecord]) -> list[list[Any]]:
    return [record.value.values for record in records if isinstance(record.value, Struct)]


@pytest.mark.row("K26-69", "K26-70")
def test_files_and_patterns_are_partitions_with_positions_in_bytes(tmp_path: Path) -> None:
    for name in ("one.txt", "two.txt", "a.log", "b.log", ".hidden.log", "c.other"):
        append(tmp_path / name, f"{name} é", "😀")
    reader = Reader(f"{tmp_path}/one.txt,{tmp_path}/two.txt,{tmp_path}/*.log")
    found: dict[str, list[Any]] = {}
    for record in reader.rest():
        assert record.source_partition is not None
        assert (record.key, record.value_schema) == (None, STRING_SCHEMA)
        found.setdefault(Path(record.source_partition["filename"]).name, []).append(record.value)
    assert found == {name: [f"{name} é", "😀"] for name in ("one.txt", "two.txt", "a.log", "b.log")}
    sizes = {path: os.stat(path).st_size for path in reader.offsets}  # noqa: PTH116
    assert {path: offset["position"] for path, offset in reader.offsets.items()} == sizes

    reader.stop()
    append(tmp_path / "late.log", "late")
    append(tmp_path / "a.log", "more é")
    assert sorted(reader.lines()) == ["late", "more é"]


def test_directories_at_any_depth_are_searched_and_expressions_choose(tmp_path: Path) -> None:
    for name in ("x.log", "sub/y.log", "sub/deep/z.log", "sub/deep/z.tmp", "sub/debug.log"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        append(tmp_path / name, name)
    assert sorted(Reader(f"{tmp_path}/**/*.log").lines()) == [
        "sub/debug.log",
        "sub/deep/z.log",
        "sub/y.log",
        "x.log",
    ]
    assert sorted(Reader(f"{tmp_path}/sub/").lines()) == ["sub/debug.log", "sub/y.log"]
    chosen = {"files_include_regex": r"[yz]\..*,debug.*", "files_exclude_regex": r".*\.tmp,debug.*"}
    assert sorted(Reader(f"{tmp_path}/**", **chosen).lines()) == ["sub/deep/z.log", "sub/y.log"]


def test_each_log_is_one_tasks_whatever_files_there_are(tmp_path: Path) -> None:
    for number in range(50):
        append(tmp_path / f"{number}.log", str(number))
        append(tmp_path / f"{number}.log.1", f"{number} old")
    connector = LogSourceConnector()
    connector.start({"files": str(tmp_path), "topic": "t"})
    configs = connector.task_configs(4)
    found: list[list[Any]] = []
    for config in configs:
        reader = Reader(tmp_path)
        reader.config = config
        found.append(reader.lines())
    assert len(configs) == 4
    assert all(found)
    assert sorted(value for each in found for value in each) == sorted(
        text for number in range(50) for text in (str(number), f"{number} old")
    )


def test_no_more_tasks_than_logs_where_these_are_named() -> None:
    connector = LogSourceConnector()
    connector.start({"files": "/nowhere/a.log,/nowhere/b.log", "topic": "t"})
    assert [config["share"] for config in connector.task_configs(8)] == ["0/2", "1/2"]


@pytest.mark.row("K26-71")
def test_an_expression_makes_fields_and_a_line_of_another_form_is_reported_in_its_place(log: Path) -> None:
    reader = Reader(log, line_regex=ACCESS, line_regex_types="status:int32,bytes:int64")
    append(log, HIT, "something else é", MISS)
    first, bad, last = reader.rest()
    assert fields([first, last]) == [
        ["10.0.0.1", "23/Nov/2026:10:00:00 +0000", "GET /é HTTP/1.1", 200, 1234],
        ["10.0.0.2", "23/Nov/2026:10:00:01 +0000", "GET /x HTTP/1.1", 404, None],
    ]
    assert first.value_schema is not None
    assert [(each.name, each.schema.type, each.schema.optional) for each in first.value_schema.fields] == [
        ("host", SchemaType.STRING, True),
        ("time", SchemaType.STRING, True),
        ("request", SchemaType.STRING, True),
        ("status", SchemaType.INT32, True),
        ("bytes", SchemaType.INT64, True),
    ]
    assert isinstance(bad, UnreadableRecord)
    assert (bad.value, bad.value_schema) == ("something else é", STRING_SCHEMA)
    start = len(HIT.encode()) + 1
    assert (
        str(bad.error) == f"The record at byte {start} of {log} cannot be read: it does not match line.regex"
    )
    assert bad.source_offset is not None
    assert bad.source_offset["position"] == start + len("something else é\n".encode())


def test_lines_that_all_match_travel_as_columns(log: Path) -> None:
    reader = Reader(log, line_regex=ACCESS)
    append(log, HIT, MISS)
    batch = reader.start().poll()
    assert isinstance(batch, SourceBatch)
    assert len(batch) == 2


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("99999999999", "its group n is not of the type it has in line.regex.types"),
        ("1" * 41, "it has 41 characters, more than line.regex.max.chars=40"),
    ],
)
def test_what_no_field_can_hold_is_reported(log: Path, line: str, reason: str) -> None:
    reader = Reader(log, line_regex=r"(?<n>\d*)", line_regex_types="n:int32", line_regex_max_chars="40")
    append(log, line, "", "7")
    bad, *others = reader.rest()
    assert isinstance(bad, UnreadableRecord)
    assert str(bad.error).endswith(reason)
    assert fields(others) == [[None], [7]]


def test_lines_that_belong_together_are_one_record(log: Path) -> None:
    reader = Reader(log, record_start_regex=r"\d{4} ", record_timeout_ms="20000")
    append(log, "no start", "2026 a", "  at x", "  at y", "2026 b", "  at é")
    records = reader.rest()
    assert [record.value for record in records] == ["no start", "2026 a\n  at x\n  at y"]
    append(log, "  at z")
    assert [record.value for record in reader.rest()] == []
    reader.now += 20
    assert reader.lines() == ["2026 b\n  at é\n  at z"]
    assert reader.offsets[str(log)]["position"] == log.stat().st_size


def test_records_of_many_lines_are_bounded(log: Path) -> None:
    reader = Reader(log, record_start_regex="start", record_max_lines="3", record_max_bytes="64")
    append(log, "start", *"abcdefg", "start", "x" * 40, "y" * 40)
    reader.rest()
    reader.offsets.clear()
    reader.stop()
    reader.now += 100
    assert reader.lines()[:4] == ["start\na\nb", "c\nd\ne", "f\ng", "start\n" + "x" * 40]


def test_a_record_of_many_lines_that_is_not_complete_is_read_again_after_a_restart(log: Path) -> None:
    reader = Reader(log, record_start_regex=r"\d", record_timeout_ms="100000")
    append(log, "1 a", "  b", "2 c", "  d")
    assert reader.lines() == ["1 a\n  b"]
    reader.stop()
    append(log, "  e", "3")
    assert reader.lines() == ["2 c\n  d\n  e"]


@pytest.mark.parametrize("ended", [True, False])
def test_a_long_line_becomes_several_records_and_no_character_is_divided(log: Path, ended: bool) -> None:
    line = "é😀" * 100 + "x"
    reader = Reader(log, record_max_bytes="64", batch_max_bytes="100")
    append(log, "a", line, *(["b"] if ended else []), end="\n")
    if not ended:
        os.truncate(log, log.stat().st_size - 1)
    first, *pieces = reader.lines()
    assert first == "a"
    if ended:
        assert pieces.pop() == "b"
        assert "".join(pieces) == line
    else:
        assert line.startswith("".join(pieces))
        assert len(line) - len("".join(pieces)) < 64
    assert all(len(piece.encode()) <= 64 for piece in pieces)


def test_each_record_of_a_batch_has_the_position_after_it(log: Path) -> None:
    text = "é\r\nlone\rlast\n\n" + "z" * 200 + "\n"
    log.write_bytes(text.encode())
    records = Reader(log, record_max_bytes="64").rest()
    ends = [record.source_offset["position"] for record in records if record.source_offset is not None]
    values = [record.value for record in records]
    assert values == ["é", "lone", "last", "", *["z" * 64] * 3, "z" * 8]
    assert ends == [4, 9, 14, 15, 79, 143, 207, 216]


def test_other_encodings_are_read_and_counted_in_bytes(log: Path) -> None:
    log.write_bytes("grün\nweiß\n".encode("latin-1"))
    reader = Reader(log, file_encoding="ISO-8859-1")
    assert reader.lines() == ["grün", "weiß"]
    assert reader.offsets[str(log)]["position"] == 10


def test_malformed_characters_are_replaced_and_counted_as_they_are(log: Path) -> None:
    log.write_bytes(b"a\xff\nb\n")
    reader = Reader(log)
    assert reader.lines() == ["a\ufffd", "b"]
    assert reader.offsets[str(log)]["position"] == 5


def test_headers_name_the_log_and_where_the_record_begins(log: Path) -> None:
    append(log, "é", "two")
    records = Reader(log, file_headers_enable="true").rest()
    headers = [[(each.key, each.schema, each.value) for each in record.headers] for record in records]
    assert None not in [record.timestamp for record in records]
    assert headers == [
        [("file.path", STRING_SCHEMA, str(log)), ("file.offset", INT64_SCHEMA, start)] for start in (0, 3)
    ]


def test_the_topic_may_depend_on_the_log(tmp_path: Path) -> None:
    for name in ("access.log", "error.log", "other.log"):
        append(tmp_path / name, name)
    reader = Reader(tmp_path, topic_by_file=f"*/access*:web,{tmp_path}/err*:errors")
    assert {record.value: record.topic for record in reader.rest()} == {
        "access.log": "web",
        "error.log": "errors",
        "other.log": "t",
    }


def open_below(folder: Path) -> int:
    """Return how many files of a folder this process has open; what else it has open is others' affair."""
    found = 0
    for descriptor in Path("/proc/self/fd").iterdir():
        with suppress(FileNotFoundError):  # closed meanwhile, by another thread
            found += descriptor.readlink().is_relative_to(folder)
    return found


def test_few_files_are_open_however_many_there_are(tmp_path: Path) -> None:
    reader = Reader(tmp_path, open_files_max="3")
    for number in range(100):
        append(tmp_path / f"{number}.log", "one")
    assert len(reader.lines()) == 100
    assert 0 < open_below(tmp_path) <= 3
    for number in range(100):
        append(tmp_path / f"{number}.log", "two")
    assert reader.lines() == ["two"] * 100
    reader.stop()
    assert open_below(tmp_path) == 0


def test_no_more_bytes_are_read_than_the_rate_allows(log: Path) -> None:
    reader = Reader(log, bytes_per_second_max="100", record_max_bytes="64", batch_max_bytes="64")
    append(log, *["123456789"] * 100)
    moved = []
    for _ in range(20):
        moved.append(sum(len(str(record.value)) + 1 for record in reader.poll()))
    assert 0 < sum(moved[:10]) <= 10 * 100 + 64
    assert sum(moved) > 900


def test_a_directory_or_a_pipe_under_the_name_of_a_log_is_no_log(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.log")
    (tmp_path / "folder.log").mkdir()
    append(tmp_path / "real.log", "one")
    files = ",".join(str(tmp_path / name) for name in ("pipe.log", "folder.log/x", "real.log"))
    assert Reader(files).lines() == ["one"]


def test_a_link_that_leads_in_a_circle_keeps_no_other_log_from_being_read(log: Path) -> None:
    loop = log.with_name("loop.log")
    loop.symlink_to(loop)
    append(log, "one")
    assert Reader(f"{log},{loop}").lines() == ["one"]


@pytest.mark.parametrize(
    ("key", "value", "reason"),
    [
        ("files", "app.log", "absolute path"),
        ("files", "", "files"),
        ("line.regex", r"\S+", "no named group"),
        ("line.regex", "(?<a>", "Unclosed group"),
        ("line.regex.types", "a:number", "a group and its type"),
        ("line.regex.types", "b:int32", "line.regex has no such group, but a"),
        ("topic.by.file", "x", "a pattern and a topic"),
        ("file.encoding", "UTF-16", "line ends are no single bytes"),
        ("file.encoding", "klingon", "no such character encoding"),
        ("rotated.names.regex", "x", "no group"),
        ("files.include.regex", "[", "Invalid regex"),
        ("record.max.bytes", "1", "64"),
    ],
)
def test_a_wrong_configuration_names_its_key(key: str, value: str, reason: str) -> None:
    config = {"files": "/x/a.log", "topic": "t", "line.regex": "(?<a>.*)", key: value}
    errors = {each.name: each.errors for each in LogSourceConnector().validate(config) if each.errors}
    assert list(errors) == [key]
    assert reason in " ".join(map(str, errors[key]))
    with pytest.raises(ConfigError):
        LogSourceConnector().start(config)


def test_positions_may_be_altered_within_the_file(log: Path) -> None:
    append(log, "one", "two")
    config = {"files": str(log), "topic": "t"}
    connector = LogSourceConnector()
    partition = {"filename": str(log)}
    assert connector.exactly_once_support(config) is ExactlyOnceSupport.SUPPORTED
    assert connector.alter_offsets(config, [(partition, {"position": 4}), ({"anything": 1}, None)])
    reader = Reader(log)
    reader.offsets[str(log)] = {"position": 4}
    assert reader.lines() == ["two"]
    stored = reader.offsets[str(log)]
    assert connector.alter_offsets(config, [(partition, stored)])
    for wrong, text in (
        ({"position": 9}, "has 8 bytes: the position 9 is behind its end. Give one from 0 to 8"),
        ({"position": -1}, "a Long value from 0 up"),
        ({"position": "4"}, "a Long value from 0 up"),
        ({"line": 1}, "contain the key 'position'"),
        ({"position": 1, "line": 1}, "no key 'line'"),
        ({**stored, "head": 1}, "a String value"),
    ):
        with pytest.raises(ConnectError, match=text):
            connector.alter_offsets(config, [(partition, wrong)])
    for other in (None, {}, {"filename": 1}, {"filename": "x", "more": 1}):
        with pytest.raises(ConnectError, match="Partition objects"):
            connector.alter_offsets(config, [(other, {"position": 0})])


def test_a_stored_offset_of_another_form_fails_the_task(log: Path) -> None:
    append(log, "one")
    context = FakeSourceContext({"files": str(log), "topic": "t"})
    context.store({"filename": str(log)}, {"position": "x"})
    task = LogSourceTask()
    task.initialize(context)
    task.start(context.configs())
    with pytest.raises(ConnectError, match="position"):
        task.poll()


@pytest.mark.timeout(60)
def test_many_stars_in_a_row_are_one(tmp_path: Path) -> None:
    deepest = tmp_path.joinpath(*"abcdefghijklmnop")
    deepest.mkdir(parents=True)
    (deepest / "x.log").touch()
    choice = FileChoice(LogSourceSettings.parse({"files": f"{tmp_path}{'/**' * 16}/*.log", "topic": "t"}))
    assert list(choice.find(DirectoryListing())) == [f"{deepest}/x.log"]
