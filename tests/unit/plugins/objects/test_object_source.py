"""The object source's rules: which files, where they go on, what becomes of them, and what is refused."""

from __future__ import annotations

import gzip
from collections.abc import Mapping
from pathlib import Path

import pytest
from copycat_connect.data import Struct, UnreadableRecord
from copycat_connect.errors import ConfigError, ConnectError, DataError
from copycat_connect.plugin import OffsetEffect, OffsetMove
from copycat_objects.source.choice import StoreFileChoice
from copycat_objects.source.connector import ObjectSourceConnector
from copycat_objects.source.settings import ObjectSourceSettings
from copycat_objects.source.task import ObjectSourceTask
from copycat_testkit.conformance.contexts import FakeSourceContext

TASKS = 3


def choice(task: int, tasks: int, **config: str) -> StoreFileChoice:
    dotted = {key.replace("_", "."): value for key, value in config.items()}
    return StoreFileChoice(ObjectSourceSettings.parse({"topic": "t", **dotted}), task, tasks)


@pytest.mark.parametrize(
    ("path", "config", "format_", "topic"),
    [
        ("a/b.parquet", {}, "parquet", "t"),
        ("a/b.JSON.gz", {}, "json", "t"),
        ("a/b.jsonl.gz", {}, "json", "t"),
        ("a/b.dat", {}, None, None),
        ("a/b.dat", {"format_class": "csv"}, "csv", "t"),
        ("a/.b.csv", {}, None, None),
        ("a/_SUCCESS.csv", {}, None, None),
        ("topics/+tmp/a/b.csv", {}, None, None),
        ("orders/_copycat/sink.log/b.csv", {}, None, None),
        ("processed/b.csv", {}, "csv", "t"),
        ("processed/b.csv", {"cleanup_policy": "move"}, None, None),
        ("a/b.csv", {"pattern": "b.*"}, None, None),
        ("a/b.csv", {"pattern": "a/[a-c]\\.csv"}, "csv", "t"),
        ("x/orders+3+0000000010+0000000019.avro", {"topic": "copy-${topic}"}, "avro", "copy-orders"),
        ("x/orders+3+0000000010.snappy.parquet", {"topic": "${topic}"}, "parquet", "orders"),
        ("x/orders+3+0000000010.parquet", {"topic": "${topic}."}, "parquet", "orders."),
        ("x/orders.avro", {"topic": "${topic}"}, None, None),
    ],
)
def test_files_are_picked_by_name(
    path: str, config: Mapping[str, str], format_: str | None, topic: str | None
) -> None:
    picked = choice(0, 1, **config).pick(path)
    assert (picked and picked.format, picked and picked.topic) == (format_, topic)


def test_each_file_is_one_tasks_and_a_topic_partition_stays_together_in_its_order() -> None:
    paths = [f"d={day}/orders+{part}+{day:010d}.avro" for day in range(20) for part in range(5)]
    paths += [f"other/{number}.csv" for number in range(50)]
    shares = [
        {path: found.rank for path in paths if (found := choice(task, TASKS).pick(path))}
        for task in range(TASKS)
    ]
    assert sorted(path for share in shares for path in share) == sorted(paths)
    assert all(shares)
    for part in range(5):
        (owner,) = [share for share in shares if f"d=0/orders+{part}+0000000000.avro" in share]
        mine = [path for path in sorted(owner, key=lambda path: owner[path]) if f"orders+{part}+" in path]
        assert mine == [f"d={day}/orders+{part}+{day:010d}.avro" for day in range(20)]


def started(folder: Path, context: FakeSourceContext | None = None, **config: str) -> ObjectSourceTask:
    dotted = {key.replace("_", "."): value for key, value in config.items()}
    whole = {"topic": "t", "store.url": f"file://{folder}", "object.poll.interval.ms": "1", **dotted}
    task = ObjectSourceTask()
    task.initialize(context or FakeSourceContext(whole))
    task.start(whole)
    return task


def values_of(
    task: ObjectSourceTask, context: FakeSourceContext | None = None, polls: int = 8
) -> list[object]:
    """Poll some times; what is read is committed where there is a context."""
    found: list[object] = []
    for _ in range(polls):
        for record in task.poll() or ():
            found.append(record.value)
            if context is not None:
                context.store(record.source_partition, record.source_offset)
        if context is not None:
            task.commit()
    return found


def test_a_file_that_vanishes_is_passed_over(tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        (tmp_path / f"{name}.txt").write_text(f"{name}\n")
    task = started(tmp_path)
    assert not task.poll()  # looks
    (tmp_path / "b.txt").unlink()
    assert values_of(task) == ["a", "c"]
    task.stop()


def test_a_file_that_is_written_anew_is_read_anew(tmp_path: Path) -> None:
    context = FakeSourceContext({})
    (tmp_path / "a.txt").write_text("1\n2\n")
    task = started(tmp_path, context)
    assert values_of(task, context) == ["1", "2"]
    (tmp_path / "a.txt").write_text("1\n2\n3\n")
    assert values_of(task, context) == ["1", "2", "3"]
    task.stop()
    assert values_of(started(tmp_path, context), context) == []


def test_nothing_is_cleaned_up_before_it_is_committed(tmp_path: Path) -> None:
    context = FakeSourceContext({})
    (tmp_path / "a.txt").write_text("1\n")
    (tmp_path / "empty.txt").touch()
    task = started(tmp_path, context, cleanup_policy="move")
    assert values_of(task) == ["1"]
    task.commit()  # of something else: the offset of this file is not there yet
    task.poll()
    assert (tmp_path / "a.txt").exists()
    task.stop()
    again = started(tmp_path, context, cleanup_policy="move")
    assert values_of(again, context) == ["1"]
    again.stop()
    assert sorted(path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*.txt")) == [
        "processed/a.txt",
        "processed/empty.txt",
    ]


def test_what_was_committed_before_a_crash_is_cleaned_up_after_it(tmp_path: Path) -> None:
    context = FakeSourceContext({})
    (tmp_path / "a.txt").write_text("1\n")
    first = started(tmp_path, context)
    values_of(first, context)
    first.stop()
    second = started(tmp_path, context, cleanup_policy="delete")
    assert values_of(second) == []
    assert list(tmp_path.iterdir()) == []


def test_a_young_file_is_left_alone_until_it_is_old_enough(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("1\n")
    assert values_of(started(tmp_path, object_min_age_ms="3600000")) == []


@pytest.mark.parametrize(
    ("config", "key"),
    [
        ({"store.url": "ftp://host/x"}, "store.url"),
        ({"store.url": "hdfs://user:secret@host/x"}, "store.url"),
        ({"store.url": "http://127.0.0.1:1"}, "s3.bucket.name"),
        ({"store.url": "/x", "pattern": "("}, "pattern"),
        ({"store.url": "/x", "format.class": "xml"}, "format.class"),
        ({"store.url": "/x", "csv.separator": "ab"}, "csv.separator"),
        ({"store.url": "/x", "topic": ""}, "topic"),
        ({"store.url": "/x", "file.encoding": "klingon"}, "file.encoding"),
        ({"store.url": "/x", "file.encoding": "UTF-16"}, "file.encoding"),
    ],
)
def test_what_is_wrong_is_an_error_at_its_key(config: dict[str, str], key: str) -> None:
    whole = {"topic": "t", **config}
    found = {value.name: value.errors for value in ObjectSourceConnector().validate(whole)}
    assert [name for name, errors in found.items() if errors] == [key]
    assert "secret" not in str(found[key])
    with pytest.raises(ConfigError):
        ObjectSourceConnector().start(whole)


def test_offsets_may_be_altered_to_any_record(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("1\n2\n3\n")
    partition = {"store": f"file://{tmp_path}", "path": "a.txt"}
    config = {"topic": "t", "store.url": f"file://{tmp_path}"}
    connector = ObjectSourceConnector()
    assert connector.alter_offsets(config, [(partition, {"record": 2}), (partition, None), (None, None)])
    context = FakeSourceContext({})
    context.store(partition, {"record": 2})
    assert values_of(started(tmp_path, context)) == ["3"]
    moves = [OffsetMove(partition, {"record": 3}, {"record": 1}), OffsetMove(partition, None, {"record": 2})]
    assert connector.explain_offsets(config, moves) == [OffsetEffect(2, 0), OffsetEffect(0, 2)]
    for wrong in ({}, {"record": -1}, {"record": True}, {"record": 1, "line": 2}, {"record": 1, "done": 1}):
        with pytest.raises(ConnectError):
            connector.alter_offsets(config, [(partition, wrong)])
    for bad in (None, {"path": "a"}, {"store": "s", "path": 1}):
        with pytest.raises(ConnectError):
            connector.alter_offsets(config, [(bad, {"record": 1})])


def found_by(task: ObjectSourceTask, context: FakeSourceContext | None = None) -> list[object]:
    """Poll some times; what cannot be read is given by its bytes and its error."""
    found: list[object] = []
    for _ in range(12):
        for record in task.poll() or ():
            value = record.value.values if isinstance(record.value, Struct) else record.value
            if isinstance(record, UnreadableRecord):
                assert isinstance(record.error, DataError)
                found.append((value, record.error.message))
            else:
                found.append(value)
            if context is not None:
                context.store(record.source_partition, record.source_offset)
        task.commit()
    return found


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("x.csv", b"a,b\n1,2\n3\n4,5\n", [["1", "2"], (b"3", "Row 2 has 1 fields"), ["4", "5"]]),
        ("x.csv", b"a,b\n1,2\n3,4,5\n6,7", [["1", "2"], (b"3,4,5", "Row 2 has 3 fields"), ["6", "7"]]),
        ("x.csv", b"a\n\xff\n1\n", [(b"\xff", "Row 1 is not in UTF-8"), ["1"]]),
        ("x.csv", b'a,b\n"1\n2",3\n"4"5,\n6,7\n', [["1\n2", "3"], (b'"4"5,', "Row 2 is no CSV"), ["6", "7"]]),
        # A quote that is never closed costs its own line, not the rest of the file.
        (
            "x.csv",
            b'a,b\n1,2\n"3,4\n5,6\n7,8\n',
            [["1", "2"], (b'"3,4', "Row 2 is no CSV"), ["5", "6"], ["7", "8"]],
        ),
        ("x.csv", b"a,b\n\n1,2\n\n3\n\n4,5\n", [["1", "2"], (b"3", "Row 4 has 1 fields"), ["4", "5"]]),
        ("x.json", b'{"n":1}\n{"n":\n\n{"n":3}\n', [{"n": 1}, (b'{"n":', "Line 2 is no JSON"), {"n": 3}]),
        ("x.json", b'{"n":"\xff"}\n{"n":3}\n', [(b'{"n":"\xff"}', "Line 1 is no JSON"), {"n": 3}]),
        ("x.parquet", b"PAR1", [(None, "It is no Parquet file")]),
        ("x.csv", b"a,a\n1,2\n", [(None, "Several columns are named a")]),
        ("x.json.gz", gzip.compress(b'{"n":1}\n' * 2, mtime=0)[:-9], [(None, "broken")]),
    ],
)
@pytest.mark.parametrize("batch_size", ["1", "2", "2000"])
def test_what_cannot_be_read_stands_in_its_place_and_reading_goes_on_behind_it(
    tmp_path: Path, name: str, content: bytes, expected: list[object], batch_size: str
) -> None:
    (tmp_path / name).write_bytes(content)
    (tmp_path / "z.csv").write_text("a\nlast\n")
    context = FakeSourceContext({})
    found = found_by(started(tmp_path, context, batch_size=batch_size), context)
    assert len(found) == len(expected) + 1
    for one, wanted in zip(found, [*expected, ["last"]], strict=True):
        if isinstance(wanted, tuple):
            assert isinstance(one, tuple)
            assert one[0] == wanted[0]
            assert wanted[1] in one[1]
            assert f"{name} in file://{tmp_path}" in one[1]
        else:
            assert one == wanted
    assert found_by(started(tmp_path, context), context) == []


def test_reading_goes_on_before_and_behind_what_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_bytes(b'1,2\n3\n"4\n5",6\n7\n8,9\n')
    (tmp_path / "x.csv.gz").write_bytes(gzip.compress((tmp_path / "x.csv").read_bytes()))
    for pattern in ("x\\.csv", "x\\.csv\\.gz"):
        task = started(tmp_path, csv_header="false", pattern=pattern)
        whole = [record for _ in range(4) for record in task.poll() or ()]
        assert len(whole) == 5
        for place, record in enumerate(whole[:-1]):
            context = FakeSourceContext({})
            context.store(record.source_partition, record.source_offset)
            again = started(tmp_path, context, csv_header="false", pattern=pattern)
            rest = [(type(each), each.source_offset) for _ in range(4) for each in again.poll() or ()]
            assert rest == [(type(each), each.source_offset) for each in whole[place + 1 :]]


def test_a_file_that_is_not_of_its_format_is_not_cleaned_up(tmp_path: Path) -> None:
    (tmp_path / "a.parquet").write_bytes(b"PAR1")
    (tmp_path / "b.csv").write_text("a,b\n1\n")
    context = FakeSourceContext({})
    for _ in range(2):
        found_by(started(tmp_path, context, cleanup_policy="delete"), context)
    assert [file.name for file in tmp_path.iterdir()] == ["a.parquet"]


def test_text_is_read_in_its_encoding(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes("ö;b\n1;€\n2;\x81".replace("\x81", "x").encode("cp1252") + b"\x81\n")
    (tmp_path / "b.json").write_bytes('{"ö":"€"}\n'.encode("cp1252"))
    (tmp_path / "c.txt").write_bytes("ö€\r\n".encode("cp1252"))
    found = found_by(started(tmp_path, file_encoding="windows-1252", csv_separator=";"))
    assert (found[0], found[2:]) == (["1", "€"], [{"ö": "€"}, "ö€"])
    assert isinstance(found[1], tuple)
    assert found[1][0] == b"2;x\x81"
    assert "Row 2 is not in windows-1252" in found[1][1]
